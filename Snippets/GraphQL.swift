// Typed GraphQL operations: single, without a code generator, with incremental delivery, with files, in batches.
import BeagleNetGraphQL

struct Post: Decodable, Sendable {
    let id: String
    let title: String
    let comments: [String]?
}

// snippet.operation
extension GraphQLOperation where Input == IDInput, Output == Post {
    static func fetchPost(withID id: String) -> Self {
        GraphQLOperation(
            input: IDInput(id: id),
            operationString: "query Post($id: ID!) { post(id: $id) { id title comments } }"
        )
    }
}
// snippet.end

func perform(_ dependencies: BeagleDependencies) async throws {
    // snippet.perform
    dependencies.graphQLEndpoint = GraphQLEndpoint("https://example.org/graphql")
    let client = dependencies.networkClient

    let post = try await client.perform(.fetchPost(withID: "1"))
    // snippet.end
    // snippet.execute
    do {
        let response = try await client.execute(.fetchPost(withID: "1"))
        print(response.data?.title ?? "no post", response.errors, response.extensions)
    } catch {
        for problem in error.graphQLErrors { print(problem.message, problem.path, problem.code ?? "") }
    }
    // snippet.end
    _ = post
}

// snippet.template
enum Blog {
    static let post = GraphQLTemplate(
        "query Post($id: ID!) { post(id: $id) \(selectionOf: Post.self) }",
        returning: Post.self,
        variables: GraphQLVariable("id", String.self)
    )
}
// snippet.end

func more(_ client: any NetworkClient, _ dependencies: BeagleDependencies) async throws {
    // snippet.call
    let post = try await client.perform(Blog.post("1"))
    // snippet.end
    // snippet.pieces
    for try await update in try client.results(of: .fetchPost(withID: "1")) {
        print(update.response.data?.comments?.count ?? 0, update.hasNext)
    }
    // snippet.end
    // snippet.endpoint
    var endpoint = GraphQLEndpoint("https://example.org/graphql", headers: ["X-App": "7"])
    endpoint.queryMethod = .get
    endpoint.documentStyle = .automatic
    endpoint.errorPolicy = .strict
    // snippet.end
    // snippet.batch
    dependencies.interceptors.add(BatchInterceptor(window: .milliseconds(10), limit: 10))
    // snippet.end
    _ = (post, endpoint)
}

// snippet.upload
struct Photos: Encodable, Sendable {
    let album: String
    let files: [GraphQLUpload]
}

let upload = GraphQLOperation<Photos, Bool>(
    input: Photos(album: "Sea", files: [GraphQLUpload(FormFile(path: "sea.jpg", contentType: "image/jpeg"))]),
    operationString: "mutation($album: ID!, $files: [Upload!]!) { addPhotos(album: $album, files: $files) }"
)
// snippet.end
