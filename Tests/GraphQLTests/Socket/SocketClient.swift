@testable import BeagleNetGraphQL
import BeagleNetCurl
import BeagleNetTesting
import Foundation

/// A client with conveniences for WebSocket tests.
struct SocketClient: Sendable {
    static let shared = SocketClient()

    let client: NetworkClientDefault

    /// - Parameters:
    ///   - retries: Whether operations of lost connections are retried without delay.
    ///   - clock: The clock for all waits.
    init(retries: Bool = false, clock: (any Clock<Duration>)? = nil, transport: any HTTPTransport = CurlTransport()) {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        if let clock { dependencies.clock = clock }
        let backoff = Backoff(base: .zero, limit: 5)
        dependencies.interceptors =
            retries ? [RetryInterceptor(backoff: backoff, subscriptionBackoff: backoff)] : []
        client = NetworkClientDefault(dependencies: dependencies, transport: transport)
    }

    /// The outcome of a subscription.
    struct Outcome: Sendable {
        var numbers: [Int] = []
        var opened = 0
        var interruptions: [NetworkError] = []
        var error: NetworkError?
    }

    static func request(_ kind: OperationKind = .subscription, _ name: String = "a") -> GraphQLRequest {
        GraphQLRequest(query: "\(kind) \(name) { n }", operationName: name, kind: kind)
    }

    /// Subscribes and collects all events.
    func subscribe(
        _ endpoint: GraphQLEndpoint,
        _ name: String = "a",
        receive: @escaping @Sendable (GraphQLSubscription<JSONValue>.Event) async -> Void = { _ in }
    ) async throws -> Outcome {
        var outcome = Outcome()
        let events = try client.subscribe(to: Self.request(.subscription, name), at: endpoint).events
        do {
            for try await event in events {
                await receive(event)
                switch event {
                case .open: outcome.opened += 1
                case .interrupted(let error, _): outcome.interruptions.append(error)
                case .response(let response):
                    if let number = response.data?["n"]?.integer { outcome.numbers.append(Int(number)) }
                case .dropped: break
                }
            }
        } catch {
            outcome.error = error
        }
        return outcome
    }

    /// Runs a query or mutation and returns its data or its error.
    func execute(_ kind: OperationKind, _ endpoint: GraphQLEndpoint) async throws -> Result<JSONValue?, NetworkError> {
        do throws(NetworkError) {
            let operation = try client.operationOverSubscriptionTransport(Self.request(kind), at: endpoint)
            let result = try await client.run(operation) { _ in }
            guard let data = result.response?.data else { return .success(nil) }
            return .success(try JSONValue(parsing: data)["data"])
        } catch {
            return .failure(error)
        }
    }
}

/// Suspends waiting tasks until it is opened.
final class Latch: Sendable {
    private let stream = AsyncStream.makeStream(of: Void.self)

    func open() {
        stream.continuation.finish()
    }

    func wait() async {
        for await _ in stream.stream {}
    }
}
