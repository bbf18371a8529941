public import BeagleNet
public import BeagleNetDependencies
public import BeagleNetRequestBuilder

/// A client that answers from a recording.
///
/// ```swift
/// dependencies.networkClient = ReplayClient(try Recording(contentsOf: "session.bglog"), dependencies: dependencies)
/// ```
///
/// It is a `NetworkClientDefault` over a `ReplayTransport`: messages are built, and their answers pass the container's
/// interceptors, as they do over the network. So they match what was sent, whatever was recorded: screens, images,
/// forms, raw requests, streams and operations of GraphQL.
public final class ReplayClient: NetworkClientWrapper {
    /// What answers.
    public let transport: ReplayTransport
    /// The client that stands on it.
    public var wrapped: any NetworkClient { client }
    private let client: NetworkClientDefault

    /// A client over a transport.
    ///
    /// - Parameters:
    ///   - transport: what answers.
    ///   - dependencies: whose builder, interceptors and logger are used, as with `NetworkClientDefault`.
    ///   - options: timeouts, limits and policies of requests that bring none of their own.
    public init(
        _ transport: ReplayTransport,
        dependencies: any DependencyLogger = Beagle.dependencies,
        options: TransferOptions = TransferOptions()
    ) {
        self.transport = transport
        client = NetworkClientDefault(dependencies: dependencies, transport: transport, options: options)
    }

    /// A client that answers from a recording, and waits by the container's clock.
    ///
    /// - Parameters:
    ///   - recording: what was recorded; `Recording(contentsOf:)` reads a log or an archive.
    ///   - mode: who answers; the recording alone by default.
    ///   - matching: what two messages must have in common to be taken for the same.
    ///   - repeats: what is answered when a message is asked more often than it was recorded.
    ///   - timing: how long answers take; no time by default.
    ///   - dependencies: whose builder, interceptors, logger, redactor and clock are used.
    public convenience init(
        _ recording: Recording,
        mode: ReplayMode = .offline,
        matching: [MatchRule] = .standard,
        repeats: ReplayRepeats = .sequenceThenLast,
        timing: ReplayTiming = .none,
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

    /// Entries that have answered nothing so far, in their order.
    public var unused: [LogEntry] { transport.unused }

    /// Checks that every entry has answered something.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` that names the first that have not.
    public func assertAllUsed() throws(NetworkError) { try transport.assertAllUsed() }

    /// Starts a request and returns at once; its failure is of kind `.notInRecording` where nothing answers it.
    @discardableResult
    public func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        ReplayTransport.$kind.withValue(NetworkOperation(request).kind.name) {
            client.executeRequest(request, completion: completion)
        }
    }

    /// Performs an operation through the container's interceptors; cancelling the task cancels it.
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
