import BeagleNet
import BeagleNetTesting

/// A server, a store before it, and a client that asks both.
final class StoreWorld: Sendable {
    typealias Outcome = Result<TransferResponse, NetworkError>

    let store: MemoryResponseStore
    let transport: ScriptedTransport
    let client: NetworkClientDefault
    private let answer: Lock<Outcome>

    /// - Parameters:
    ///   - interceptors: besides the cache and the one that makes failures of statuses.
    ///   - answers: makes the answer to a message, where it is not the one that was set.
    init(
        _ interceptors: any Interceptor...,
        store: MemoryResponseStore = MemoryResponseStore(),
        wrapping: (ScriptedTransport) -> any HTTPTransport = { $0 },
        answers: (@Sendable (TransferRequest) -> Outcome)? = nil
    ) {
        let answer = Lock<Outcome>(.text("1"))
        self.answer = answer
        self.store = store
        transport = ScriptedTransport { request in answers?(request) ?? answer.withLock { $0 } }
        var all: [any Interceptor] = [CacheInterceptor(store), StatusInterceptor()]
        for interceptor in interceptors { all.add(interceptor) }
        Beagle.dependencies.interceptors = all
        client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: wrapping(transport))
    }

    /// How many messages reached the server.
    var requests: Int { transport.requests.withLock { $0.count } }

    /// What the server answers from now on.
    func answers(_ answer: Outcome) {
        self.answer.withLock { $0 = answer }
    }

    /// Everything that somebody hears who waits for the answer.
    func heard(_ operation: NetworkOperation) async -> [String] {
        let heard = Lock<[String]>([])
        let outcome = await Result { try await client.run(operation) { result in heard.add(result.told) } }
        switch outcome {
        case .success(let result): heard.add(result.told)
        case .failure(let error): heard.add("failure: \(error.kind.rawValue)")
        }
        return heard.withLock { $0 }
    }
}

extension NetworkClientDefault {
    /// Waits until nothing is under way or watched.
    func isIdle() async {
        while activeOperations > 0 { await Task.yield() }
    }
}

extension Lock<[String]> {
    fileprivate func add(_ text: String) {
        withLock { $0.append(text) }
    }
}

extension Result<TransferResponse, NetworkError> {
    /// An answer of this text.
    static func text(_ text: String, status: Int = 200, _ fields: HTTPFields = [:]) -> Self {
        let head = HTTPResponse(status: .init(code: status), headerFields: fields)
        return .success(TransferResponse(head: head, body: HTTPBody(text), url: "http://host/"))
    }
}

extension NetworkOperation.Result {
    /// The text of the answer, where it is from and how good it is.
    var told: String {
        (source == .cache ? "stored " : "") + shown
    }
}

extension NetworkOperation {
    /// An operation of the kind that may be stored, unless told otherwise.
    static func asking(_ kind: Kind = .component, _ policy: RequestPolicy = .cacheFirst) -> NetworkOperation {
        var operation = NetworkOperation.of(kind)
        operation.policy = policy
        return operation
    }

    /// The same of a partition.
    func of(partition: String) -> NetworkOperation {
        var operation = self
        operation.partition = partition
        return operation
    }
}
