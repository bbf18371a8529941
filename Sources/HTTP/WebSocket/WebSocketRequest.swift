/// What a WebSocket is opened with: one message, and the rules of the conversation.
///
/// Extensions, such as compression, are not offered. Redirects are not followed (RFC 6455, 4.1, allows either): the
/// error says where one leads.
public struct WebSocketRequest: Sendable {
    /// Scheme (`ws` or `wss`; `http` and `https` stand for them), authority, path and the app's own header fields. The
    /// fields of the handshake itself, `Upgrade`, `Connection` and `Sec-WebSocket-…`, are the transport's.
    public var head: HTTPRequest
    /// The protocols that the app speaks over it, the best first (RFC 6455, 1.9). The server chooses one or none.
    public var subprotocols: [String]
    /// The largest payload of a message taken, in bytes, 1 or more; a larger one ends the WebSocket with 1009. 64 MiB.
    public var maxMessageBytes = 64 << 20
    /// How long nothing may come from the server before it is sent a ping. 30 s, as much in between forgets silent
    /// connections after a minute. nil: never. Up to an eighth earlier where others are due: pings go out together.
    public var pingInterval: Duration? = .seconds(30)
    /// How long after a ping anything has to come, else the WebSocket ends in a timeout. 20 s. Where much is being sent,
    /// it counts from when the server last took some of it.
    public var pongTimeout = Duration.seconds(20)
    /// How long the server may take to end its side after ours, or after it last took some of what is sent before. 5 s.
    public var closeTimeout = Duration.seconds(5)
    /// Time limits, trust, credentials and the like, as for any transfer. `connect`, `firstByte` and `total` hold for the
    /// opening, `idle` for nothing; `version`, `redirects` and `maxBodyBytes` do not apply, and digest is refused.
    public var options: TransferOptions

    /// Describes a WebSocket.
    public init(_ head: HTTPRequest, subprotocols: [String] = [], options: TransferOptions = TransferOptions()) {
        self.head = head
        self.subprotocols = subprotocols
        self.options = options
    }

    /// Finds what a WebSocket cannot be opened with.
    ///
    /// - Throws: `NetworkError` that names the property.
    public func validate() throws(NetworkError) {
        guard let scheme = head.scheme, Self.schemes.keys.contains(scheme) else {
            throw .unopened(.unsupportedScheme, "the scheme of a WebSocket must be ws or wss")
        }
        guard head.method == .get else {
            throw .unopened(.badRequest, "the method of a WebSocket request must be GET (RFC 6455, 4.1)")
        }
        if let field = head.headerFields.first(where: { Self.isOwn($0.name) }) {
            throw .unopened(.badRequest, "the header \(field.name.rawName) is set by the handshake", "remove it")
        }
        guard Set(subprotocols).count == subprotocols.count, subprotocols.allSatisfy({ HTTPField.Name($0) != nil })
        else {
            throw .unopened(
                .badRequest,
                "WebSocketRequest.subprotocols has a duplicate name, or one that is not a token (RFC 6455, 4.1)"
            )
        }
        guard options.authentication?.digestCredentials == nil else {
            throw .unopened(
                .unsupported,
                "TransferOptions.authentication is digest, which would require the handshake to be sent twice",
                "use wss with basic or bearer"
            )
        }
        guard maxMessageBytes > 0 else {
            throw .unopened(
                .badConfiguration,
                "WebSocketRequest.maxMessageBytes is \(maxMessageBytes)",
                "use 1 or more"
            )
        }
        let durations = [
            ("pingInterval", pingInterval ?? .seconds(1)), ("pongTimeout", pongTimeout), ("closeTimeout", closeTimeout),
        ]
        for (name, duration) in durations where duration <= .zero {
            throw .unopened(.badConfiguration, "WebSocketRequest.\(name) is \(duration)", "use a duration above zero")
        }
    }

    /// The schemes that name a WebSocket, and what each is called where the connection is made.
    private static let schemes = ["ws": "http", "wss": "https", "http": "http", "https": "https"]

    /// The message as any other over HTTP/1.1.
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

extension NetworkError {
    fileprivate static func unopened(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .build, message, advice: advice)
    }
}

extension WebSocketRequest: CustomStringConvertible, CustomReflectable {
    /// URL and header fields, with their secrets replaced.
    public var description: String {
        let redactor = Redactor.standard
        return redactor.shownMessage(redactor.redact(url: head.urlText), redactor.shown(head.headerFields), nil)
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
