import BeagleNetGraphQL

struct Post: Decodable, Sendable, Equatable {
    let id: String
    let title: String
}

struct NoInput: Encodable, Sendable {}

extension GraphQLOperation where Input == IDInput, Output == Post {
    static func post(_ id: String) -> Self {
        GraphQLOperation(
            input: IDInput(id: id),
            operationString: "query Post($id: ID!) { post(id: $id) { id title } }"
        )
    }
}

extension GraphQLOperation where Input == NoInput {
    /// An operation without variables.
    static func document(_ text: String, as type: Output.Type = Output.self) -> Self {
        GraphQLOperation(input: NoInput(), operationString: text)
    }
}
