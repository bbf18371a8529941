extension TransferOptions {
    /// The policy that decides when a request sends `Expect: 100-continue` and waits for the server before it sends the
    /// body (RFC 9110, 10.1.1).
    ///
    /// If the server responds with 417, it doesn't support this, and the request is sent once more without `Expect`.
    /// Over HTTP/2 the body is sent without waiting.
    public struct ExpectPolicy: Sendable, Hashable {
        /// The smallest body for which the client asks first, in bytes, 0 or more; `nil` for never.
        ///
        /// Bodies of unknown length always qualify.
        package var threshold: Int64?
        /// The maximum time to wait for `100 Continue`.
        package var timeout = Duration.seconds(1)

        /// A policy that sends bodies immediately.
        public static let never = ExpectPolicy()

        /// Returns a policy that asks the server before sending a body of at least this size.
        ///
        /// This avoids sending a body that the server would reject, and costs a round trip.
        ///
        /// - Parameters:
        ///   - bytes: The smallest body for which the client asks, 0 or more. The default is 1 MiB, as in curl.
        ///   - timeout: The maximum time to wait before the body is sent anyway, above zero and at most a day. The
        ///     default is 1 s (RFC 9110 tells clients not to wait indefinitely).
        public static func ask(from bytes: Int64 = 1 << 20, timeout: Duration = .seconds(1)) -> ExpectPolicy {
            ExpectPolicy(threshold: bytes, timeout: timeout)
        }
    }
}
