import BeagleNetCache
import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The last messages that a builder made, for requests that are made again, such as those of images and polls.
final class BuiltMessages: Sendable {
    /// The number of messages, a power of two.
    private static let count = 32
    /// Each message at the place that the hash of its URL gives.
    private let entries = InlineLock<[BuiltMessage?]>(Array(repeating: nil, count: BuiltMessages.count))

    /// Returns the message of a request, and builds it unless an equal request was made recently.
    ///
    /// - Parameter unbuilt: The operation's message before it is built.
    /// - Returns: The message, and the shared one that it is, if equal requests may share it.
    func message(
        of request: Request,
        _ unbuilt: TransferRequest,
        _ build: () throws(NetworkError) -> TransferRequest
    ) throws(NetworkError) -> (TransferRequest, BuiltMessage?) {
        guard unbuilt.delivery == .collect, unbuilt.originScopedFields.isEmpty else { return (try build(), nil) }
        var hash = TableHash()
        hash.combine(request.url.relativeString)
        let place = Int(truncatingIfNeeded: hash.bits) & (BuiltMessages.count - 1)
        let known = entries.withLock { $0[place] }
        if let known, known.request.isPlainlyEqual(to: request) { return (known.message, known) }
        guard request.isPlain else { return (try build(), nil) }
        let built = BuiltMessage(request, try build())
        entries.withLock { $0[place] = built }
        return (built.message, built)
    }
}

/// A message that equal requests share.
final class BuiltMessage: Sendable {
    let request: Request
    let message: TransferRequest
    /// The last key of stored responses to the message, with the number of the user whose credentials it gets.
    private let key = InlineLock<(key: ResponseKey, credentialOwner: Int)?>(nil)

    init(_ request: Request, _ message: TransferRequest) {
        (self.request, self.message) = (request, message)
    }

    /// Returns the key of stored responses for a user.
    func responseKey(_ partition: String, _ credentialOwner: Int, _ make: () -> ResponseKey?) -> ResponseKey? {
        if let known = key.withLock({ $0 }), known.credentialOwner == credentialOwner, known.key.partition == partition
        {
            return known.key
        }
        guard let made = make() else { return nil }
        key.withLock { $0 = (made, credentialOwner) }
        return made
    }
}
