public import BeagleNet
public import BeagleNetDependencies
public import BeagleNetRequestBuilder

/// A client that returns responses from a recording.
///
/// ```swift
/// dependencies.networkClient = ReplayClient(try Recording(contentsOf: "session.bglog"), dependencies: dependencies)
/// ```
///
/// It is a `NetworkClientDefault` over a `ReplayTransport`. Requests are built as usual, and pass the container's
/// interceptors as they would over the network. They therefore match the recorded requests for all kinds of operations:
/// screens, images, forms, raw requests, streams and GraphQL operations.
public final class ReplayClient: NetworkClientWrapper {
    /// The transport that replays the recording.
    public let transport: ReplayTransport
    /// The client that uses the transport.
    public var wrapped: any NetworkClient { client }
    private let client: NetworkClientDefault

    /// Creates a client over a transport.
    ///
    /// - Parameters:
    ///   - transport: the transport that replays the recording.
    ///   - dependencies: the container whose builder, interceptors and logger are used, as in `NetworkClientDefault`.
    ///   - options: the timeouts, limits and policies of requests without their own.
    public init(
        _ transport: ReplayTransport,
        dependencies: any DependencyLogger = Beagle.dependencies,
        options: TransferOptions = TransferOptions()
    ) {
        self.transport = transport
        client = NetworkClientDefault(dependencies: dependencies, transport: transport, options: options)
    }

    /// Creates a client that replays a recording, using the container's clock.
    ///
    /// - Parameters:
    ///   - recording: the recording; `Recording(contentsOf:)` reads a log or an archive.
    ///   - mode: the source of responses; only the recording by default.
    ///   - matching: the rules that determine which requests match.
    ///   - repeats: the response to a request that is sent more often than it was recorded.
    ///   - timing: the timing of responses; immediate by default.
    ///   - dependencies: the container whose builder, interceptors, logger, redactor and clock are used.
    public convenience init(
        _ recording: Recording,
        mode: ReplayTransport.Mode = .offline,
        matching: [ReplayTransport.MatchRule] = .standard,
        repeats: ReplayTransport.Repeats = .sequenceThenLast,
        timing: ReplayTransport.Timing = .none,
        dependencies: BeagleDependencies = Beagle.dependencies
    ) {
        let transport = ReplayTransport(
            recording,
            mode: mode,
            matching: matching,
            repeats: repeats,
            timing: timing,
            redactor: dependencies.redactor,
            clock: dependencies.clock
        )
        self.init(transport, dependencies: dependencies)
    }

    /// The entries that have not been used, in their order.
    public var unused: [LogEntry] { transport.unused }

    /// Checks that every entry was used.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` that names the first unused entries.
    public func assertAllUsed() throws(NetworkError) { try transport.assertAllUsed() }

    /// Starts a request and returns immediately. It fails with an error of kind `.notInRecording` if no entry matches.
    @discardableResult
    public func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        ReplayTransport.$kind.withValue(NetworkOperation(request).kind.name) {
            client.executeRequest(request, completion: completion)
        }
    }

    /// Performs an operation through the container's interceptors.
    ///
    /// Cancelling the task cancels the operation.
    nonisolated(nonsending) public func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await NetworkError.catching {
            try await ReplayTransport.$kind.withValue(operation.kind.name) {
                try await client.run(operation, emit: emit)
            }
        }
    }

    /// Watches an operation; see `watch(_:in:_:)`.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        ReplayTransport.$kind.withValue(operation.kind.name) {
            client.watch(operation, ownedBy: scopes, receive)
        }
    }
}
