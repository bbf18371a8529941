public import BeagleNet
import BeagleNetGraphQL
public import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that wraps an interceptor: operations pass through it on their way down, and results on their way up.
///
/// ```swift
/// let client = Client(request: request, exchanges: [InterceptorExchange(RetryInterceptor()), FetchExchange()])
/// ```
///
/// The interceptor sees each operation as a JSON message that is posted to the URL of the operation's request. Its
/// changes to the URL and header fields are applied to the operation. It sees transport failures as `NetworkError`s,
/// and GraphQL errors as part of the response. It may call `next` more than once, and each call sends the operation
/// down the chain again.
public struct InterceptorExchange: Exchange {
    private let interceptor: any Interceptor
    private let kinds: Set<Operation.Kind>
    private let redactor: Redactor
    private let clock: any Clock<Duration>

    /// Creates an exchange from an interceptor.
    ///
    /// - Parameters:
    ///   - interceptor: The interceptor that operations pass through.
    ///   - kinds: The kinds of operations that pass through it: queries, mutations and subscriptions by default.
    ///   - redactor: The redactor that says which values must not be logged and must not follow an operation to another
    ///     origin. By default it covers what is secret everywhere. An app that has a redactor of its own passes that
    ///     one.
    ///   - clock: The clock for delays, `ContinuousClock` by default.
    public init(
        _ interceptor: any Interceptor,
        kinds: Set<Operation.Kind> = [.query, .mutation, .subscription],
        redactor: Redactor = Redactor(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.interceptor = interceptor
        self.kinds = kinds.subtracting([.teardown])
        self.redactor = redactor
        self.clock = clock
    }

    /// Connects the exchange to the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        register(
            client: client,
            operations: operations,
            next: next,
            runs: OperationRuns(),
            intercepted: InterceptedOperations()
        )
    }

    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO,
        runs: OperationRuns,
        intercepted: InterceptedOperations
    ) -> AnyPublisher<OperationResult, Never> {
        let (kinds, redactor, clock, logger) = (kinds, redactor, clock, client.logger)
        let pipeline: Pipeline
        do throws(NetworkError) {
            pipeline = try Pipeline([interceptor, BottomInterceptor()], transport: NoTransport())
        } catch {
            logger.log(ExchangeLog(error.description, .error))
            return next(operations)
        }
        return ForwardingPublisher(
            operations,
            next,
            onResult: { result in intercepted.deliver(result) ? nil : result },
            onEnd: { runs.teardownAll() },
            // The interceptor's task sends operations on, so sending must be serialized.
            in: SerialQueue(),
            onOperation: { operation, outputs in
                guard operation.kind != .teardown else {
                    // Before the runs are torn down, or each of them would send a teardown of its own.
                    intercepted.teardown(operation.id)
                    runs.teardown(operation.id)
                    return outputs.forward(operation)
                }
                guard kinds.contains(operation.kind) else { return outputs.forward(operation) }
                runs.start(operation.id) { isActive in
                    let result = await intercepted.run(operation, pipeline, client, outputs, redactor, clock, isActive)
                    await client.runOnQueueAndWait { if isActive() { outputs.answer(result) } }
                }
            }
        )
        .eraseToAnyPublisher()
    }
}

/// The transport of a pipeline that never reaches its transport.
struct NoTransport: HTTPTransport {
    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        completion(
            .failure(NetworkError(.unsupported, during: .build, "an interceptor among exchanges has no transport"))
        )
        return AnyRequestToken()
    }
}
