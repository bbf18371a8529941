import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

/// One exchange hosted in a pipeline. A test runs operations of the pipeline and provides the results below the exchange.
final class HostedFixture: ExchangeChainFixture {
    /// Records operations and results, and adds the types that a test specifies, because messages don't contain them.
    private struct RecordingExchange: Exchange {
        let exchange: any Exchange
        let log: ExchangeEventLog

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            let (log, exchange) = (log, exchange)
            let typed = operations.map { operation in
                var operation = operation
                let types = operation.request.value(forHTTPHeaderField: "X-Types") ?? ""
                operation.types = types.split(separator: " ").map(String.init)
                return operation
            }
            return
                exchange
                .register(
                    client: ReexecutionRecorder(client: client, log: log),
                    operations: typed.eraseToAnyPublisher()
                ) {
                    next($0.handleEvents(receiveOutput: { log.note(forwarded: $0) }).eraseToAnyPublisher())
                }
                .handleEvents(receiveOutput: { log.note(result: $0) })
                .eraseToAnyPublisher()
        }
    }

    /// The client of the exchange. It records reexecuted operations.
    private struct ReexecutionRecorder: GraphQLClient {
        let client: any GraphQLClient
        let log: ExchangeEventLog

        var request: URLRequest { client.request }
        var logger: any BeagleLogger { client.logger }
        func execute(operation: Operation) -> AnyPublisher<OperationResult, Never> {
            client.execute(operation: operation)
        }

        func reexecute(operation: Operation) {
            log.note(again: operation)
            client.reexecute(operation: operation)
        }
    }

    let log = ExchangeEventLog()
    /// The rest of the pipeline below the exchange.
    let below: HeldPipeline
    /// The hosted exchanges.
    let chain: HostedExchangeChain
    private let pipeline: Pipeline
    private let tasks = Lock<[(name: String, task: Task<HostedRun.Outcome, Never>)]>([])

    convenience init(_ exchange: any Exchange, logger: any BeagleLogger = OffLogger()) throws {
        try self.init([exchange], below: HeldPipeline(), logger: logger)
    }

    init(_ exchanges: [any Exchange], below: HeldPipeline, logger: any BeagleLogger = OffLogger()) throws {
        self.below = below
        let exchange = ComposeExchange(exchanges: exchanges)
        let interceptor = ExchangeInterceptor([RecordingExchange(exchange: exchange, log: log)], logger: logger)
        chain = interceptor.chain
        pipeline = try Pipeline([interceptor, below], transport: NoTransport())
    }

    /// The number of entries for operations in flight.
    var count: Int {
        get async {
            await withCheckedContinuation { continuation in
                chain.queue.enqueue { [chain] in continuation.resume(returning: chain.count) }
            }
        }
    }

    /// Starts an operation in the pipeline.
    func ask(_ operation: Operation) async {
        _ = run(operation)
        await settle()
    }

    /// Starts an operation in the pipeline and returns a task with its outcome.
    func run(_ operation: Operation) -> Task<HostedRun.Outcome, Never> {
        let task = Task.begunWithValue { [pipeline] in
            await HostedRun.Outcome.catching { () throws(NetworkError) in
                try await pipeline.run(try operation.ofPipeline()) { _ in }
            }
        }
        tasks.withLock { $0.append((operation.id, task)) }
        return task
    }

    /// Sends a result of the operation that arrived below. The last result ends the operation, and others are emitted.
    func answer(_ result: OperationResult) async {
        let name = result.operation.id
        let policy = RequestPolicy(result.operation.policy)
        var held: HeldPipeline.Held?
        while held == nil {
            held = below.held.first { $0.name == name && $0.operation.policy == policy }
            if held == nil { await Task.yield() }
        }
        guard let held else { return }
        let count = log.results.count
        if result.stale == true || result.hasNext == true {
            held.emit(result)
        } else {
            below.end(held, result)
        }
        while log.results.count == count { await Task.yield() }
        await settle()
    }

    /// Cancels the executions of an operation.
    func leave(_ operation: Operation) async {
        let left = tasks.withLock { tasks in
            let left = tasks.filter { $0.name == operation.id }
            tasks.removeAll { $0.name == operation.id }
            return left
        }
        for (_, task) in left { task.cancel() }
        for (_, task) in left { _ = await task.value }
        await settle()
    }

    /// Cancels all executions and waits until they end.
    func end() async {
        let all = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for (_, task) in all { task.cancel() }
        for (_, task) in all { _ = await task.value }
        await settle()
    }

    /// Waits until all queued work and its consequences are done.
    func settle() async {
        for _ in 0..<2 {
            await withCheckedContinuation { continuation in chain.queue.enqueue { continuation.resume() } }
        }
    }
}

