extension LogEntry {
    /// The durations of an exchange's phases.
    ///
    /// A phase is `nil` if it didn't take place, such as connecting when the connection was already open. Source: HAR
    /// 1.2, timings.
    public struct Timings: Sendable, Hashable {
        /// The time spent waiting in a queue or for a connection.
        public var blocked: Duration?
        /// The time spent on name resolution.
        public var dns: Duration?
        /// The time spent connecting, including the TLS handshake.
        public var connect: Duration?
        /// The time spent on the TLS handshake.
        public var tls: Duration?
        /// The time spent sending the request.
        public var send: Duration?
        /// The time spent waiting for the response.
        public var wait: Duration?
        /// The time spent receiving the response.
        public var receive: Duration?

        /// Creates timings.
        public init(
            blocked: Duration? = nil,
            dns: Duration? = nil,
            connect: Duration? = nil,
            tls: Duration? = nil,
            send: Duration? = nil,
            wait: Duration? = nil,
            receive: Duration? = nil
        ) {
            self.blocked = blocked
            self.dns = dns
            self.connect = connect
            self.tls = tls
            self.send = send
            self.wait = wait
            self.receive = receive
        }

        /// The total time: the sum of all phases except `tls`, which is a part of `connect`.
        ///
        /// If `tls` is longer than `connect`, it is counted instead.
        public var total: Duration {
            let connect = [connect, tls].compactMap(\.self).max()
            return [blocked, dns, connect, send, wait, receive].reduce(.zero) { $0 + ($1 ?? .zero) }
        }
    }
}
