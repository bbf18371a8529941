import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

/// Exchanges between subscribers and a server that the test controls: with a `Client` above them, or hosted in the pipeline
/// of a `NetworkClientDefault`, whose coalescer takes the place of the client. Each vector is written once and runs both ways.
protocol ClientFixture: Sendable {
    /// The kinds of the operations that reached the server, such as `query`, without teardowns.
    var requestedKinds: [String] { get }
    /// The number of operations that ended before they had a result.
    var ended: Int { get }

    /// Subscribes to an operation. Different numbers mean different operations.
    func listen(_ kind: Operation.Kind, _ policy: Operation.Policy, _ number: Int) -> any EventCollector
    /// Sends a result of the last operation that reached the server. A result that is neither stale nor followed by more ends it.
    func answer(_ data: AnyCodable, stale: Bool, hasNext: Bool) async
    /// Reexecutes all operations with subscribers.
    func runAgain()
    /// Waits until all queued work is done.
    func settle() async
}

/// A subscriber.
protocol EventCollector: Sendable {
    /// The received data as text, followed by `stale` for stale results.
    var texts: [String] { get }
    var isOver: Bool { get }
    func leave()
}

extension ClientFixture {
    func listen(_ kind: Operation.Kind = .query, _ policy: Operation.Policy = .cacheFirst) -> any EventCollector {
        listen(kind, policy, 0)
    }

    func answer(_ data: AnyCodable) async { await answer(data, stale: false, hasNext: false) }

    /// Waits until this many results have arrived and returns whether they are exactly these.
    func has(_ ear: any EventCollector, received texts: [String]) async -> Bool {
        while ear.texts.count < texts.count { await Task.yield() }
        await settle()
        return ear.texts == texts
    }

    /// Waits until this many operations have reached the server and returns whether there are no more.
    func hasRequested(_ count: Int) async -> Bool {
        while requestedKinds.count < count { await Task.yield() }
        await settle()
        return requestedKinds.count == count
    }
}

/// The way in which a test drives the exchanges.
enum ExchangeDriver: String, CaseIterable, CustomTestStringConvertible {
    case client
    case hosted

    var testDescription: String { rawValue }

    /// - Parameter isCounting: Whether the server sends the number of the operation as a synchronous result.
    func fixture(_ exchanges: [any Exchange], isCounting: Bool = false) -> any ClientFixture {
        switch self {
        case .client: OwnClientFixture(exchanges, isCounting: isCounting)
        case .hosted: HostedClientFixture(exchanges, isCounting: isCounting)
        }
    }
}

private let document: [Operation.Kind: String] = [
    .query: "{ a }", .mutation: "mutation { a }", .subscription: "subscription { a }",
]

/// Exchanges below a `Client`.
private final class OwnClientFixture: ClientFixture {
    private let server: ServerExchange
    private let client: Client

    init(_ exchanges: [any Exchange], isCounting: Bool) {
        let count = Lock(0)
        server = ServerExchange { operation in
            guard isCounting else { return [] }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return [operation.result(.integer(Int64(number)))]
        }
        let request = URLRequest(url: URL(filePath: "/graphql"))
        client = Client(request: request, exchanges: exchanges + [server], logger: OffLogger())
    }

    var requestedKinds: [String] { server.requested.map(\.kind.rawValue) }
    var ended: Int { server.kinds.filter { $0 == .teardown }.count }

    func listen(_ kind: Operation.Kind, _ policy: Operation.Policy, _ number: Int) -> any EventCollector {
        let variables: [String: AnyCodable] = ["number": .integer(Int64(number))]
        let args = ExecutionArgs(query: document[kind] ?? "", variables: variables)
        switch kind {
        case .mutation: return ResultCollector(client.mutate(args, policy: policy))
        case .subscription: return ResultCollector(client.subscribe(to: args, policy: policy))
        case .query, .teardown: return ResultCollector(client.query(args, policy: policy))
        }
    }

