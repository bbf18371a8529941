import BeagleNetGraphQL
import BeagleNetHTTP

/// The schema and data of the demo backend's `/graphql`.
enum DemoSchema {
    static let text = """
        type Query {
          hello(name: String = "world"): String!
          hero: Character!
          posts: [Post!]!
          post(id: ID!): Post
          "Fails with an error; the other fields still have data."
          fail: String
        }
        type Mutation {
          "Returns the post without storing it."
          createPost(title: String!, body: String = ""): Post!
        }
        type Subscription {
          "Counts from 1, ten times a second."
          count(to: Int = 1000): Int!
          posts(room: ID): Post!
        }
        type Character { name: String! friends: [Friend!]! }
        type Friend { name: String! }
        type Post { id: ID! title: String! body: String! }
        """

    /// The value of a resolved field.
    indirect enum Value {
        case leaf(JSONValue)
        case object(type: String, fields: [String: Value])
        case list([Value])
    }

    /// The reason that a request is rejected or a field can't be resolved.
    struct Fault: Error {
        let message: String
        var code: String?
    }

    private static let posts = [("1", "First", "Hello"), ("2", "Second", "Ünïcode 😀"), ("3", "Third", "The end")]
        .map { post(id: $0.0, title: $0.1, body: $0.2) }

    private static func post(id: String, title: String, body: String) -> Value {
        let fields = ["id": id, "title": title, "body": body]
        return .object(type: "Post", fields: fields.mapValues { .leaf(.string($0)) })
    }

    private static func person(_ type: String, _ name: String, _ others: [String: Value] = [:]) -> Value {
        .object(type: type, fields: others.merging(["name": .leaf(.string(name))]) { first, _ in first })
    }

    /// Resolves a field of a query or mutation. The document must be valid for the schema.
    static func resolve(_ field: String, _ arguments: [String: JSONValue]) throws(Fault) -> Value {
        switch field {
        case "hello": return .leaf(.string("Hello, \(arguments["name"]?.string ?? "world")!"))
        case "hero":
            let friends = ["Grace", "Barbara"].map { person("Friend", $0) }
            return person("Character", "Ada", ["friends": .list(friends)])
        case "posts": return .list(posts)
        case "post":
            let index = arguments["id"].flatMap { $0.string.flatMap(Int.init) ?? $0.integer.map { Int(clamping: $0) } }
            guard let index, (1...posts.count).contains(index) else { return .leaf(.null) }
            return posts[index - 1]
        case "createPost":
            guard let title = arguments["title"]?.string else {
                throw Fault(message: "the title is not a string", code: "BAD_USER_INPUT")
            }
            return post(id: "\(posts.count + 1)", title: title, body: arguments["body"]?.string ?? "")
        default: throw Fault(message: "this field always fails", code: "FAILED")
        }
    }

    /// Returns the events of a subscription's field.
    static func events(_ field: String, _ arguments: [String: JSONValue]) -> any Sequence<Value> {
        guard field == "count" else { return posts }
        return (0..<max(0, arguments["to"]?.integer ?? 1000)).lazy.map { Value.leaf(.integer($0 + 1)) }
    }
}
