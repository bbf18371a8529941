extension LoopbackServer {
    /// What a server has seen and done.
    public struct Record: Sendable {
        /// Connections accepted in all.
        public var connections = 0
        /// Connections that neither side has closed yet.
        public var openConnections = 0
        /// Requests read in all.
        public var requestCount = 0
        /// The requests themselves, oldest first; the last 1,000 of them.
        public var requests: [Request] = []
        /// Answers that were sent to their end.
        public var answers = 0
        /// Bytes that came from clients, TLS's own included.
        public var bytesReceived = 0
        /// Bytes handed to the system for sending.
        public var bytesSent = 0
        /// Times that the client took nothing for 0.25 s although there was something to send.
        public var stalledSends = 0
    }
}