    func answer(_ data: AnyCodable, stale: Bool, hasNext: Bool) async {
        guard let operation = server.requested.last else { return }
        var result = operation.result(data, stale: stale)
        result.hasNext = hasNext
        server.send(result)
    }

    func runAgain() {
        guard let operation = server.requested.last else { return }
        client.reexecute(operation: operation.with(policy: .networkOnly))
    }

    func settle() async {}
}

extension ResultCollector: EventCollector {}

/// Exchanges in the pipeline of a client.
private final class HostedClientFixture: ClientFixture {
    private let below: HeldPipeline
    private let queue: SerialQueue
    private let client: NetworkClientDefault
    private let kinds = Lock<[String]>([])

    init(_ exchanges: [any Exchange], isCounting: Bool) {
        let kinds = kinds
        below = HeldPipeline { operation, number in
            kinds.withLock { $0.append("\(operation.kind.name)") }
            guard isCounting else { return nil }
            return .init(NetworkResponse(text: #"{"data":\#(number)}"#))
        }
        let interceptor = ExchangeInterceptor(exchanges, logger: OffLogger())
        queue = interceptor.chain.queue
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        dependencies.interceptors.add(interceptor)
        dependencies.interceptors.add(below)
        client = NetworkClientDefault(dependencies: dependencies, transport: NoTransport())
    }

    var requestedKinds: [String] { kinds.withLock { $0 } }
    var ended: Int { below.cancelled }

    func listen(_ kind: Operation.Kind, _ policy: Operation.Policy, _ number: Int) -> any EventCollector {
        HostedEventCollector { [client] hear in
            do throws(NetworkError) {
                let request = GraphQLRequest(
                    query: document[kind] ?? "",
                    kind: OperationKind(kind),
                    variables: Data(#"{"number":\#(number)}"#.utf8)
                )
                let message = try GraphQLEndpoint("http://host/graphql").makeRequest(request, in: client.container)
                var operation = NetworkOperation(message, kind: .init(kind))
                operation.policy = RequestPolicy(policy)
                return client.watch(operation, hear)
            } catch {
                Issue.record(error)
                return nil
            }
        }
    }

    func answer(_ data: AnyCodable, stale: Bool, hasNext: Bool) async {
        while below.held.isEmpty { await Task.yield() }
        guard let held = below.held.last else { return }
        var result = Operation.query().result(data, stale: stale)
        result.hasNext = hasNext
        if stale || hasNext { held.emit(result) } else { below.end(held, result) }
    }

    func runAgain() { client.refetch() }

    func settle() async {
        for _ in 0..<2 {
            await withCheckedContinuation { continuation in queue.enqueue { continuation.resume() } }
        }
    }
}

/// Receives the events of a watched operation.
private final class HostedEventCollector: EventCollector {
    private let received = Lock<(texts: [String], isOver: Bool)>(([], false))
    private let token = Lock<(any RequestToken)?>(nil)

    init(_ watch: (@escaping @Sendable (NetworkOperation.Event) -> Void) -> (any RequestToken)?) {
        let received = received
        let watched = watch { event in
            switch event {
            case .result(let result):
                guard let body = result.response?.data else { return }
                do {
                    let data = try JSONValue(parsing: body)["data"] ?? .null
                    let text = data.string ?? data.integer.map { String($0) } ?? "nil"
                    received.withLock { $0.texts.append(text + (result.isStale ? " stale" : "")) }
                } catch {
                    Issue.record(error)
                }
            case .failure(let error): received.withLock { $0.texts.append(error.message) }
            case .end: received.withLock { $0.isOver = true }
            }
        }
        token.withLock { $0 = watched }
    }

    var texts: [String] { received.withLock { $0.texts } }
    var isOver: Bool { received.withLock { $0.isOver } }
    func leave() { token.withLock { $0 }?.cancel() }
}
