import BeagleNetHTTP

/// Who has signed up, as far as a demo needs to know: how many, and under which idempotency keys.
final class Signups: Sendable {
    private let state = Lock((last: 6, keys: [String: Int]()))
    /// A demo that runs for long forgets the keys of old.
    private static let maxKeys = 1000

    /// The number of a sign-up.
    ///
    /// - Parameter key: that of a message that may have come before; nil where it has none.
    /// - Returns: the number, and whether somebody has signed up just now.
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
