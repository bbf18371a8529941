extension TransferOptions {
    /// The maximum duration of each phase of a transfer, above zero; `nil` means no limit.
    public struct Timeouts: Sendable, Hashable {
        /// The time to resolve the host's name, per hop, as a part of `connect`; `nil` by default.
        public var resolve: Duration?
        /// The time to resolve, connect and complete the TLS handshake, per hop; 30 s by default.
        public var connect: Duration?
        /// The time for the TLS handshake, per hop, as a part of `connect`; `nil` by default.
        ///
        /// This timeout applies only if libcurl reports the beginning of the handshake, as it does with OpenSSL.
        public var tls: Duration?
        /// The time from the last piece of the request sent to the end of the response head, per hop.
        ///
        /// The default is 60 s. Waiting for a streamed request body doesn't count.
        public var firstByte: Duration?
        /// The time between two reads of the response body; 60 s by default.
        ///
        /// A paused stream doesn't count.
        public var idle: Duration?
        /// The time for the whole transfer from start to the last byte, including redirects and the wait for a free
        /// connection.
        ///
        /// The default is 300 s, which also ends a response that arrives one byte at a time. `stream` and `download` of
        /// a client use no limit unless one is set.
        public var total: Duration?

        /// Creates timeouts, with the documented defaults.
        public init(
            resolve: Duration? = nil,
            connect: Duration? = .seconds(30),
            tls: Duration? = nil,
            firstByte: Duration? = .seconds(60),
            idle: Duration? = .seconds(60),
            total: Duration? = .seconds(300)
        ) {
            self.resolve = resolve
            self.connect = connect
            self.tls = tls
            self.firstByte = firstByte
            self.idle = idle
            self.total = total
        }
    }
}
