public import BeagleNet
import BeagleNetGraphQL
public import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An interceptor of ours as an exchange: operations go through it on their way down, results on their way up.
///
/// ```swift
/// let client = Client(request: request, exchanges: [InterceptorExchange(RetryInterceptor()), FetchExchange()])
/// ```
///
/// It sees the message that the operation is: JSON posted to the URL of its request. What it changes of URL and header
/// fields is changed in the operation. A result's errors are `NetworkError`s to it, those of the server are part of the
/// answer. It may call `next` again: the operation goes down once more.
public struct InterceptorExchange: Exchange {
    private let interceptor: any Interceptor
    private let kinds: Set<Operation.Kind>
    private let redactor: Redactor
    private let clock: any Clock<Duration>

    /// An exchange that has an interceptor do its work.
    ///
    /// - Parameters:
    ///   - interceptor: what operations go through.
    ///   - kinds: which operations; queries, mutations and subscriptions by default.
    ///   - redactor: tells it what must not be shown, and must not follow an operation to another origin; by default what is
    ///     secret everywhere. An app that has one of its own gives that.
    ///   - clock: what it waits by; `ContinuousClock` by default.
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

    /// Hooks it into the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        register(client: client, operations: operations, next: next, runs: OperationRuns(), crossings: Crossings())
    }

    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO,
        runs: OperationRuns,
        crossings: Crossings
    ) -> AnyPublisher<OperationResult, Never> {
        let (kinds, redactor, clock, logger) = (kinds, redactor, clock, client.logger)
        let pipeline: Pipeline
        do throws(NetworkError) {
            pipeline = try Pipeline([interceptor, BottomInterceptor()], transport: NoTransport())
        } catch {
            logger.log(ExchangeLog(error.description, .error))
            return next(operations)
        }
        return Fork(
            operations,
            next,
            onResult: { result in crossings.take(result) ? nil : result },
            onEnd: { runs.teardownAll() },
            // What the interceptor lets pass is sent on from its task.
            in: Lane(),
            onOperation: { operation, ways in
                guard operation.kind != .teardown else {
                    // First, or each that waits would send a teardown of its own.
                    crossings.teardown(operation.id)
                    runs.teardown(operation.id)
                    return ways.forward(operation)
                }
                guard kinds.contains(operation.kind) else { return ways.forward(operation) }
                runs.start(operation.id) { isWanted in
                    let result = await crossings.run(operation, pipeline, client, ways, redactor, clock, isWanted)
                    await client.waitForTurn { if isWanted() { ways.answer(result) } }
                }
            }
        )
        .eraseToAnyPublisher()
    }
}
