extension LoopbackServer {
    /// The record of a server's events.
    public struct Record: Sendable {
        /// The total number of accepted connections.
        public var connections = 0
        /// The number of connections that are still open on both sides.
        public var openConnections = 0
        /// The total number of requests received.
        public var requestCount = 0
        /// The last 1,000 requests received, oldest first.
        public var requests: [Request] = []
        /// The number of answers that were sent completely.
        public var responses = 0
        /// The number of bytes received from clients, including those of TLS.
        public var bytesReceived = 0
        /// The number of bytes passed to the system for sending.
        public var bytesSent = 0
        /// The number of times that the client didn't read for 0.25 s although there were bytes to send.
        public var stalledSends = 0
    }
}
