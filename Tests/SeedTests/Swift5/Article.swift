import BeagleNetGraphQL
import BeagleNetURLSession
import Foundation

// The example of the article on GraphQL over URLSession, as an app would write it: see seed `003_31f48d2a11b2556d.txt`.

struct Post: Decodable, Equatable {
    let id: String
    let title: String
    let body: String
}

extension GraphQLOperation where Input == IDInput, Output == Post {
    static func fetchPost(withID id: String) -> Self {
        GraphQLOperation(
            input: IDInput(id: id),
            operationString: """
                query Post($id: ID!) {
                  post(id: $id) {
                    \(Queries.postFields)
                  }
                }
                """
        )
    }
}

struct NewPost: Encodable {
    let title: String
    let body: String
}

/// Operations in an enum without cases, with the fields that they share.
enum Queries {
    static let postFields = "id title body"

    static func create(_ post: NewPost) -> GraphQLOperation<NewPost, Post> {
        GraphQLOperation(
            input: post,
            operationString: """
                mutation CreatePost($title: String!, $body: String!) {
                  createPost(title: $title, body: $body) { \(postFields) }
                }
                """
        )
    }
}
