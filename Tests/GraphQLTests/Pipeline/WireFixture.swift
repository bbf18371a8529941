@testable import BeagleNetGraphQL
import BeagleNetTesting
import Foundation

/// A server for every kind of operation and a client with the interceptors of a test.
struct WireFixture: Sendable {
    let server: WireServer
    let dependencies = BeagleDependencies()
    let client: NetworkClientDefault
    let logger = MemoryLogger()
    /// Sends batches of two. The clock of the batch window stands still.
    private let batching: NetworkClientDefault
    private let batchingDependencies: BeagleDependencies

    init(_ server: WireServer, clock: (any Clock<Duration>)? = nil, _ interceptors: any Interceptor...) throws {
        self.server = server
        dependencies.logger = logger
        dependencies.httpRequestBuilder.baseURL = URL(string: server.url)
        dependencies.interceptors = [OriginPolicyInterceptor(), StatusInterceptor()]
        if let clock { dependencies.clock = clock }
        for interceptor in interceptors { dependencies.interceptors.add(interceptor) }
        client = NetworkClientDefault(dependencies: dependencies)
        batchingDependencies = dependencies.scoped {
            $0.interceptors.add(BatchInterceptor(limit: 2, clock: ManualClock()))
        }
        batching = NetworkClientDefault(dependencies: batchingDependencies)
    }

    /// Three attempts without delays.
    static var retry: RetryInterceptor {
        let backoff = Backoff(base: .zero, limit: 3)
        return RetryInterceptor(backoff: backoff, subscriptionBackoff: backoff)
    }

    private func operation(_ kind: WireKind, _ id: String) -> GraphQLOperation<WireInput, String> {
        GraphQLOperation(input: WireInput(id, kind), operationString: kind.document)
    }

    /// Runs an operation of this kind through the public API and returns its value. Batches run two operations, which must
    /// have the same value.
    ///
    /// - Parameters:
    ///   - headers: Additional header fields.
    ///   - url: The URL of the endpoint. `nil` is the server of this fixture.
    func ask(
        _ kind: WireKind,
        _ id: String = "1",
        headers: [String: String] = [:],
        at url: String? = nil,
        _ configure: @escaping @Sendable (inout NetworkOperation) -> Void = { _ in }
    ) async throws(NetworkError) -> String {
        let endpoint = kind.endpoint(url ?? server.url, headers)
        guard kind.isBatch else { return try await ask(kind, id, endpoint, configure) }
        async let first = result { () throws(NetworkError) in
            try await batching.perform(operation(kind, id + "a"), at: endpoint, configure)
        }
        async let second = result { () throws(NetworkError) in
            try await batching.perform(operation(kind, id + "b"), at: endpoint, configure)
        }
        let (one, other) = await (first, second)
        _ = try other.get()
        return try one.get()
    }

    private func ask(
        _ kind: WireKind,
        _ id: String,
        _ endpoint: GraphQLEndpoint,
        _ configure: @escaping @Sendable (inout NetworkOperation) -> Void
    ) async throws(NetworkError) -> String {
        var value = "nothing"
        switch kind {
        case .deferred:
            var updates = try client.results(of: operation(kind, id), at: endpoint, configure).makeAsyncIterator()
            while let update = try await updates.next() { value = update.response.data ?? value }
        case _ where kind.operationKind == .subscription:
            var events = try client.subscribe(to: operation(kind, id), at: endpoint, configure).makeAsyncIterator()
            while let response = try await events.next() { value = response.data ?? value }
        default: value = try await client.perform(operation(kind, id), at: endpoint, configure)
        }
        return value
    }

    /// Returns the result of `ask`.
    func outcome(
        _ kind: WireKind,
        _ id: String = "1",
        headers: [String: String] = [:],
        at url: String? = nil,
        _ configure: @escaping @Sendable (inout NetworkOperation) -> Void = { _ in }
    ) async -> Result<String, NetworkError> {
        await result { () throws(NetworkError) in try await ask(kind, id, headers: headers, at: url, configure) }
    }

    /// Returns the operation as the client runs it, for watching.
    func networkOperation(_ kind: WireKind, _ id: String = "1") throws -> NetworkOperation {
        let endpoint = kind.endpoint(server.url)
        if kind.operationKind == .subscription {
            return try client.operationOverSubscriptionTransport(operation(kind, id).request(), at: endpoint)
        }
        return try client.networkOperation(for: operation(kind, id), at: endpoint)
    }
}

/// Returns the value or the error of a function.
func result<Value: Sendable>(
    _ body: nonisolated(nonsending) () async throws(NetworkError) -> Value
) async -> Result<Value, NetworkError> {
    do throws(NetworkError) {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}
