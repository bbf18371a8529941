extension WebSocket {
    /// The code and reason with which one side closes a WebSocket (RFC 6455, 5.5.1).
    public struct Close: Sendable, Hashable {
        /// A close code.
        ///
        /// The set is open: 3000...3999 are for registered libraries, 4000...4999 for apps. Source: RFC 6455, 7.4, and
        /// https://www.iana.org/assignments/websocket
        public struct Code: RawRepresentable, Sendable, Hashable {
            /// The number on the wire.
            public let rawValue: UInt16

            /// Creates a code from its number.
            public init(rawValue: UInt16) {
                self.rawValue = rawValue
            }

            /// 1000: normal closure.
            public static let normal = Code(rawValue: 1000)
            /// 1001: the server is shutting down, or the app is leaving.
            public static let goingAway = Code(rawValue: 1001)
            /// 1002: the other side violated the protocol.
            public static let protocolError = Code(rawValue: 1002)
            /// 1003: a type of message that this side doesn't accept.
            public static let unsupportedData = Code(rawValue: 1003)
            /// 1005: the other side sent no code.
            ///
            /// This code is never sent itself.
            public static let noStatus = Code(rawValue: 1005)
            /// 1007: a message that doesn't match its type, such as text that isn't valid UTF-8.
            public static let invalidPayload = Code(rawValue: 1007)
            /// 1008: a message that violates this side's policy.
            public static let policyViolation = Code(rawValue: 1008)
            /// 1009: a message that is too large for this side.
            public static let messageTooBig = Code(rawValue: 1009)
            /// 1010: the client requires an extension that the server didn't accept.
            public static let mandatoryExtension = Code(rawValue: 1010)
            /// 1011: an error in the server.
            public static let internalError = Code(rawValue: 1011)
            /// 1012: the server is restarting.
            public static let serviceRestart = Code(rawValue: 1012)
            /// 1013: the server is overloaded.
            public static let tryAgainLater = Code(rawValue: 1013)
            /// 1014: a gateway received an invalid response.
            public static let badGateway = Code(rawValue: 1014)

            /// Whether the code may be sent.
            var isSendable: Bool {
                switch rawValue {
                case 1000...1003, 1007...1014, 3000...4999: true
                default: false
                }
            }

            /// Whether the code indicates a normal closure.
            package var isNormal: Bool { [.normal, .goingAway, .noStatus].contains(self) }

            /// Returns the error for a WebSocket that the server closed with this code.
            ///
            /// - Parameter head: The head of the request that opened the WebSocket.
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

        /// The close code.
        public var code: Code
        /// The reason as text, at most 123 bytes in UTF-8; often empty.
        public var reason: String

        /// Creates a close code and reason.
        public init(_ code: Code, reason: String = "") {
            self.code = code
            self.reason = reason
        }

        /// Checks that the code and reason may be sent.
        ///
        /// - Throws: `NetworkError` of kind `.badRequest` that names the invalid property.
        package func validate() throws(NetworkError) {
            guard code.isSendable else {
                throw NetworkError(
                    .badRequest,
                    during: .build,
                    "WebSocket.Close.code is \(code.rawValue), which must not be sent",
                    advice: "use 1000, or an application code in 4000...4999"
                )
            }
            guard reason.utf8.count <= 123 else {
                throw NetworkError(
                    .badRequest,
                    during: .build,
                    "WebSocket.Close.reason has \(reason.utf8.count) bytes; at most 123 are allowed"
                )
            }
        }

        /// The payload of the close frame.
        var payload: [UInt8] {
            if code == .noStatus { return [] }
            return [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + reason.utf8
        }

        /// Parses the payload of a close frame.
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
}

/// A violation of the protocol by the server, and the close code that reports it.
struct WebSocketViolation: Error {
    let code: WebSocket.Close.Code
    let message: String

    init(_ code: WebSocket.Close.Code, _ message: String) {
        self.code = code
        self.message = message
    }

    var error: NetworkError {
        NetworkError(
            code == .messageTooBig ? .tooLarge : .protocol,
            during: .body,
            message,
            advice: code == .messageTooBig ? "increase WebSocket.Request.maxMessageBytes" : nil
        )
    }
}

extension WebSocket.Close: CustomStringConvertible, CustomReflectable {
    /// The code, and the reason with its secrets redacted.
    public var description: String {
        reason.isEmpty ? "\(code.rawValue)" : "\(code.rawValue) \(Redactor.standard.redact(text: reason))"
    }
    /// A mirror without children, because `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
