import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Refuses images that claim more pixels than allowed, by their header alone: a body of 70 bytes may claim so many that decoding
/// it ends the app.
///
/// ```swift
/// dependencies.interceptors.replace(with: ImageInterceptor(maxPixels: 200_000_000))
/// ```
///
/// It looks at what operations of kind `.image` and downloads to a file are answered with, wherever that is from: the network, a store, a recording. A
/// stored image that is refused is asked for anew, unless the operation wants what is stored alone; one that would come
/// before a newer answer, or in its place, is left out. An answer that is refused is not stored, and leaves what is. What
/// is no image that `ImageHeader` reads passes untouched: an app may have formats of its own. Of a streamed image the head
/// is held back until it has told its size, or 64 KiB are there (of GIF, TIFF, icons, AVIF and HEIC always until then, as a
/// larger size may follow); one that tells it later passes. So does a JPEG that tells its height behind its pixels.
///
/// The answers of a client without a pipeline, as of a `StubClient`, are not looked at, nor is what the error for another status
/// than 200...299 holds, nor the part (206) of an image of which a part was asked for.
public struct ImageInterceptor: RequestObserver {
    /// `.image`, above the cache: a store may have images from before there was a limit, or from when it was another, and what an
    /// interceptor further in has decrypted is looked at as the app gets it.
    public var place: Pipeline.Place? { .image }
    /// The most pixels, width times height, that an image may claim; nil for any number.
    public let maxPixels: Int?

    /// A limit on what images claim.
    ///
    /// - Parameter maxPixels: the most pixels, width times height, from 0 on; nil for any number. 100 million by default, above
    ///   what cameras of phones mostly make: decoded, they take 400 MB.
    public init(maxPixels: Int? = 100_000_000) {
        self.maxPixels = maxPixels
    }

    /// With images and downloads to a file, where there is a limit.
    public func applies(to operation: NetworkOperation) -> Bool { maxPixels != nil && operation.mayBeImage }

    /// Observes the image.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        operation.imageLimit = self
        return ImageCheck(limit: self, operation: operation)
    }

    /// Why nobody is to get this; nil where somebody may. Never inlined: the frame of each operation would have room for it.
    @inline(never)
    func refusal(of result: NetworkOperation.Result, to operation: NetworkOperation) -> NetworkError? {
        switch result.content {
        case .response(let response):
            if isPart(response.status, operation) { return nil }
            var refusal = refusal(of: response.data, operation.transfer.head, response.response, response.url)
            refusal?.metrics = response.metrics
            return refusal
        case .stream(let stream):
            if isPart(stream.response.status, operation) { return nil }
            return stream.body.data.flatMap { refusal(of: $0, operation.transfer.head, stream.response, stream.url) }
        case .progress, .connection: return nil
        }
    }

    /// Whether it is a part that was asked for, which may begin anywhere.
    private func isPart(_ status: HTTPResponse.Status, _ operation: NetworkOperation) -> Bool {
        status == .partialContent && operation.transfer.head.headerFields[.range] != nil
    }

    private func refusal(
        of image: Data,
        _ request: HTTPRequest,
        _ response: @autoclosure () -> HTTPResponse,
        _ url: String
    ) -> NetworkError? {
        guard let maxPixels, let header = ImageHeader(of: image), header.pixels > maxPixels else { return nil }
        var refusal = NetworkError(
            .tooLarge,
            during: .response,
            "the image (\(header.format)) declares \(header.width) x \(header.height) pixels; the limit is \(maxPixels)",
            advice: "increase ImageInterceptor(maxPixels:) if you expect images of this size"
        )
        (refusal.request, refusal.response, refusal.url) = (request, response(), url)
        return refusal
    }

    /// The same, whose head is looked at when it comes where it is still to be read.
    @inline(never)
    fileprivate func watched(_ result: NetworkOperation.Result, _ operation: NetworkOperation)
        -> NetworkOperation.Result
    {
        guard case .stream(var stream) = result.content, stream.body.data == nil,
            !isPart(stream.response.status, operation)
        else { return result }
        let (body, request, response, url) = (stream.body, operation.transfer.head, stream.response, stream.url)
        // One who is refused lets go of the body, which ends the transfer, and whoever reads again is refused, too.
        let source = Lock<Result<HTTPBody, NetworkError>>(.success(body))
        let content = HTTPBody.Content.stream(length: body.length, isReplayable: body.isReplayable) {
            let image = StreamedImage(source) { refusal(of: $0, request, response, url) }
            return { try await image.next() }
        }
        stream.body = HTTPBody(content)
        var result = result
        result.content = .stream(stream)
        return result
    }
}

