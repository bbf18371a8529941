import BeagleNetCache
import BeagleNetDependencies
import BeagleNetHTTP

/// Records how the message of an operation was sent and when, for a cache that stores the response.
final class SendRecord: Sendable {
    private struct State: Sendable {
        var wasSent = false
        var isUnchanged = true
        var hasCredentials = false
        var hasParts = false
    }

    /// The message as the cache passed it on, to compare that which is sent to.
    private let message: NetworkOperation.Key?
    private let state = Lock(State())

    /// A record of a message that wasn't sent yet.
    init(_ operation: NetworkOperation) {
        message = operation.messageKey
    }

    /// Whether all attempts sent the message as it was, except for known credentials and traces. Then the response is
    /// the same for each sender of the message.
    ///
    /// `false` if another interceptor responded, changed the message or added fields, or if the transport may have added
    /// cookies.
    var isUnchanged: Bool { state.withLock { $0.wasSent && $0.isUnchanged } }

    /// Whether the message was sent with the credentials of an `AuthInterceptor`.
    var hasCredentials: Bool { state.withLock { $0.hasCredentials } }

    /// Whether parts of the response came before its end, so that the last one isn't the whole.
    var hasParts: Bool { state.withLock { $0.hasParts } }

    /// Records an early result.
    func add(_ result: NetworkOperation.Result) {
        if result.isResponse { state.withLock { $0.hasParts = true } }
    }

    /// Records credentials that were added to the message.
    func addCredentials() { state.withLock { $0.hasCredentials = true } }

    /// Records an attempt.
    ///
    /// - Parameter storesCookies: Whether the transport may add cookies.
    func add(_ operation: NetworkOperation, storesCookies: Bool) {
        let isUnchanged = !(storesCookies && operation.transfer.options.usesCookies) && operation.sends(message)
        state.withLock { state in
            state.wasSent = true
            state.isUnchanged = state.isUnchanged && isUnchanged
        }
    }

    /// Whether a response may be stored for the user of a key. If not because the app didn't name the user, the log
    /// says so.
    func allowsStoring(
        _ response: NetworkResponse,
        for operation: NetworkOperation,
        _ key: ResponseKey,
        _ next: Pipeline.Next
    ) -> Bool {
        // Asked now, because another user may have signed in meanwhile.
        guard next.credentialOwner == operation.credentialOwner else { return false }
        if !operation.partition.isEmpty { return true }
        if key.isPersistent, hasCredentials { return false }
        if isUnchanged, !response.response.headerFields.contains(.setCookie) { return true }
        operation.log(NotStoredMessage())
        return false
    }
}

/// Logged if a response may belong to one user, and the app didn't say to which.
private struct NotStoredMessage: LogType {
    var category: String { "Cache" }
    var level: LogLevel { .debug }
    var message: String {
        "Response not stored: the request was changed before it was sent, or it may have had cookies; "
            + "give the operation a partition"
    }
}
