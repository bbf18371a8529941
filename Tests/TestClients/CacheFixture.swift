package import BeagleNet
import BeagleNetTesting

/// A client with a cache in memory, in front of a scripted server.
package final class CacheFixture: Sendable {
    package typealias Outcome = Result<TransferResponse, NetworkError>

    package let store: MemoryResponseStore
    package let transport: ScriptedTransport
    package let client: NetworkClientDefault
    private let response: Lock<Outcome>

    /// - Parameters:
    ///   - interceptors: The interceptors after the cache and the check of the status.
    ///   - store: The client's store.
    ///   - wrapping: Returns the transport that the client uses, such as one that records.
    ///   - responses: Returns the response to a request, instead of the one that was set.
    package init(
        _ interceptors: any Interceptor...,
        store: MemoryResponseStore = MemoryResponseStore(),
        wrapping: (ScriptedTransport) -> any HTTPTransport = { $0 },
        responses: (@Sendable (TransferRequest) -> Outcome)? = nil
    ) {
        let response = Lock<Outcome>(.text("1"))
        self.response = response
        self.store = store
        transport = ScriptedTransport { request in responses?(request) ?? response.withLock { $0 } }
        var all: [any Interceptor] = [CacheInterceptor(store), StatusInterceptor()]
        for interceptor in interceptors { all.add(interceptor) }
        Beagle.dependencies.interceptors = all
        client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: wrapping(transport))
    }

    /// The number of requests that reached the server.
    package var requests: Int { transport.requests.withLock { $0.count } }

    /// Sets the server's response to all later requests.
    package func respond(with response: Outcome) {
        self.response.withLock { $0 = response }
    }

    /// Runs an operation and returns a summary of each result, and of the failure.
    package func results(of operation: NetworkOperation) async -> [String] {
        let results = Lock<[String]>([])
        let outcome = await Result { try await client.run(operation) { result in results.add(result.summary) } }
        switch outcome {
        case .success(let result): results.add(result.summary)
        case .failure(let error): results.add("failure: \(error.kind.rawValue)")
        }
        return results.withLock { $0 }
    }
}

extension NetworkClientDefault {
    /// Waits until no operation is running or watched.
    package func isIdle() async {
        while activeOperations > 0 { await Task.yield() }
    }
}

extension Lock<[String]> {
    fileprivate func add(_ text: String) {
        withLock { $0.append(text) }
    }
}

extension Result<TransferResponse, NetworkError> {
    /// A response with this text.
    package static func text(_ text: String, status: Int = 200, _ fields: HTTPFields = [:]) -> Self {
        let head = HTTPResponse(status: .init(code: status), headerFields: fields)
        return .success(TransferResponse(head: head, body: HTTPBody(text), url: "http://host/"))
    }
}

extension NetworkOperation.Result {
    /// The text of the response, its source and its state.
    package var summary: String {
        (source == .cache ? "stored " : "") + shown
    }
}

extension NetworkOperation {
    /// An operation of a kind, with a policy that reads the store by default.
    package static func storable(_ kind: Kind = .component, _ policy: RequestPolicy = .cacheFirst) -> NetworkOperation {
        var operation = NetworkOperation.of(kind)
        operation.policy = policy
        return operation
    }

    /// The same operation in a partition.
    package func of(partition: String) -> NetworkOperation {
        var operation = self
        operation.partition = partition
        return operation
    }
}