/// The rest of the pipeline. It holds operations until a test provides their results.
final class HeldPipeline: Interceptor {
    struct Held: Sendable {
        let number: Int
        let operation: NetworkOperation
        let name: String
        let onEmit: @Sendable (NetworkOperation.Result) -> Void
        let outcome: CheckedContinuation<HostedRun.Outcome, Never>

        func emit(_ result: OperationResult) {
            switch result.ofPipeline {
            case .success(let result): onEmit(result)
            case .failure(let error): Issue.record(error)
            }
        }
    }

    private let state = Lock<(held: [Held], count: Int, cancelled: Int)>(([], 0, 0))
    private let answer: @Sendable (NetworkOperation, Int) -> NetworkOperation.Result?

    /// - Parameter answer: Returns the result of the operation with this number, or `nil` to let the test provide it.
    init(answer: @escaping @Sendable (NetworkOperation, Int) -> NetworkOperation.Result? = { _, _ in nil }) {
        self.answer = answer
    }

    /// The operations without a result.
    var held: [Held] { state.withLock { $0.held } }
    /// The number of operations so far.
    var count: Int { state.withLock { $0.count } }
    /// The number of operations cancelled before they had a result.
    var cancelled: Int { state.withLock { $0.cancelled } }

    func end(_ held: Held, _ result: OperationResult) {
        if remove(held.number) { held.outcome.resume(returning: result.ofPipeline) }
    }

    private func remove(_ number: Int) -> Bool {
        state.withLock { state in
            let count = state.held.count
            state.held.removeAll { $0.number == number }
            return state.held.count < count
        }
    }

    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        if let answer = answer(operation, number) { return answer }
        let name = HTTPField.Name("X-Name").flatMap { operation.transfer.head.headerFields[$0] } ?? ""
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let held = Held(
                    number: number,
                    operation: operation,
                    name: name,
                    onEmit: emit,
                    outcome: continuation
                )
                state.withLock { $0.held.append(held) }
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        return try outcome.get()
    }

    private func cancel(_ number: Int) {
        let held = state.withLock { state in
            let held = state.held.first { $0.number == number }
            state.held.removeAll { $0.number == number }
            if held != nil { state.cancelled += 1 }
            return held
        }
        held?.outcome.resume(returning: .failure(.hostedRunCancelled))
    }
}

extension Operation {
    /// Returns the pipeline's operation, whose message contains the name that tests use.
    func ofPipeline() throws(NetworkError) -> NetworkOperation {
        var operation = self
        operation.request.url = URL(string: "http://host/graphql")
        operation.request.setValue(id, forHTTPHeaderField: "X-Name")
        operation.request.setValue(types.joined(separator: " "), forHTTPHeaderField: "X-Types")
        var networkOperation = NetworkOperation.of(
            try operation.transfer(options: TransferOptions()),
            kind: .init(kind),
            logger: OffLogger()
        )
        networkOperation.policy = RequestPolicy(policy)
        return networkOperation
    }
}

extension OperationResult {
    /// The result or failure as the outcome in a pipeline.
    var ofPipeline: HostedRun.Outcome {
        HostedRun.Outcome { () throws(NetworkError) in
            var members: [String: JSONValue] = ["data": data]
            switch error {
            case nil: break
            case .graphql(let errors)?: members["errors"] = .array(errors.map { ["message": .string($0.message)] })
            case let error?: throw error.networkError ?? NetworkError(.other, during: .response, "no reason")
            }
            return NetworkOperation.Result(
                .response(try NetworkResponse(json: .object(members))),
                isStale: stale == true,
                hasNext: hasNext == true
            )
        }
    }
}

extension Task where Failure == Never {
    /// Creates a task that starts synchronously on this thread, if the system supports that.
    static func begunWithValue(_ body: @escaping @isolated(any) @Sendable () async -> Success) -> Task {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { return Task.immediate(operation: body) }
        return Task(operation: body)
    }
}
