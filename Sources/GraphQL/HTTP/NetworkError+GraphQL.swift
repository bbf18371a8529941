public import BeagleNet
import BeagleNetHTTP

extension NetworkError.Kind {
    /// The server understood the operation and answered with errors; `NetworkError.graphQLErrors` has them.
    public static let graphQL = NetworkError.Kind(rawValue: "graphql")
}

extension NetworkError {
    /// What the server said went wrong, of an error of kind `.graphQL`, or of one of kind `.status` whose body says it.
    public var graphQLErrors: [GraphQLError] {
        (underlying as? GraphQLErrors)?.errors ?? []
    }

    /// The server's errors.
    ///
    /// - Parameter response: The message that holds them; `nil` if they came over a WebSocket.
    init(_ errors: [GraphQLError], of response: NetworkResponse?) {
        let others = errors.count > 1 ? ", and \(errors.count - 1) more" : ""
        let text = errors.first?.shownMessage.map { ": \($0)" } ?? ""
        let error = NetworkError(
            .graphQL,
            during: .response,
            "the server returned an error\(errors.first?.plainCode.map { " \($0)" } ?? "")\(others)\(text)",
            advice: errors.count > 1 ? "see all errors in graphQLErrors" : nil,
            underlying: GraphQLErrors(errors: errors)
        )
        self = response.map(error.holding) ?? error
    }

    /// An answer that is none of GraphQL's.
    static func malformed(_ what: String, _ response: NetworkResponse, advice: String? = nil) -> NetworkError {
        NetworkError(.decoding, during: .decode, what, advice: advice).holding(response)
    }
}

extension GraphQLError {
    /// The beginning of the message in one line, without secrets; `nil` if the server sent none.
    var shownMessage: String? {
        let line = String(
            String.UnicodeScalarView(message.unicodeScalars.prefix(300).map { $0.value < 0x20 ? " " : $0 })
        )
        return line.isEmpty ? nil : Redactor.standard.redact(text: line)
    }

    /// The code, where it is a word that messages and logs can hold.
    var plainCode: String? {
        guard let code, (1...64).contains(code.utf8.count),
            code.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || $0 == 0x5F })
        else { return nil }
        return code
    }
}

/// What a server said went wrong, below a `NetworkError`.
public struct GraphQLErrors: Error, Sendable, Hashable, CustomStringConvertible {
    /// At least one.
    public var errors: [GraphQLError]

    /// One line for each.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}
