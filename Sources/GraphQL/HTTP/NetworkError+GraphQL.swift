public import BeagleNet
import BeagleNetHTTP

extension NetworkError.Kind {
    /// The server processed the operation and returned errors, which `NetworkError.graphQLErrors` has.
    public static let graphQL = NetworkError.Kind(rawValue: "graphql")
}

extension NetworkError {
    /// The server's GraphQL errors, for an error of kind `.graphQL`, or of kind `.status` if the body contains them.
    public var graphQLErrors: [GraphQLError] {
        (underlying as? GraphQLErrors)?.errors ?? []
    }

    /// Creates an error from the server's errors.
    ///
    /// - Parameter response: The message that holds them; `nil` if they came over a WebSocket.
    init(_ errors: [GraphQLError], of response: NetworkResponse?) {
        let others = errors.count > 1 ? ", and \(errors.count - 1) more" : ""
        let text = errors.first?.redactedMessage.map { ": \($0)" } ?? ""
        let error = NetworkError(
            .graphQL,
            during: .response,
            "the server returned an error\(errors.first?.loggableCode.map { " \($0)" } ?? "")\(others)\(text)",
            advice: errors.count > 1 ? "see all errors in graphQLErrors" : nil,
            underlying: GraphQLErrors(errors: errors)
        )
        self = response.map(error.attaching) ?? error
    }

    /// Returns an error for a response that is not a valid GraphQL response.
    static func malformed(_ what: String, _ response: NetworkResponse, advice: String? = nil) -> NetworkError {
        NetworkError(.decoding, during: .decode, what, advice: advice).attaching(response)
    }
}

extension GraphQLError {
    /// The beginning of the message on one line, with secrets redacted; `nil` if the server sent no message.
    var redactedMessage: String? {
        let line = String(
            String.UnicodeScalarView(message.unicodeScalars.prefix(300).map { $0.value < 0x20 ? " " : $0 })
        )
        return line.isEmpty ? nil : Redactor.standard.redact(text: line)
    }

    /// The code, if it is a plain word that is safe in messages and logs.
    var loggableCode: String? {
        guard let code, (1...64).contains(code.utf8.count),
            code.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || $0 == 0x5F })
        else { return nil }
        return code
    }
}

/// The GraphQL errors of a response, as the underlying error of a `NetworkError`.
public struct GraphQLErrors: Error, Sendable, Hashable, CustomStringConvertible {
    /// The errors; never empty.
    public var errors: [GraphQLError]

    /// One line for each error.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}

extension NetworkError {
    /// Returns an error for a message of a subscription that exceeds `GraphQLEndpoint.maxMessageBytes`.
    static func messageTooLarge(_ maxMessageBytes: Int) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .body,
            "a message of the subscription is larger than the \(maxMessageBytes) bytes allowed",
            advice: "increase GraphQLEndpoint.maxMessageBytes, or request less data per result"
        )
    }
}
