import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP
import Foundation
import Synchronization
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An exchange chain that runs as part of an interceptor pipeline.
///
/// Operations of the pipeline enter at the top of the chain. Operations that no exchange answers go on to the rest of
/// the pipeline, and their results come back up through the chain.
///
/// `@unchecked Sendable` is sound because `rows`, `readers` and the rows themselves are accessed only on the chain's
/// serial queue (in `begin`, `leave`, `arrive`, `goOn`, `rise`, `join` and `reexecute`; results leave the top of the
/// chain there too). All other properties are `Sendable` and never change.
final class HostedLadder: GraphQLClient, OperationHost, @unchecked Sendable {
    /// The operations in flight that share an id.
    ///
    /// `@exclusivity(unchecked)`, here and for the tables of rows, avoids a runtime check of each access. It is sound
    /// because the variables are accessed only on the serial queue, and code that changes one calls nothing else that
    /// accesses it: removed values are kept alive until the change is over.
    ///
    /// `@unchecked Sendable` is sound because `number` and `operation` never change, and the other properties are read
    /// and changed only on the serial queue. The task of a run, to which `arrive` passes its row, and the tasks that
    /// `goOn` starts only hand the row to code on that queue (in `goOn` and `rise`).
    final class Row: @unchecked Sendable {
        /// A unique number, which tells late results of an ended row from results of the next row.
        let number: Int
        /// The operation as it was first requested.
        let operation: Operation
        @exclusivity(unchecked) var runs: [HostedRun] = []
        /// The tasks that run the rest of the pipeline, each with a number of its own.
        @exclusivity(unchecked) var tasks: [(number: Int, task: Task<Void, Never>)] = []
        /// Whether the row has ended. Late results of an ended row must not reach the next row.
        @exclusivity(unchecked) var isOver = false

        init(_ number: Int, _ operation: Operation) {
            self.number = number
            self.operation = operation
        }
    }

    let request: URLRequest
    let logger: any BeagleLogger
    let lane: Lane
    private let ladder: Ladder
    private let back: Rung<OperationResult>
    @exclusivity(unchecked) private var rows: [String: Row] = [:]
    /// The rows of queries that only read from a store. Other operations don't get their results.
    @exclusivity(unchecked) private var readers: [String: Row] = [:]
    private let numbers = Atomic(0)
    private let executions = Lock<[ObjectIdentifier: Task<Void, Never>]>([:])

    init(_ exchanges: [any Exchange], request: URLRequest, logger: any BeagleLogger) {
        self.request = request
        self.logger = logger
        let lane = Lane()
        self.lane = lane
        let back = Rung<OperationResult>(in: lane)
        self.back = back
        let reference = ClientReference(request: request, logger: logger, in: lane)
        ladder = Ladder(
            exchanges,
            client: reference,
            in: lane,
            bottom: { operations in
                Fork(operations, { _ in back.publisher }) { operation, _ in
                    (reference.client as? HostedLadder)?.arrive(operation)
                }
                .eraseToAnyPublisher()
            },
            onResult: { (reference.client as? HostedLadder)?.receive($0) }
        )
        reference.client = self
    }

    deinit {
        ladder.close()
    }

    /// The number of rows and of operations that exchanges run. Must be read on the serial queue.
    var count: Int { rows.count + readers.count + executions.withLock { $0.count } }

    // MARK: - Running operations

    /// Runs an operation of the pipeline through the exchange chain.
    nonisolated(nonsending) func run(
        _ run: HostedRun,
        _ operation: Operation
    ) async throws(NetworkError) -> NetworkOperation.Result {
        begin(run, operation)
        let outcome = await withTaskCancellationHandler {
            while true {
                switch await run.event() {
                case .forward(let operation, let row): goOn(with: operation, run, row)
                case .outcome(let outcome): return outcome
                }
            }
        } onCancel: {
            leave(run, operation)
        }
        return try outcome.get()
    }

    private func begin(_ run: HostedRun, _ operation: Operation) {
        lane.run { [self] in
            if operation.isReading {
                put(run, operation, in: &readers[operation.id])
            } else {
                put(run, operation, in: &rows[operation.id])
            }
            ladder.send(operation)
        }
    }

    private func put(_ run: HostedRun, _ operation: Operation, in place: inout Row?) {
        let row = place ?? Row(numbers.add(1, ordering: .relaxed).newValue, operation)
        row.runs.append(run)
        run.row = row.number
        place = row
    }

    /// Removes a run whose task was cancelled.
    private func leave(_ run: HostedRun, _ operation: Operation) {
        run.tell(.outcome(.failure(.hostedRunCancelled)))
        lane.run { [self] in
            guard let row = operation.isReading ? readers[operation.id] : rows[operation.id] else { return }
            row.runs.removeAll { $0 === run }
            guard row.runs.isEmpty else { return }
            close(row)
        }
    }

