import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// A server for subscriptions and a client that retries without delay.
struct SubscriptionFixture {
    static let query = "subscription Count { count }"

    let server: LoopbackServer
    let dependencies = BeagleDependencies()
    var endpoint: GraphQLEndpoint

    init(
        _ ways: [GraphQLEndpoint.SubscriptionTransport] = [.events()],
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    ) throws {
        server = try LoopbackServer(answer: answer)
        endpoint = GraphQLEndpoint(
            try #require(URL(string: server.url + "/graphql")),
            headers: ["X-App": "demo"]
        )
        endpoint.subscriptions = ways
        dependencies.logger = MemoryLogger()
        retry(by: Backoff(base: .zero, limit: 3))
    }

    /// Sends the responses in order and then repeats the last one.
    init(_ ways: [GraphQLEndpoint.SubscriptionTransport] = [.events()], answers: LoopbackServer.Response...) throws {
        let left = Lock(answers)
        try self.init(ways) { _ in
            left.withLock { left in
                if left.count > 1 { return left.removeFirst() }
                return left.first ?? .close
            }
        }
    }

    func retry(by backoff: Backoff) {
        dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        dependencies.interceptors.add(RetryInterceptor(subscriptionBackoff: backoff))
    }

    var client: any NetworkClient { dependencies.networkClient }

    func subscription(
        _ query: String = Self.query,
        buffering: GraphQLBuffering = .failing(4096)
    ) throws -> GraphQLSubscription<JSONValue> {
        try client.subscribe(
            to: GraphQLRequest(query: query, kind: .subscription),
            at: endpoint,
            buffering: buffering
        )
    }

    /// Returns all events of a subscription and its error.
    func received(_ query: String = Self.query) async throws -> EventTexts {
        await EventTexts(try subscription(query).events)
    }
}

/// The events of a subscription as text.
struct EventTexts {
    var events: [String] = []
    var error: NetworkError?

    init(_ events: GraphQLSubscription<JSONValue>.Events, upTo count: Int = .max) async {
        var iterator = events.makeAsyncIterator()
        do throws(NetworkError) {
            while self.events.count < count, let event = try await iterator.next() { self.events.append(event.words) }
        } catch {
            self.error = error
        }
    }
}

extension GraphQLSubscription<JSONValue>.Event {
    var words: String {
        switch self {
        case .open: "open"
        case .interrupted(let error, let wait): "lost: \(error.kind.rawValue), \(wait.milliseconds)"
        case .dropped(let count): "missed \(count)"
        case .response(let response):
            ([response.data?.words ?? "null"] + response.errors.map(\.message)).joined(separator: " ")
        }
    }
}

extension JSONValue {
    /// The JSON text with sorted keys.
    var words: String { (try? data()).map { String(decoding: $0, as: UTF8.self) } ?? "" }
}

extension LoopbackServer.Response {
    /// A complete stream of server-sent events.
    static func events(_ text: String) -> Self {
        chunked([Data(text.utf8)], ["Content-Type": "text/event-stream; charset=utf-8"])
    }

    /// The head of an endless stream and its first events.
    static func begun(_ text: String, type: String = "text/event-stream") -> Self {
        raw("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(text))
    }

    static func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }

    /// A complete multipart body.
    static func parts(_ text: String) -> Self {
        chunked(
            [Data(text.utf8)],
            ["Content-Type": "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json"]
        )
    }

    static func json(_ text: String, status: Int = 200, type: String = "application/json") -> Self {
        response(status, ["Content-Type": type], text)
    }
}

/// Returns the events of results, followed by `complete`.
func events(_ numbers: ClosedRange<Int>) -> String {
    numbers.map { "event: next\ndata: {\"data\":{\"count\":\($0)}}\n\n" }.joined() + "event: complete\ndata:\n\n"
}
