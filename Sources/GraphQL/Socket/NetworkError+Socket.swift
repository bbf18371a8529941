import BeagleNet
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension NetworkError {
    /// How the server ended the WebSocket that the operation went over; nil where it did not, or nothing ended. What it says
    /// in `reason` is the server's own text.
    public var webSocketClose: WebSocketClose? { (underlying as? SocketClosed)?.close }
}

/// How a server ended a WebSocket, below a `NetworkError`.
struct SocketClosed: Error, CustomStringConvertible {
    let close: WebSocketClose

    var description: String { close.description }

    /// The code and the reason for a message, without secrets; empty if the server gave neither.
    var clause: String {
        if close.code == .noStatus { return "" }
        let reason = close.reason.isEmpty ? "" : " \"\(close.reason.shown)\""
        return " with code \(close.code.rawValue)\(reason)"
    }
}

extension String {
    /// A server's words for a message: without secrets, control characters and more than 1,000 characters.
    fileprivate var shown: String {
        var text = String.UnicodeScalarView()
        for scalar in Redactor.standard.redact(text: self).prefix(1000).unicodeScalars {
            text.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(text)
    }
}

extension WebSocketClose.Code {
    /// Whether another connection would end likewise, as the reference has it (`graphql-ws`): all that says that one of the
    /// sides does not speak as the other, or that the client must not.
    var isFatal: Bool {
        switch rawValue {
        case 4500, 4005, 4400, 4004, 4401, 4406, 4409, 4429: true
        case 1000, 1001, 1005, 1006, 1012, 1013, 1014: false
        case 1000...1999: true
        default: false
        }
    }
}

extension NetworkError {
    /// Why operations end that went over a WebSocket which the server ended.
    static func ended(_ close: WebSocketClose, _ isAcknowledged: Bool) -> NetworkError {
        let closed = SocketClosed(close: close)
        if close.code.rawValue == 4406, !isAcknowledged {
            return NetworkError(
                .unsupported,
                during: .firstByte,
                "the server does not support the subprotocol: it closed the WebSocket\(closed.clause)",
                underlying: closed
            )
        }
        return NetworkError(
            close.code.isFatal ? .closed : .network,
            during: .body,
            "the server closed the WebSocket\(closed.clause) before the operation ended",
            underlying: closed
        )
    }

    /// Why an operation has no result: what the server says, as the text of a list of errors or of one.
    static func errors(_ payload: Data) -> NetworkError {
        do throws(NetworkError) {
            let value = try JSONValue(parsing: payload)
            let errors = value.graphQLErrors
            return NetworkError(errors.isEmpty ? [GraphQLError(value)] : errors, of: nil)
        } catch {
            return error
        }
    }

    /// Why there are no results at all (`connection_error`). Its payload may be any value.
    static func refused(_ payload: Data?) -> NetworkError {
        let said = payload.map(Self.errors)
        let reasons = said?.graphQLErrors.map(\.description.shown) ?? []
        return NetworkError(
            .closed,
            during: .response,
            (["the server refused the connection"] + reasons).joined(separator: ": "),
            underlying: said?.underlying
        )
    }

    /// What an operation failed with as the conversation did: libcurl takes the abrupt end of a connection for that of a
    /// body, and the GET of the handshake, which might be sent again, is not what was asked.
    ///
    /// - Parameter maxMessageBytes: the limit under which the WebSocket was opened.
    func ofConversation(_ maxMessageBytes: Int) -> NetworkError {
        if kind == .tooLarge { return .messageTooLarge(maxMessageBytes) }
        var error = self
        if kind == .truncated { error.kind = .network }
        error.request = nil
        return error
    }

    /// What a handshake failed with, where that says that there is no WebSocket of this protocol.
    func asRefusal(of subprotocol: GraphQLSocketOptions.Subprotocol) -> NetworkError {
        var error = self
        error.mayHaveReachedServer = false
        let isRefused =
            switch kind {
            case .status:
                response.map { Self.refusals.contains($0.status.code) || $0.status.kind == .successful } ?? false
            case .protocol: response?.headerFields[.secWebSocketProtocol].map { $0 != subprotocol.rawValue } ?? false
            default: false
            }
        guard isRefused else { return error }
        error.kind = .unsupported
        return error
    }

    /// What servers answer who know no WebSocket there, or not this protocol.
    private static let refusals: Set<Int> = [400, 404, 405, 406, 415, 426, 501]

    static func otherSubprotocol(
        than subprotocol: GraphQLSocketOptions.Subprotocol,
        _ response: HTTPResponse
    ) -> NetworkError {
        var error = NetworkError(
            .unsupported,
            during: .firstByte,
            "the server opened a WebSocket but did not agree to the subprotocol \(subprotocol.rawValue)",
            advice: "check that the endpoint serves GraphQL over WebSocket"
        )
        error.response = response
        return error
    }

    static let noWebSockets = NetworkError(
        .unsupported,
        during: .build,
        "the transport does not support WebSockets",
        advice: "use CurlTransport, or another transport in GraphQLEndpoint.subscriptions"
    )

    static let notAcknowledged = NetworkError(
        .timeout,
        during: .firstByte,
        "the server opened a WebSocket but did not acknowledge the connection in time",
        advice: "increase GraphQLSocketOptions.acknowledgementTimeout if the server is slow"
    )

    static let noSignOfLife = NetworkError(
        .timeout,
        during: .body,
        "the server sent nothing over the WebSocket in time"
    )

    static let leftSocket = NetworkError(.cancelled, during: .body, "the operation was cancelled")

    /// `GraphQLEndpoint.terminateWebSockets()`.
    static let terminated = appEnded("the app terminated the WebSocket")

    /// What held a WebSocket open that nobody can join any more.
    static let socketRetired = appEnded("the WebSocket no longer accepts operations")

    private static func appEnded(_ message: String) -> NetworkError {
        var error = NetworkError(.network, during: .body, message)
        error.isAside = true
        return error
    }

    /// The connection was ended by this side, when nobody needed it.
    static let socketLeft = NetworkError(
        .network,
        during: .queue,
        "the WebSocket was closed because no operation needed it"
    )
}
