// GraphQL subscriptions, over any protocol that the server supports.
import BeagleNetGraphQL

struct NewPost: Decodable, Sendable {
    let id: String
    let title: String
}

struct RoomInput: Encodable, Sendable {
    let room: String
}

extension GraphQLOperation where Input == RoomInput, Output == NewPost {
    static func newPosts(in room: String) -> Self {
        GraphQLOperation(
            input: RoomInput(room: room),
            operationString: "subscription NewPosts($room: ID!) { newPost(room: $room) { id title } }"
        )
    }
}

func follow(_ client: any NetworkClient) async throws {
    // snippet.subscribe
    for try await result in try client.subscribe(to: .newPosts(in: "news")) {
        print(result.data?.title ?? "nothing", result.errors)
    }
    // snippet.end
    // snippet.events
    for try await event in try client.subscribe(to: .newPosts(in: "news"), buffering: .newest(16)).events {
        switch event {
        case .open: print("connected")
        case .interrupted(let error, let wait): print("lost: \(error.message); reconnecting in \(wait)")
        case .dropped(let count): print("\(count) results arrived faster than they were read")
        case .response(let result): print(result.data?.title ?? "nothing")
        }
    }
    // snippet.end
}

func hold(
    _ client: any NetworkClient,
    _ endpoint: GraphQLEndpoint,
    _ hear: @escaping @Sendable (String) -> Void
) throws {
    // snippet.hold
    let held = try client.holdWebSocket(of: endpoint, onEnd: { error in hear("given up: \(error.message)") })
    // When the app has no more subscriptions:
    held.cancel()
    // snippet.end
}

func configure(
    _ dependencies: BeagleDependencies,
    _ isBack: AsyncStream<Void>,
    _ token: @escaping @Sendable () -> String
) {
    // snippet.ways
    var socket = GraphQLSocketOptions()
    socket.parameters = { ["token": .string(token())] }
    socket.onEvent = { event in
        if case .connected(let answer, _) = event { print(answer?["session"]?.string ?? "no session") }
    }
    var endpoint = GraphQLEndpoint("https://example.org/graphql")
    endpoint.subscriptions = [.webSocket(socket), .events()]
    endpoint.maxMessageBytes = 1 << 20
    dependencies.graphQLEndpoint = endpoint
    // snippet.end
    // snippet.retry
    let retry = RetryInterceptor(subscriptionBackoff: Backoff(base: .seconds(1), cap: .seconds(20), limit: 30))
    retry.retry(on: isBack)
    dependencies.interceptors.replace(with: retry)
    // snippet.end
}
