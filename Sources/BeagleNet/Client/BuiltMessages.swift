import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The last messages that a builder made, for requests that are made again, such as those of images and polls.
final class BuiltMessages: Sendable {
    private final class Entry: Sendable {
        let request: Request
        let message: TransferRequest

        init(_ request: Request, _ message: TransferRequest) {
            (self.request, self.message) = (request, message)
        }
    }

    /// The number of messages, a power of two.
    private static let count = 32
    /// Each message at the place that the hash of its URL gives.
    private let entries = InlineLock<[Entry?]>(Array(repeating: nil, count: BuiltMessages.count))

    /// Returns the message of a request, and builds it unless an equal request was made recently.
    ///
    /// - Parameter unbuilt: The operation's message before it is built.
    func message(
        of request: Request,
        _ unbuilt: TransferRequest,
        _ build: () throws(NetworkError) -> TransferRequest
    ) throws(NetworkError) -> TransferRequest {
        guard unbuilt.delivery == .collect, unbuilt.originScopedFields.isEmpty else { return try build() }
        var hash = TableHash()
        hash.combine(request.url.relativeString)
        let place = Int(truncatingIfNeeded: hash.bits) & (BuiltMessages.count - 1)
        let known = entries.withLock { $0[place] }
        if let known, known.request.isPlainlyEqual(to: request) { return known.message }
        guard request.isPlain else { return try build() }
        let entry = Entry(request, try build())
        entries.withLock { $0[place] = entry }
        return entry.message
    }
}
