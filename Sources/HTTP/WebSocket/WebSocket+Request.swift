extension WebSocket {
    /// A request to open a WebSocket, and the settings for its connection.
    ///
    /// Extensions, such as compression, aren't offered. Redirects aren't followed (RFC 6455, 4.1, allows either); the
    /// error contains the destination.
    public struct Request: Sendable {
        /// The scheme (`ws` or `wss`, or their equivalents `http` and `https`), authority, path and the app's own
        /// header fields.
        ///
        /// The transport sets the fields of the handshake itself: `Upgrade`, `Connection` and `Sec-WebSocket-…`.
        public var head: HTTPRequest
        /// The application protocols that the client supports, best first (RFC 6455, 1.9).
        ///
        /// The server chooses one or none.
        public var subprotocols: [String]
        /// The maximum payload of a received message, in bytes, 1 or more.
        ///
        /// The default is 64 MiB. A larger message closes the WebSocket with 1009.
        public var maxMessageBytes = 64 << 20
        /// The time without data from the server after which a ping is sent; `nil` never sends pings.
        ///
        /// The default of 30 s is short enough for intermediaries that drop silent connections after a minute. A ping
        /// is sent up to an eighth earlier if other WebSockets' pings are due, so that they are sent together.
        public var pingInterval: Duration? = .seconds(30)
        /// The time after a ping within which any data must arrive; otherwise the WebSocket fails with a timeout.
        ///
        /// The default is 20 s. While much data is being sent, the time counts from when the server last accepted some
        /// of it.
        public var pongTimeout = Duration.seconds(20)
        /// The time that the server has to close its side after this side closes, or after it last accepted some of the
        /// data sent before.
        ///
        /// The default is 5 s.
        public var closeTimeout = Duration.seconds(5)
        /// Timeouts, trust, credentials and other options, as for any transfer.
        ///
        /// `connect`, `firstByte` and `total` apply to opening the WebSocket, and `idle` doesn't apply. `version`,
        /// `redirects` and `maxBodyBytes` have no effect. Digest authentication is rejected.
        public var options: TransferOptions

        /// Creates a request to open a WebSocket.
        public init(_ head: HTTPRequest, subprotocols: [String] = [], options: TransferOptions = TransferOptions()) {
            self.head = head
            self.subprotocols = subprotocols
            self.options = options
        }

        /// Checks that the request can open a WebSocket.
        ///
        /// - Throws: `NetworkError` that names the invalid property.
        public func validate() throws(NetworkError) {
            guard let scheme = head.scheme, Self.schemes.keys.contains(scheme) else {
                throw .invalidRequest(.unsupportedScheme, "the scheme of a WebSocket must be ws or wss")
            }
            guard head.method == .get else {
                throw .invalidRequest(.badRequest, "the method of a WebSocket request must be GET (RFC 6455, 4.1)")
            }
            if let field = head.headerFields.first(where: { Self.isOwn($0.name) }) {
                throw .invalidRequest(
                    .badRequest,
                    "the header \(field.name.rawName) is set by the handshake",
                    "remove it"
                )
            }
            guard Set(subprotocols).count == subprotocols.count, subprotocols.allSatisfy({ HTTPField.Name($0) != nil })
            else {
                throw .invalidRequest(
                    .badRequest,
                    "WebSocket.Request.subprotocols has a duplicate name, or one that is not a token (RFC 6455, 4.1)"
                )
            }
            guard options.authentication?.digestCredentials == nil else {
                throw .invalidRequest(
                    .unsupported,
                    "TransferOptions.authentication is digest, which would require the handshake to be sent twice",
                    "use wss with basic or bearer"
                )
            }
            guard maxMessageBytes > 0 else {
                throw .invalidRequest(
                    .badConfiguration,
                    "WebSocket.Request.maxMessageBytes is \(maxMessageBytes)",
                    "use 1 or more"
                )
            }
            let durations = [
                ("pingInterval", pingInterval ?? .seconds(1)), ("pongTimeout", pongTimeout),
                ("closeTimeout", closeTimeout),
            ]
            for (name, duration) in durations where duration <= .zero {
                throw .invalidRequest(
                    .badConfiguration,
                    "WebSocket.Request.\(name) is \(duration)",
                    "use a duration above zero"
                )
            }
        }

        /// The accepted schemes, and the HTTP scheme of the connection for each.
        private static let schemes = ["ws": "http", "wss": "https", "http": "http", "https": "https"]

        /// The opening request as an ordinary HTTP/1.1 transfer.
        package var transfer: TransferRequest {
            var head = head
            head.scheme = head.scheme.flatMap { Self.schemes[$0] }
            var options = options
            options.version = .http1
            return TransferRequest(head, options: options)
        }

        private static func isOwn(_ name: HTTPField.Name) -> Bool {
            let name = name.canonicalName
            return name == "upgrade" || name == "connection" || name.hasPrefix("sec-websocket-")
        }
    }
}

extension NetworkError {
    fileprivate static func invalidRequest(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .build, message, advice: advice)
    }
}

extension WebSocket.Request: CustomStringConvertible, CustomReflectable {
    /// The URL and header fields, with their secrets redacted.
    public var description: String {
        let redactor = Redactor.standard
        return redactor.messageDescription(
            redactor.redact(url: head.urlText),
            redactor.redactedDescription(of: head.headerFields),
            nil
        )
    }
    /// A mirror without children, because `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
