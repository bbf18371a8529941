import BeagleNetHTTP

/// The number of sign-ups, and their idempotency keys.
final class Signups: Sendable {
    private let state = Lock((last: 6, keys: [String: Int]()))
    /// The maximum number of keys. When it is reached, all keys are removed, so that a long-running demo doesn't use
    /// ever more memory.
    private static let maxKeys = 1000

    /// Returns the number of a sign-up.
    ///
    /// - Parameter key: The idempotency key of the request, or `nil` if it has none.
    /// - Returns: The number, and whether this is a new sign-up.
    func id(under key: String?) -> (id: Int, isNew: Bool) {
        state.withLock { state in
            if let key, let id = state.keys[key] { return (id, false) }
            state.last += 1
            if state.keys.count >= Self.maxKeys { state.keys = [:] }
            if let key { state.keys[key] = state.last }
            return (state.last, true)
        }
    }
}
