// A client of exchanges, an exchange that processes operations, and an exchange and an interceptor used as each other.
import BeagleNetExchanges

import struct BeagleNetExchanges.Operation

func ask(_ url: URL) -> AnyCancellable {
    // snippet.client
    let client = Client(
        request: URLRequest(url: url),
        exchanges: [DedupExchange(), CacheExchange(), FetchExchange()]
    )
    let posts = ExecutionArgs(
        query: "query Posts($first: Int) { posts(first: $first) { id } }",
        variables: ["first": 10]
    )
    let subscription = client.query(posts, policy: .cacheAndNetwork).sink { result in
        print(result.data["posts"] ?? nil, result.stale == true ? "(stale)" : "")
    }
    // snippet.end
    return subscription
}

func first(_ client: Client, _ posts: ExecutionArgs) async throws {
    // snippet.async
    struct Posts: Decodable {
        struct Post: Decodable { var id: String }
        var posts: [Post]
    }
    let result = try await client.query(posts, as: Posts.self)
    print(result.data.posts.count)
    // snippet.end
}

// snippet.nothing
struct DoNothingExchange: Exchange {
    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(operations)
    }
}
// snippet.end

// snippet.processing
struct ClockExchange: Exchange {
    let ticks: AnyPublisher<Int, Never>

    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        // 1. Share one stream among all subscribers below.
        let shared = operations.share()

        // 2. Separate this exchange's operations from the rest, which includes teardowns.
        let own = shared.filter { $0.kind == .subscription && $0.args.operationName == "Clock" }
        let rest = shared.filter { $0.kind != .subscription || $0.args.operationName != "Clock" }

        let results = own.flatMap { operation in
            // 3. Create a stream of results for each operation.
            ticks
                .map { OperationResult(operation: operation, data: AnyCodable($0)) }
                // 5. When the source ends, tear the operation down, so that its subscribers complete.
                .handleEvents(receiveCompletion: { _ in
                    client.reexecute(operation: operation.with(kind: .teardown))
                })
                // 4. End the stream at the operation's teardown, or when the operation is sent again.
                .takeUntil(shared.filter { $0.id == operation.id })
        }
        return next(rest.eraseToAnyPublisher()).merge(with: results).eraseToAnyPublisher()
    }
}
// snippet.end

// snippet.interceptor
struct TimingInterceptor: Interceptor {
    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let start = ContinuousClock.now
        let result = try await next(operation, emit)
        print(operation.kind, ContinuousClock.now - start)
        return result
    }
}
// snippet.end

func host(_ dependencies: BeagleDependencies, _ ticks: AnyPublisher<Int, Never>) {
    // snippet.hosted
    dependencies.interceptors.add(ExchangeInterceptor([DoNothingExchange(), ClockExchange(ticks: ticks)]))
    // snippet.end
}

func exchange(_ url: URL) -> Client {
    // snippet.exchange
    let client = Client(
        request: URLRequest(url: url),
        exchanges: [DedupExchange(), InterceptorExchange(TimingInterceptor()), FetchExchange()]
    )
    // snippet.end
    return client
}
