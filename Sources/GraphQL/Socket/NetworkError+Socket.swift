import BeagleNet
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension NetworkError {
    /// The close code and reason with which the server closed the operation's WebSocket, or `nil` if it didn't.
    ///
    /// The `reason` is the server's own text.
    public var webSocketClose: WebSocket.Close? { (underlying as? SocketClosed)?.close }
}

/// The server's close code and reason, as the underlying error of a `NetworkError`.
struct SocketClosed: Error, CustomStringConvertible {
    let close: WebSocket.Close

    var description: String { close.description }

    /// The code and the reason for a message, with secrets redacted; empty if the server sent neither.
    var clause: String {
        if close.code == .noStatus { return "" }
        let reason = close.reason.isEmpty ? "" : " \"\(close.reason.shown)\""
        return " with code \(close.code.rawValue)\(reason)"
    }
}

extension String {
    /// The server's text for a message: with secrets redacted, without control characters, and at most 1,000 characters
    /// long.
    fileprivate var shown: String {
        var text = String.UnicodeScalarView()
        for scalar in Redactor.standard.redact(text: self).prefix(1000).unicodeScalars {
            text.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(text)
    }
}

extension WebSocket.Close.Code {
    /// Whether another connection would end the same way, as in the `graphql-ws` reference: all codes that mean that
    /// one side violates the protocol, or that the client is not allowed.
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
    /// Returns the error of operations on a WebSocket that the server closed.
    static func ended(_ close: WebSocket.Close, _ isAcknowledged: Bool) -> NetworkError {
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

    /// Returns the error of an operation from the server's JSON text of one error or a list of errors.
    static func errors(_ payload: Data) -> NetworkError {
        do throws(NetworkError) {
            let value = try JSONValue(parsing: payload)
            let errors = value.graphQLErrors
            return NetworkError(errors.isEmpty ? [GraphQLError(value)] : errors, of: nil)
        } catch {
            return error
        }
    }

    /// Returns the error for a refused connection (`connection_error`), whose payload may be any value.
    static func refused(_ payload: Data?) -> NetworkError {
        let error = payload.map(Self.errors)
        let reasons = error?.graphQLErrors.map(\.description.shown) ?? []
        return NetworkError(
            .closed,
            during: .response,
            (["the server refused the connection"] + reasons).joined(separator: ": "),
            underlying: error?.underlying
        )
    }

    /// Returns the error in terms of the WebSocket. libcurl reports a lost connection as a truncated body, and the
    /// error's request is only the GET of the handshake, which could be sent again.
    ///
    /// - Parameter maxMessageBytes: The maximum message size of the WebSocket.
    func ofSocket(_ maxMessageBytes: Int) -> NetworkError {
        if kind == .tooLarge { return .messageTooLarge(maxMessageBytes) }
        var error = self
        if kind == .truncated { error.kind = .network }
        error.request = nil
        return error
    }

    /// Returns the error of a handshake, as `.unsupported` if it means that the server has no WebSocket with this
    /// protocol.
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

    /// The statuses of servers that don't support a WebSocket or this protocol.
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

    static let pongTimedOut = NetworkError(
        .timeout,
        during: .body,
        "the server sent nothing over the WebSocket in time"
    )

    static let operationCancelled = NetworkError(.cancelled, during: .body, "the operation was cancelled")

    /// An error for operations that were ended by `GraphQLEndpoint.terminateWebSockets()`.
    static let terminated = appEnded("the app terminated the WebSocket")

    /// An error for holds on a WebSocket that was retired.
    static let socketRetired = appEnded("the WebSocket no longer accepts operations")

    private static func appEnded(_ message: String) -> NetworkError {
        var error = NetworkError(.network, during: .body, message)
        error.isPrerequisiteFailure = true
        return error
    }

    /// An error for a WebSocket that the client closed because it was unused.
    static let unusedSocketClosed = NetworkError(
        .network,
        during: .queue,
        "the WebSocket was closed because no operation needed it"
    )
}