    /// Returns the row of an operation: the row of its run, whose policy an exchange may have changed, or else the row
    /// for operations with the same kind of policy.
    private func row(of operation: Operation) -> Row? {
        let (row, reader) = (rows[operation.id], readers[operation.id])
        guard let reader else { return row }
        if let number = operation.run?.row {
            if reader.number == number { return reader }
            if row?.number == number { return row }
        }
        return operation.isReading ? reader : row
    }

    /// Handles an operation that has reached the bottom of the chain.
    ///
    /// The task that waits for the result continues it, because that task has the caller's task-local context.
    private func arrive(_ operation: Operation) {
        // The last exchange may send it from any thread.
        lane.run { [self] in
            guard operation.kind != .teardown else {
                for row in [rows[operation.id], readers[operation.id]].compactMap(\.self) {
                    row.tasks.forEach { $0.task.cancel() }
                    row.tasks = []
                }
                return
            }
            guard let row = row(of: operation) else { return }
            let run = row.runs.first { $0 === operation.run } ?? row.runs.last
            run?.tell(.forward(operation, row: row))
        }
    }

    /// Runs the rest of the pipeline in a separate task, because an exchange may answer in the meantime.
    private func goOn(with operation: Operation, _ run: HostedRun, _ row: Row) {
        guard let ways = run.ways else { return }
        let number = numbers.add(1, ordering: .relaxed).newValue
        let task = Task.begun { [self] in
            let outcome = await HostedRun.Outcome.catching { () throws(NetworkError) in
                try await ways.next(run.operation(with: operation)) { result in
                    if !result.isAnswer { return ways.emit(result) }
                    self.rise(.success(result), of: operation, row, number)
                }
            }
            rise(outcome, of: operation, row, number, isLast: true)
        }
        lane.run {
            if row.isOver { return task.cancel() }
            row.tasks.append((number, task))
        }
    }

    /// Passes a result of the rest of the pipeline up the chain, unless the row has ended.
    private func rise(
        _ outcome: HostedRun.Outcome,
        of operation: Operation,
        _ row: Row,
        _ number: Int,
        isLast: Bool = false
    ) {
        lane.run { [self] in
            if row.isOver { return }
            if isLast { row.tasks.removeAll { $0.number == number } }
            let answer = HostedAnswer(outcome, run: row.number, isGraphQL: operation.run?.operation.isGraphQL ?? true)
            var (stale, hasNext) = (false, false)
            if case .success(let result) = outcome { (stale, hasNext) = (result.isStale, result.hasNext) }
            back.send(OperationResult(operation: operation, hosted: answer, stale: stale, hasNext: hasNext))
        }
    }

    /// Handles a result that has reached the top of the chain, on the serial queue.
    private func receive(_ result: OperationResult) {
        guard let row = row(of: result.operation) else { return }
        let outcome = result.outcome(in: row.number)
        let hasNext = result.hasNext ?? (result.operation.kind == .subscription)
        if case .success(var given) = outcome, hasNext || result.stale == true {
            given.hasNext = hasNext
            for run in row.runs { run.ways?.emit(given) }
        } else {
            finish(row, outcome)
        }
    }

    private func finish(_ row: Row, _ outcome: HostedRun.Outcome) {
        close(row)
        for run in row.runs { run.tell(.outcome(outcome)) }
    }

    /// Ends a row and sends a teardown down the chain, unless another row has the same id.
    private func close(_ row: Row) {
        row.isOver = true
        let id = row.operation.id
        let isLast = clear(row, from: &rows[id])
        if readers.isEmpty || clear(row, from: &readers[id]), isLast { ladder.send(row.operation.teardown) }
        row.tasks.forEach { $0.task.cancel() }
        row.tasks = []
    }

    /// - Returns: Whether the place is now empty.
    private func clear(_ row: Row, from place: inout Row?) -> Bool {
        if place === row { place = nil }
        return place == nil
    }

    // MARK: - Requests from exchanges

    /// Runs an operation again, or ends it if its kind is `.teardown`.
    ///
    /// Like `Client`, a teardown ends the rows that exist when this is called, including runs that join them before the
    /// teardown is processed. Rows that begin later continue.
    func reexecute(operation: Operation) {
        let last = numbers.load(ordering: .relaxed)
        lane.runLater { [self] in
            let rows = [rows[operation.id], readers[operation.id]].compactMap(\.self)
            guard operation.kind == .teardown else {
                if !rows.isEmpty { ladder.send(operation) }
                return
            }
            for row in rows where row.number <= last {
                // The subscribers of a subscription have already received all its results.
                let isSubscription = row.operation.kind == .subscription
                finish(row, isSubscription ? .success(.init(.connection(.ended))) : .failure(.endedWithoutAnswer))
            }
        }
    }

