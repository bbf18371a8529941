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
    /// A place for a message, and the hash of the last URL that was built for it.
    ///
    /// A message is stored when its URL is built again, because most URLs are requested once.
    private struct Place {
        var built: BuiltMessage?
        var lastHash: UInt64 = 0
    }

    /// The number of messages, a power of two.
    private static let count = 32
    /// Each message at the place that the hash of its URL gives.
    private let places = InlineLock(Array(repeating: Place(), count: BuiltMessages.count))

    /// Returns the message of a request, and builds it unless that of an equal request is kept.
    ///
    /// - Parameter unbuilt: The operation's message before it is built.
    /// - Returns: The message, and the object that equal requests share; `nil` if they share none.
    func message(
        of request: Request,
        _ unbuilt: TransferRequest,
        _ build: () throws(NetworkError) -> TransferRequest
    ) throws(NetworkError) -> (TransferRequest, BuiltMessage?) {
        guard unbuilt.delivery == .collect, unbuilt.originScopedFields.isEmpty, let plain = request.plain
        else { return (try build(), nil) }
        var hash = TableHash()
        hash.combine(request.url.relativeString)
        let index = Int(truncatingIfNeeded: hash.bits) & (BuiltMessages.count - 1)
        let (known, isRepeated) = places.withLock { places in
            defer { places[index].lastHash = hash.bits }
            return (places[index].built, places[index].lastHash == hash.bits)
        }
        if let known, known.request == plain { return (known.message, known) }
        guard isRepeated else { return (try build(), nil) }
        let built = BuiltMessage(plain, try build())
        places.withLock { $0[index].built = built }
        return (built.message, built)
    }
}

/// A message that equal requests share.
final class BuiltMessage: Sendable {
    let request: Request.Plain
    let message: TransferRequest
    /// The last key of stored responses to the message, with the number of the user whose credentials it gets.
    private let key = InlineLock<(key: ResponseKey, credentialOwner: Int)?>(nil)

    init(_ request: Request.Plain, _ message: TransferRequest) {
        (self.request, self.message) = (request, message)
    }

    /// Returns the key of stored responses for a user.
    func responseKey(_ partition: String, _ credentialOwner: Int, _ make: () -> ResponseKey?) -> ResponseKey? {
        let known = key.withLock { $0 }
        if let known, known.credentialOwner == credentialOwner, known.key.partition == partition { return known.key }
        guard let made = make() else { return nil }
        key.withLock { $0 = (made, credentialOwner) }
        return made
    }
}
