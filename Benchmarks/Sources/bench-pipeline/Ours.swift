import BeagleNet

/// Our client with its coalescer and default interceptors, without a log. It builds the message of each operation.
struct Ours: MeasuredClient {
    let name: String
    private let client: NetworkClientDefault
    /// A client with a store, or `nil` for responses that aren't stored.
    private let storing: NetworkClientDefault?
    private let type: Request.RequestType
    private let samples: [Request]

    /// Creates a client for components, which are shared, or for raw requests, which aren't.
    init(_ name: String, _ type: Request.RequestType) throws {
        self.name = name
        self.type = type
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        client = NetworkClientDefault(dependencies: dependencies, transport: InstantTransport())
        storing = type.isStored ? Self.storing() : nil
        samples = try Sample.instant.map { try Request(url: Sample.url($0), type: type) }
    }

    private static func storing() -> NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        dependencies.interceptors.add(CacheInterceptor())
        return NetworkClientDefault(dependencies: dependencies, transport: InstantTransport())
    }

    func count(beside active: Int) -> Int { 20_000 }

    var hit: ((_ index: Int) async throws -> Void)? {
        guard let storing else { return nil }
        return { index in
            var operation = NetworkOperation(samples[index & 63])
            // The transport doesn't declare that it keeps no cookies.
            operation.partition = "user"
            operation.policy = .cacheFirst
            let result = try await storing.run(operation)
            guard index < 0 || result.source == .cache else { throw NotStored() }
        }
    }

    struct NotStored: Error {}

    func run(_ index: Int) async throws {
        _ = try await client.run(NetworkOperation(samples[index & 63]))
    }

    func watch(_ index: Int) {
        client.watch(NetworkOperation(samples[index & 63])) { _ in }?.cancel()
    }

    var progress: (() throws -> Void)? {
        {
            var operation = NetworkOperation(Request(url: try Sample.url(Sample.progress), type: type))
            operation.reportsProgress = true
            client.watch(operation) { _ in }?.cancel()
        }
    }

    func wait(_ index: Int) throws -> () -> Void {
        let request = Request(url: try Sample.url(Sample.waiting(index)), type: type)
        let token = client.watch(NetworkOperation(request)) { _ in }
        return { token?.cancel() }
    }

    func message() async throws -> Cost {
        let builder = client.httpRequestBuilder
        let count = count(beside: 0)
        return try await .of(count) {
            for index in 0..<count { _ = try builder.build(samples[index & 63]) }
        }
    }
}

extension Request.RequestType {
    fileprivate var isStored: Bool {
        if case .fetchComponent = self { return true }
        return false
    }
}
