/// The state shared by requests that lost the same connection.
///
/// With it, they retry at the same time and share the next connection.
package struct SharedRetry: Sendable {
    /// The number of the failure. Later failures have greater numbers.
    package let number: Int
    /// The number of consecutive failed connections.
    package let failures: Int
    /// The random value that determines the delay, shared so that all requests have the same delay.
    package let jitter: UInt64

    package init(number: Int, failures: Int, jitter: UInt64) {
        self.number = number
        self.failures = failures
        self.jitter = jitter
    }
}
