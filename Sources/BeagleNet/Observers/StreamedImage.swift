import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A streamed image. Its head is held back for the check, and the rest passes as it arrives.
final class StreamedImage: Sendable {
    private enum State {
        case head, rest(HTTPBody.Reader), refused
    }

    private static let maxHead = 64 << 10
    private let state = Lock(State.head)
    private let source: Lock<Result<HTTPBody, NetworkError>>
    private let refusal: @Sendable (Data) -> NetworkError?

    /// - Parameters:
    ///   - source: The body, or the error after it was rejected.
    ///   - refusal: Returns the error for an image that begins with this data.
    init(_ source: Lock<Result<HTTPBody, NetworkError>>, _ refusal: @escaping @Sendable (Data) -> NetworkError?) {
        self.source = source
        self.refusal = refusal
    }

    func next() async throws -> Data? {
        switch state.withLock({ $0 }) {
        case .rest(let read): return try await read()
        case .refused: return nil
        case .head:
            let read = try source.withLock { $0 }.get().makeAsyncIterator().reader
            var head = Data()
            var due = 512
            while let chunk = try await read() {
                if chunk.isEmpty { continue }
                head += chunk
                if !Self.mayDeclareSize(head) { break }
                if head.count < due { continue }
                if Self.isSettled(head) { break }
                // Doubling the threshold limits repeated checks, however small the chunks are.
                due = min(head.count * 2, Self.maxHead)
            }
            if let refusal = refusal(head) {
                state.withLock { $0 = .refused }
                source.withLock { $0 = .failure(refusal) }
                throw refusal
            }
            state.withLock { $0 = .rest(read) }
            return head.isEmpty ? nil : head
        }
    }

    /// Whether the data may be the head of an image with pixels. Other data isn't held back, even if it arrives byte by
    /// byte.
    private static func mayDeclareSize(_ head: Data) -> Bool {
        switch head.first {
        case 0x89, 0xFF, 0x47, 0x52, 0x42, 0x49, 0x4D, 0: true
        default: false
        }
    }

    /// Whether more bytes wouldn't change the decision.
    private static func isSettled(_ head: Data) -> Bool {
        if head.count >= maxHead { return true }
        switch ImageHeader.Format(of: head) {
        // The sizes may be further on, and there may be several.
        case .gif?, .ico?, .avif?, .heic?, .tiff?: return false
        case .svg?: return true
        // A recognized brand may be further on.
        case nil: return !head.withUnsafeBytes { ImageBytes(bytes: $0).has("ftyp", at: 4) }
        default: return ImageHeader(of: head) != nil
        }
    }
}