    func execute(operation: Operation) -> AnyPublisher<OperationResult, Never> {
        OperationPublisher(client: self, operation: operation).eraseToAnyPublisher()
    }

    /// Runs an operation for an exchange, with the environment of an operation that is in flight, preferably the
    /// exchange's own.
    func join(_ listener: any ResultListener, _ operation: Operation) {
        lane.run { [self] in
            guard operation.kind != .teardown else {
                reexecute(operation: operation)
                return listener.end()
            }
            let runs = (Array(rows.values) + readers.values).flatMap(\.runs)
            let next = operation.run?.ways?.next ?? runs.compactMap { $0.ways?.next }.first
            guard let next, let sample = sample(for: operation, of: runs.map(\.operation)) else {
                let error = NetworkError(
                    .unsupported,
                    during: .build,
                    "an exchange in a pipeline can run its own operations only while another operation is running"
                )
                listener.hear(OperationResult(operation: operation, data: nil, error: .unknown(error)))
                return listener.end()
            }
            let task = Task.begun { [self] in await execute(operation, beside: sample, next, for: listener) }
            executions.withLock { $0[ObjectIdentifier(listener)] = task }
            if listener.isOver { leave(listener, operation) }
        }
    }

    /// Returns the pipeline operation whose credentials and environment an exchange's operation uses.
    ///
    /// This is the operation that it was derived from, or else an operation in flight, preferably one to the same
    /// origin. If the operations to that origin have different credentials, none are used.
    private func sample(for operation: Operation, of others: [NetworkOperation]) -> NetworkOperation? {
        if let run = operation.run { return run.operation }
        let alike = others.filter { Origin(of: $0.transfer.head) == operation.origin }
        guard var sample = alike.first ?? others.first else { return nil }
        let options = sample.transfer.options
        let isOfOne = alike.allSatisfy {
            $0.transfer.options.authentication == options.authentication
                && $0.transfer.options.identity == options.identity
        }
        if !isOfOne { sample.transfer.options.dropCredentials() }
        return sample
    }

    private func execute(
        _ operation: Operation,
        beside sample: NetworkOperation,
        _ next: Pipeline.Next,
        for listener: any ResultListener
    ) async {
        let outcome = await HostedRun.Outcome.catching { () throws(NetworkError) in
            var transfer = try operation.transfer(options: sample.transfer.options)
            let scoped = sample.transfer.originScopedFields
            if Origin(of: transfer.head) == Origin(of: sample.transfer.head) {
                transfer.originScopedFields.formUnion(scoped)
            } else {
                transfer.head.headerFields.leaveBehind(sample.transfer.head.headerFields, scoped, sample.redactor)
                transfer.options.forgetOrigin()
            }
            let hosted = HostedRun(sample.beside(transfer, kind: .init(operation.kind)), next: next) { result in
                let answer = HostedAnswer(.success(result), run: 0, isGraphQL: true)
                listener.hear(
                    OperationResult(
                        operation: operation,
                        hosted: answer,
                        stale: result.isStale,
                        hasNext: result.hasNext
                    )
                )
            }
            var asked = Operation(id: operation.id, kind: operation.kind, policy: operation.policy, run: hosted)
            asked.types = operation.types
            return try await run(hosted, asked)
        }
        listener.hear(OperationResult(operation: operation, hosted: HostedAnswer(outcome, run: 0, isGraphQL: true)))
        listener.end()
        executions.withLock { $0[ObjectIdentifier(listener)] = nil }
    }

    func leave(_ listener: any ResultListener, _ operation: Operation) {
        executions.withLock { $0.removeValue(forKey: ObjectIdentifier(listener)) }?.cancel()
    }
}

extension TransferOptions {
    /// Removes the credentials, and resets trust, pins and Unix socket, because they are for another origin.
    mutating func forgetOrigin() {
        let standard = TransferOptions()
        dropCredentials()
        trust = standard.trust
        pins = standard.pins
        unixSocket = standard.unixSocket
    }
}

extension NetworkOperation {
    /// Whether the operation's response is a GraphQL response.
    var isGraphQL: Bool { [.query, .mutation, .subscription].contains(kind) }
}

extension Task where Failure == Never, Success == Void {
    /// Starts a task, immediately on the calling thread if the system supports that.
    static func begun(_ body: @escaping @isolated(any) @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate(operation: body)
        }
        return Task(operation: body)
    }
}