/// Looks at the images of one operation.
private final class ImageCheck: RequestObservation {
    private let limit: ImageInterceptor
    private let operation: NetworkOperation

    init(limit: ImageInterceptor, operation: NetworkOperation) {
        self.limit = limit
        self.operation = operation
    }

    func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? {
        limit.refusal(of: result, to: operation) == nil ? result : nil
    }

    /// A stored image that is too large is requested again.
    func mustWait(after outcome: NetworkOperation.Outcome) -> Bool {
        guard case .success(let result) = outcome, result.source == .cache, !result.isStale,
            operation.policy != .cacheOnly
        else { return false }
        return limit.refusal(of: result, to: operation) != nil
    }

    nonisolated(nonsending) func resume(
        after outcome: NetworkOperation.Outcome,
        next: Interceptor.Next,
        emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var again = operation
        again.policy = .networkOnly
        let result = try await next(again) { if let result = self.willEmit($0) { emit(result) } }
        return try admitted(result)
    }

    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        guard case .success(let result) = outcome else { return }
        do throws(NetworkError) {
            outcome = .success(try admitted(result))
        } catch {
            outcome = .failure(error)
        }
    }

    private func admitted(_ result: NetworkOperation.Result) throws(NetworkError) -> NetworkOperation.Result {
        if let refusal = limit.refusal(of: result, to: operation) { throw refusal }
        return limit.watched(result, operation)
    }
}

extension NetworkOperation {
    private enum ImageLimitKey: ContextKey {
        static let defaultValue: ImageInterceptor? = nil
    }

    /// The limit under which it runs; nil where there is none.
    fileprivate var imageLimit: ImageInterceptor? {
        get { context[ImageLimitKey.self] }
        set { context[ImageLimitKey.self] = newValue }
    }

    /// Whether that limit refuses an image.
    func refuses(_ result: Result) -> Bool { mayBeImage && imageLimit?.refusal(of: result, to: self) != nil }

    /// Whether a limit on images applies to its answer.
    fileprivate var mayBeImage: Bool { kind == .image || transfer.options.extras?.limitsImages == true }
}

/// An image that is read as it comes, but for its head, which comes at once.
private final class StreamedImage: Sendable {
    private enum State {
        case head, rest(HTTPBody.Reader), refused
    }

    private static let maxHead = 64 << 10
    private let state = Lock(State.head)
    private let source: Lock<Result<HTTPBody, NetworkError>>
    private let refusal: @Sendable (Data) -> NetworkError?

    /// - Parameters:
    ///   - source: the body; once it was refused, the refusal.
    ///   - refusal: why nobody is to get an image that begins so.
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
                if !Self.maySize(head) { break }
                if head.count < due { continue }
                if Self.isSettled(head) { break }
                // So that little is looked at twice, however small the chunks.
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

    /// Whether a format with pixels begins so: what is none is given as it comes, by single bytes if it must be.
    private static func maySize(_ head: Data) -> Bool {
        switch head.first {
        case 0x89, 0xFF, 0x47, 0x52, 0x42, 0x49, 0x4D, 0: true
        default: false
        }
    }

    /// Whether more bytes would tell nothing else.
    private static func isSettled(_ head: Data) -> Bool {
        if head.count >= maxHead { return true }
        switch ImageFormat(of: head) {
        // These may have their sizes further on, and several of them.
        case .gif?, .ico?, .avif?, .heic?, .tiff?: return false
        case .svg?: return true
        // One of its brands may be further on.
        case nil: return !head.withUnsafeBytes { ImageBytes(bytes: $0).has("ftyp", at: 4) }
        default: return ImageHeader(of: head) != nil
        }
    }
}
