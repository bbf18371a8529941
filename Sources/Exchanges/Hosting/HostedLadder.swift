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

/// A ladder in a pipeline: operations of the pipeline are sent in at the top, what no exchange handles goes on below, and
/// what comes of that goes up.
///
/// `@unchecked Sendable` is sound because `rows`, `readers`, and the rows themselves, are reached only in turns of the
/// ladder's lane (`begin`, `leave`, `arrive`, `goOn`, `rise`, `join`, `reexecute`; results come out at the top in turns too).
/// All else is `Sendable` and never changes.
final class HostedLadder: GraphQLClient, OperationHost, @unchecked Sendable {
    /// What is under way of one id.
    ///
    /// Unchecked, as are the tables of rows, or the runtime would look at each access: they are reached in turns of the lane
    /// alone, and nothing that changes one of them calls what could reach it too, as whoever changes it holds what is taken out.
    ///
    /// `@unchecked Sendable` is sound because its number and operation never change, and the rest is read and changed in those
    /// turns alone: the task of a run, to which `arrive` gives its row, and the task that `goOn` begins hand it on to a turn
    /// (`goOn`, `rise`) and look at nothing of it themselves.
    final class Row: @unchecked Sendable {
        /// No other has it: what comes late of one that is over is told by it from what is of the next.
        let number: Int
        /// What was asked first.
        let operation: Operation
        @exclusivity(unchecked) var runs: [HostedRun] = []
        /// What goes on below, each under a number of its own.
        @exclusivity(unchecked) var tasks: [(number: Int, task: Task<Void, Never>)] = []
        /// Whether nobody waits for it any more: what comes late is not for who asks next.
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
    /// Those of queries that are to be answered from a store alone: what is asked otherwise is not answered by theirs.
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

    /// How much is under way: rows, and operations that exchanges run. To be asked in a turn.
    var count: Int { rows.count + readers.count + executions.withLock { $0.count } }

    // MARK: - What runs

    /// Takes an operation of the pipeline through the ladder.
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

    /// Its task was cancelled.
    private func leave(_ run: HostedRun, _ operation: Operation) {
        run.tell(.outcome(.failure(.hostedRunCancelled)))
        lane.run { [self] in
            guard let row = operation.isReading ? readers[operation.id] : rows[operation.id] else { return }
            row.runs.removeAll { $0 === run }
            guard row.runs.isEmpty else { return }
            close(row)
        }
    }

    /// Whose operation it is: that of its run, which an exchange may have given another policy; else that of its sort.
    private func row(of operation: Operation) -> Row? {
        let (row, reader) = (rows[operation.id], readers[operation.id])
        guard let reader else { return row }
        if let number = operation.run?.row {
            if reader.number == number { return reader }
            if row?.number == number { return row }
        }
        return operation.isReading ? reader : row
    }

    /// An operation has come to the bottom. The task that waits for it goes on with it, as it has the context of who asked.
    private func arrive(_ operation: Operation) {
        // The last exchange may send it from anywhere.
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

    /// Goes on below the ladder, in a task of its own: an exchange may answer meanwhile.
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

    /// What comes from below goes up, unless nobody waits any more.
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

    /// A result has come out at the top, in a turn.
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

    /// Nobody waits for it any more, which exchanges are told, unless somebody waits for the same in another way.
    private func close(_ row: Row) {
        row.isOver = true
        let id = row.operation.id
        let isLast = clear(row, from: &rows[id])
        if readers.isEmpty || clear(row, from: &readers[id]), isLast { ladder.send(row.operation.teardown) }
        row.tasks.forEach { $0.task.cancel() }
        row.tasks = []
    }

    /// - Returns: whether nothing is there now.
    private func clear(_ row: Row, from place: inout Row?) -> Bool {
        if place === row { place = nil }
        return place == nil
    }

    // MARK: - What exchanges ask for

    /// A teardown ends the rows that are there when this is called, as that of a `Client` does, with whoever joins them until
    /// it has its turn; what is begun after them goes on.
    func reexecute(operation: Operation) {
        let last = numbers.load(ordering: .relaxed)
        lane.runLater { [self] in
            let rows = [rows[operation.id], readers[operation.id]].compactMap(\.self)
            guard operation.kind == .teardown else {
                if !rows.isEmpty { ladder.send(operation) }
                return
            }
            for row in rows where row.number <= last {
                // Whoever waits for a subscription has heard all that there was.
                let isSubscription = row.operation.kind == .subscription
                finish(row, isSubscription ? .success(.init(.connection(.ended))) : .failure(.endedWithoutAnswer))
            }
        }
    }

    func execute(operation: Operation) -> AnyPublisher<OperationResult, Never> {
        OperationPublisher(client: self, operation: operation).eraseToAnyPublisher()
    }

    /// It is run with the surroundings of an operation that is under way, as that of the exchange's who asks.
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

    /// Who it asks as: the operation that it was made of; else one of those under way, of its own origin where there is one, and
    /// as nobody where several ask there.
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
    /// Who asks, and who is trusted to answer, are for another origin.
    mutating func forgetOrigin() {
        let standard = TransferOptions()
        dropCredentials()
        trust = standard.trust
        pins = standard.pins
        unixSocket = standard.unixSocket
    }
}

extension NetworkOperation {
    /// Whether its answer is GraphQL's.
    var isGraphQL: Bool { [.query, .mutation, .subscription].contains(kind) }
}

extension Task where Failure == Never, Success == Void {
    /// A task that begins at once, on this thread, where the system can do that.
    static func begun(_ body: @escaping @isolated(any) @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate(operation: body)
        }
        return Task(operation: body)
    }
}
