import BeagleNetExchanges
import Foundation

import struct BeagleNetExchanges.Operation

/// Operations of our pipeline, with or without a chain of exchanges.
struct Hosted: MeasuredClient {
    private let client: NetworkClientDefault
    private let samples: [NetworkOperation]
    private let waiting: [Task<Void, Never>]

    init(_ exchanges: [any Exchange]?, active: Int) throws {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        if let exchanges { dependencies.interceptors.add(ExchangeInterceptor(exchanges, logger: OffLogger())) }
        let client = NetworkClientDefault(dependencies: dependencies, transport: InstantTransport())
        self.client = client
        samples = try (0..<64).map { try Self.operation("/graphql?sample=\($0)") }
        waiting = try (0..<active).map { number in
            let operation = try Self.operation("/waiting?number=\(number)")
            return Task.immediate {
                do { _ = try await client.run(operation) } catch {}
            }
        }
    }

    func run(_ index: Int) async throws { _ = try await client.run(samples[index & 63]) }

    func end() { for task in waiting { task.cancel() } }

    private static func operation(_ path: String) throws -> NetworkOperation {
        guard let url = URL(string: "http://host\(path)") else { throw URLError(.badURL) }
        let body = Request.Body.data(Data(#"{"query":"{ a }"}"#.utf8), contentType: "application/json")
        let data = Request.RequestData(method: "POST", headers: [:], body: body)
        return NetworkOperation(Request(url: url, type: .rawRequest(data)), kind: .query, policy: .networkOnly)
    }
}

/// Operations of a client of exchanges, the last of which answers immediately.
struct Own: MeasuredClient {
    private let client: Client
    private let samples: [Operation]
    private let waiting: [AnyCancellable]

    init(_ exchanges: [any Exchange], active: Int) {
        let client = Client(
            request: URLRequest(url: URL(fileURLWithPath: "/graphql")),
            exchanges: exchanges + [InstantExchange()],
            logger: OffLogger()
        )
        self.client = client
        samples = (0..<64).map { Self.operation("sample-\($0)", client.request) }
        waiting = (0..<active).map { number in
            client.execute(operation: Self.operation("waiting-\(number)", client.request)).sink { _ in }
        }
    }

    func run(_ index: Int) async throws {
        client.execute(operation: samples[index & 63]).sink { _ in }.cancel()
    }

    func end() { for subscription in waiting { subscription.cancel() } }

    private static func operation(_ id: String, _ request: URLRequest) -> Operation {
        Operation(id: id, kind: .query, request: request, policy: .networkOnly, args: ExecutionArgs(query: "{ a }"))
    }
}

/// Answers immediately, except for operations that wait until they are cancelled.
struct InstantTransport: HTTPTransport {
    private struct Token: RequestToken {
        let onCancel: @Sendable () -> Void

        func cancel() { onCancel() }
    }

    private let response = TransferResponse(
        head: HTTPResponse(status: .ok),
        body: HTTPBody(#"{"data":{"a":1}}"#),
        url: "http://host/"
    )

    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        if request.head.path?.hasPrefix("/waiting") == true {
            return Token { completion(.failure(NetworkError(.cancelled, during: .firstByte, "cancelled"))) }
        }
        completion(.success(response))
        return Token {}
    }

    func perform(_ request: TransferRequest) async throws(NetworkError) -> TransferResponse {
        guard request.head.path?.hasPrefix("/waiting") == true else { return response }
        let (stream, end) = AsyncStream<Void>.makeStream()
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            end.finish()
        }
        throw NetworkError(.cancelled, during: .firstByte, "cancelled")
    }
}

struct DoNothingExchange: Exchange {
    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(operations)
    }
}

/// Observes operations and results.
struct LoggingExchange: Exchange {
    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(operations.handleEvents(receiveOutput: { _ in }).eraseToAnyPublisher())
            .handleEvents(receiveOutput: { _ in })
            .eraseToAnyPublisher()
    }
}

struct InstantExchange: Exchange {
    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        operations
            .compactMap { operation in
                if operation.kind == .teardown || operation.id.hasPrefix("waiting") { return nil }
                return OperationResult(operation: operation, data: ["a": 1])
            }
            .eraseToAnyPublisher()
    }
}
