/// Why one side ended a WebSocket (RFC 6455, 5.5.1).
public struct WebSocketClose: Sendable, Hashable {
    /// The number that says why. An open set: 3000...3999 belong to registered libraries, 4000...4999 to the app.
    /// Source: RFC 6455, 7.4, and https://www.iana.org/assignments/websocket
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The number on the wire.
        public let rawValue: UInt16

        /// A code of this number.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// 1000: done.
        public static let normal = Code(rawValue: 1000)
        /// 1001: the server goes down, or the app does.
        public static let goingAway = Code(rawValue: 1001)
        /// 1002: the other side broke the protocol.
        public static let protocolError = Code(rawValue: 1002)
        /// 1003: a kind of message that this side does not take.
        public static let unsupportedData = Code(rawValue: 1003)
        /// 1005: the other side named no code. Never on the wire.
        public static let noStatus = Code(rawValue: 1005)
        /// 1007: a message that is not what its kind says, as text that is no UTF-8.
        public static let invalidPayload = Code(rawValue: 1007)
        /// 1008: against the rules of this side.
        public static let policyViolation = Code(rawValue: 1008)
        /// 1009: a message larger than this side takes.
        public static let messageTooBig = Code(rawValue: 1009)
        /// 1010: the client misses an extension.
        public static let mandatoryExtension = Code(rawValue: 1010)
        /// 1011: the server failed.
        public static let internalError = Code(rawValue: 1011)
        /// 1012: the server starts again.
        public static let serviceRestart = Code(rawValue: 1012)
        /// 1013: the server is overloaded.
        public static let tryAgainLater = Code(rawValue: 1013)
        /// 1014: a gateway got a wrong answer.
        public static let badGateway = Code(rawValue: 1014)

        /// Whether it may be on the wire.
        var isSendable: Bool {
            switch rawValue {
            case 1000...1003, 1007...1014, 3000...4999: true
            default: false
            }
        }

        /// Whether it is what a conversation that went well ends with.
        package var isNormal: Bool { [.normal, .goingAway, .noStatus].contains(self) }

        /// What a conversation fails with that the server closed with this code.
        ///
        /// - Parameter head: of the message that opened it.
        package func error(of head: HTTPRequest) -> NetworkError {
            var error = NetworkError(
                .closed,
                during: .body,
                "the server closed the WebSocket with code \(rawValue)",
                advice: "see WebSocket.peerClose for the reason"
            )
            error.request = head
            return error
        }
    }

    /// The number that says why.
    public var code: Code
    /// The same in words, of 123 bytes at most in UTF-8; mostly empty.
    public var reason: String

    /// A reason to close.
    public init(_ code: Code, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// Finds what cannot be sent.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` that names the property.
    package func validate() throws(NetworkError) {
        guard code.isSendable else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "WebSocketClose.code is \(code.rawValue), which must not be sent",
                advice: "use 1000, or an application code in 4000...4999"
            )
        }
        guard reason.utf8.count <= 123 else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "WebSocketClose.reason has \(reason.utf8.count) bytes; at most 123 are allowed"
            )
        }
    }

    /// What a close frame holds.
    var payload: [UInt8] {
        if code == .noStatus { return [] }
        return [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + reason.utf8
    }

    /// Reads what a close frame holds.
    init(payload: [UInt8]) throws(WebSocketViolation) {
        guard !payload.isEmpty else {
            self.init(.noStatus)
            return
        }
        guard payload.count >= 2 else {
            throw WebSocketViolation(.protocolError, "a close frame contains only half a code")
        }
        let code = Code(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else {
            throw WebSocketViolation(
                .protocolError,
                "a close frame contains \(code.rawValue), which is not a valid code"
            )
        }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw WebSocketViolation(.invalidPayload, "a close frame's reason is not valid UTF-8")
        }
        self.init(code, reason: reason)
    }
}

/// How the server broke the protocol, and the code that it is told with.
struct WebSocketViolation: Error {
    let code: WebSocketClose.Code
    let message: String

    init(_ code: WebSocketClose.Code, _ message: String) {
        self.code = code
        self.message = message
    }

    var error: NetworkError {
        NetworkError(
            code == .messageTooBig ? .tooLarge : .protocol,
            during: .body,
            message,
            advice: code == .messageTooBig ? "increase WebSocketRequest.maxMessageBytes" : nil
        )
    }
}

extension WebSocketClose: CustomStringConvertible, CustomReflectable {
    /// The number, and the reason with its secrets replaced.
    public var description: String {
        reason.isEmpty ? "\(code.rawValue)" : "\(code.rawValue) \(Redactor.standard.redact(text: reason))"
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
