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
/// `@unchecked Sendable` is sound because `groups`, `cacheOnlyGroups` and the groups themselves are accessed only on
/// the chain's serial queue (in `start`, `cancel`, `receiveForwarded`, `forward`, `runRest`, `sendUp`, `addSubscriber`
/// and `reexecute`; results leave the top of the chain there too). All other properties are `Sendable` and never change.
final class HostedExchangeChain: GraphQLClient, OperationHost, @unchecked Sendable {
    /// The operations in flight that share an id.
    ///
    /// `@exclusivity(unchecked)`, here and for the tables of groups, avoids a runtime check of each access. It is sound
    /// because the variables are accessed only on the serial queue, and code that changes one calls nothing else that
    /// accesses it: removed values are kept alive until the change is over.
    ///
    /// `@unchecked Sendable` is sound because `number` and `operation` never change, and the other properties are read
    /// and changed only on the serial queue. The task of a run, to which `receiveForwarded` passes its group, and the
    /// tasks that `runRest` starts only hand the group to code on that queue (in `runRest` and `sendUp`).
    final class RunGroup: @unchecked Sendable {
        /// A unique number, which tells late results of an ended group from results of the next group.
        let number: Int
        /// The operation as it was first requested.
        let operation: Operation
        @exclusivity(unchecked) var runs: [HostedRun] = []
        /// The tasks that run the rest of the pipeline, each with a number of its own.
        @exclusivity(unchecked) var tasks: [(number: Int, task: Task<Void, Never>)] = []
        /// Whether the group has ended. Late results of an ended group must not reach the next group.
        @exclusivity(unchecked) var isFinished = false

        init(_ number: Int, _ operation: Operation) {
            self.number = number
            self.operation = operation
        }
    }

    let request: URLRequest
    let logger: any BeagleLogger
    let queue: SerialQueue
    private let chain: ExchangeChain
    private let results: SharedStream<OperationResult>
    @exclusivity(unchecked) private var groups: [String: RunGroup] = [:]
    /// The groups of queries that only read from a store. Other operations don't get their results.
    @exclusivity(unchecked) private var cacheOnlyGroups: [String: RunGroup] = [:]
    private let numbers = Atomic(0)
    private let executions = Lock<[ObjectIdentifier: Task<Void, Never>]>([:])

    init(_ exchanges: [any Exchange], request: URLRequest, logger: any BeagleLogger) {
        self.request = request
        self.logger = logger
        let queue = SerialQueue()
        self.queue = queue
        let results = SharedStream<OperationResult>(in: queue)
        self.results = results
        let reference = ClientReference(request: request, logger: logger, in: queue)
        chain = ExchangeChain(
            exchanges,
            client: reference,
            in: queue,
            bottom: { operations in
                ForwardingPublisher(operations, { _ in results.publisher }) { operation, _ in
                    (reference.client as? HostedExchangeChain)?.receiveForwarded(operation)
                }
                .eraseToAnyPublisher()
            },
            onResult: { (reference.client as? HostedExchangeChain)?.receive($0) }
        )
        reference.client = self
    }

    deinit {
        chain.close()
    }

    /// The number of groups and of operations that exchanges run. Must be read on the serial queue.
    var count: Int { groups.count + cacheOnlyGroups.count + executions.withLock { $0.count } }

    // MARK: - Running operations

    /// Runs an operation of the pipeline through the exchange chain.
    nonisolated(nonsending) func run(
        _ run: HostedRun,
        _ operation: Operation
    ) async throws(NetworkError) -> NetworkOperation.Result {
        start(run, operation)
        let outcome = await withTaskCancellationHandler {
            while true {
                switch await run.nextEvent() {
                case .forward(let operation, let group): runRest(with: operation, run, group)
                case .outcome(let outcome): return outcome
                }
            }
        } onCancel: {
            cancel(run, operation)
        }
        return try outcome.get()
    }

    private func start(_ run: HostedRun, _ operation: Operation) {
        queue.run { [self] in
            // The run may have been cancelled while other work ran.
            if run.outputs == nil { return }
            if operation.isCacheOnlyQuery {
                put(run, operation, in: &cacheOnlyGroups[operation.id])
            } else {
                put(run, operation, in: &groups[operation.id])
            }
            chain.send(operation)
        }
    }

    private func put(_ run: HostedRun, _ operation: Operation, in place: inout RunGroup?) {
        let group = place ?? RunGroup(numbers.add(1, ordering: .relaxed).newValue, operation)
        group.runs.append(run)
        run.groupNumber = group.number
        place = group
    }

    /// Removes a run whose task was cancelled.
    private func cancel(_ run: HostedRun, _ operation: Operation) {
        run.send(.outcome(.failure(.hostedRunCancelled)))
        queue.run { [self] in
            guard let group = operation.isCacheOnlyQuery ? cacheOnlyGroups[operation.id] : groups[operation.id] else {
                return
            }
            group.runs.removeAll { $0 === run }
            guard group.runs.isEmpty else { return }
            close(group)
        }
    }

    /// Returns the group of an operation: the group of its run, whose policy an exchange may have changed, or else the
    /// group for operations with the same kind of policy.
    private func group(of operation: Operation) -> RunGroup? {
        let (group, cacheOnlyGroup) = (groups[operation.id], cacheOnlyGroups[operation.id])
        guard let cacheOnlyGroup else { return group }
        if let number = operation.run?.groupNumber {
            if cacheOnlyGroup.number == number { return cacheOnlyGroup }
            if group?.number == number { return group }
        }
        return operation.isCacheOnlyQuery ? cacheOnlyGroup : group
    }

    /// Handles an operation that has reached the bottom of the chain.
    ///
    /// The task that waits for the result continues it, because that task has the caller's task-local context.
    private func receiveForwarded(_ operation: Operation) {
        // The last exchange may send it from any thread.
        queue.run { [self] in
            guard operation.kind != .teardown else {
                for group in [groups[operation.id], cacheOnlyGroups[operation.id]].compactMap(\.self) {
                    group.tasks.forEach { $0.task.cancel() }
                    group.tasks = []
                }
                return
            }
            if let group = group(of: operation) { forward(operation, in: group) }
        }
    }

    /// Passes an operation to its own run, or else to the last one that isn't over.
    private func forward(_ operation: Operation, in group: RunGroup) {
        let event = HostedRun.Event.forward(operation, group: group)
        if let own = group.runs.first(where: { $0 === operation.run }), own.send(event) { return }
        _ = group.runs.last { $0.send(event) }
    }

    /// Runs the rest of the pipeline in a separate task, because an exchange may answer in the meantime.
    private func runRest(with operation: Operation, _ run: HostedRun, _ group: RunGroup) {
        // If the run was cancelled in the meantime, another one of its group continues the operation.
        guard let outputs = run.outputs else { return queue.run { [self] in forward(operation, in: group) } }
        let number = numbers.add(1, ordering: .relaxed).newValue
        let task = Task.startedImmediately { [self] in
            let outcome = await HostedRun.Outcome.catching { () throws(NetworkError) in
                try await outputs.next(run.operation(with: operation)) { result in
                    if !result.isResponse { return outputs.emit(result) }
                    self.sendUp(.success(result), of: operation, group, number)
                }
            }
            sendUp(outcome, of: operation, group, number, isLast: true)
        }
        queue.run {
            if group.isFinished { return task.cancel() }
            group.tasks.append((number, task))
        }
    }

    /// Passes a result of the rest of the pipeline up the chain, unless the group has ended.
    private func sendUp(
        _ outcome: HostedRun.Outcome,
        of operation: Operation,
        _ group: RunGroup,
        _ number: Int,
        isLast: Bool = false
    ) {
        queue.run { [self] in
            if group.isFinished { return }
            if isLast { group.tasks.removeAll { $0.number == number } }
            let pipelineOutcome = PipelineOutcome(
                outcome,
                run: group.number,
                isGraphQL: operation.run?.operation.isGraphQL ?? true
            )
            var (stale, hasNext) = (false, false)
            if case .success(let result) = outcome { (stale, hasNext) = (result.isStale, result.hasNext) }
            results.send(OperationResult(operation: operation, hosted: pipelineOutcome, stale: stale, hasNext: hasNext))
        }
    }

    /// Handles a result that has reached the top of the chain, on the serial queue.
    private func receive(_ result: OperationResult) {
        guard let group = group(of: result.operation) else { return }
        let outcome = result.outcome(in: group.number)
        let hasNext = result.hasNext ?? (result.operation.kind == .subscription)
        if case .success(var emitted) = outcome, hasNext || result.stale == true {
            emitted.hasNext = hasNext
            for run in group.runs { run.outputs?.emit(emitted) }
        } else {
            finish(group, outcome)
        }
    }

    private func finish(_ group: RunGroup, _ outcome: HostedRun.Outcome) {
        close(group)
        for run in group.runs { run.send(.outcome(outcome)) }
    }

    /// Ends a group and sends a teardown down the chain, unless another group has the same id.
    private func close(_ group: RunGroup) {
        group.isFinished = true
        let id = group.operation.id
        let isLast = clear(group, from: &groups[id])
        if cacheOnlyGroups.isEmpty || clear(group, from: &cacheOnlyGroups[id]), isLast {
            chain.send(group.operation.teardown)
        }
        group.tasks.forEach { $0.task.cancel() }
        group.tasks = []
    }

    /// - Returns: Whether the place is now empty.
    private func clear(_ group: RunGroup, from place: inout RunGroup?) -> Bool {
        if place === group { place = nil }
        return place == nil
    }

    // MARK: - Requests from exchanges

    /// Runs an operation again, or ends it if its kind is `.teardown`.
    ///
    /// Like `Client`, a teardown ends the groups that exist when this is called, including runs that join them before
    /// the teardown is processed. Groups that begin later continue.
    func reexecute(operation: Operation) {
        let last = numbers.load(ordering: .relaxed)
        queue.enqueue { [self] in
            let groups = [groups[operation.id], cacheOnlyGroups[operation.id]].compactMap(\.self)
            guard operation.kind == .teardown else {
                if !groups.isEmpty { chain.send(operation) }
                return
            }
            for group in groups where group.number <= last {
                // The subscribers of a subscription have already received all its results.
                let isSubscription = group.operation.kind == .subscription
                finish(group, isSubscription ? .success(.init(.connection(.ended))) : .failure(.endedWithoutResult))
            }
        }
    }

    func execute(operation: Operation) -> AnyPublisher<OperationResult, Never> {
        OperationPublisher(client: self, operation: operation).eraseToAnyPublisher()
    }

    /// Runs an operation for an exchange, with the environment of an operation that is in flight, preferably the
    /// exchange's own.
    func addSubscriber(_ subscriber: any ResultSubscriber, _ operation: Operation) {
        queue.run { [self] in
            guard operation.kind != .teardown else {
                reexecute(operation: operation)
                return subscriber.finish()
            }
            let runs = (Array(groups.values) + cacheOnlyGroups.values).flatMap(\.runs)
            let next = operation.run?.outputs?.next ?? runs.compactMap { $0.outputs?.next }.first
            guard let next, let template = template(for: operation, of: runs.map(\.operation)) else {
                let error = NetworkError(
                    .unsupported,
                    during: .build,
                    "an exchange in a pipeline can run its own operations only while another operation is running"
                )
                subscriber.receive(OperationResult(operation: operation, data: nil, error: .unknown(error)))
                return subscriber.finish()
            }
            let task = Task.startedImmediately { [self] in
                await execute(operation, beside: template, next, for: subscriber)
            }
            executions.withLock { $0[ObjectIdentifier(subscriber)] = task }
            if subscriber.isFinished { removeSubscriber(subscriber, operation) }
        }
    }

    /// Returns the pipeline operation whose credentials and environment an exchange's operation uses.
    ///
    /// This is the operation that it was derived from, or else an operation in flight, preferably one to the same
    /// origin. If the operations to that origin have different credentials, none are used.
    private func template(for operation: Operation, of others: [NetworkOperation]) -> NetworkOperation? {
        if let run = operation.run { return run.operation }
        let sameOrigin = others.filter { Origin(of: $0.transfer.head) == operation.origin }
        guard var template = sameOrigin.first ?? others.first else { return nil }
        let options = template.transfer.options
        let haveSameCredentials = sameOrigin.allSatisfy {
            $0.transfer.options.authentication == options.authentication
                && $0.transfer.options.identity == options.identity
        }
        if !haveSameCredentials { template.transfer.options.dropCredentials() }
        return template
    }

    private func execute(
        _ operation: Operation,
        beside template: NetworkOperation,
        _ next: Pipeline.Next,
        for subscriber: any ResultSubscriber
    ) async {
        let outcome = await HostedRun.Outcome.catching { () throws(NetworkError) in
            var transfer = try operation.transfer(options: template.transfer.options)
            let scoped = template.transfer.originScopedFields
            if Origin(of: transfer.head) == Origin(of: template.transfer.head) {
                transfer.originScopedFields.formUnion(scoped)
            } else {
                transfer.head.headerFields.removeOriginScopedFields(
                    template.transfer.head.headerFields,
                    scoped,
                    template.redactor
                )
                transfer.options.removeOriginSpecificOptions()
            }
            let hosted = HostedRun(template.sibling(transfer, kind: .init(operation.kind)), next: next) { result in
                let pipelineOutcome = PipelineOutcome(.success(result), run: 0, isGraphQL: true)
                subscriber.receive(
                    OperationResult(
                        operation: operation,
                        hosted: pipelineOutcome,
                        stale: result.isStale,
                        hasNext: result.hasNext
                    )
                )
            }
            var exchangeOperation = Operation(
                id: operation.id,
                kind: operation.kind,
                policy: operation.policy,
                run: hosted
            )
            exchangeOperation.types = operation.types
            return try await run(hosted, exchangeOperation)
        }
        subscriber.receive(
            OperationResult(operation: operation, hosted: PipelineOutcome(outcome, run: 0, isGraphQL: true))
        )
        subscriber.finish()
        executions.withLock { $0[ObjectIdentifier(subscriber)] = nil }
    }

    func removeSubscriber(_ subscriber: any ResultSubscriber, _ operation: Operation) {
        executions.withLock { $0.removeValue(forKey: ObjectIdentifier(subscriber)) }?.cancel()
    }
}

extension TransferOptions {
    /// Removes the credentials, and resets trust, pins and Unix socket, because they are for another origin.
    mutating func removeOriginSpecificOptions() {
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
    static func startedImmediately(_ body: @escaping @isolated(any) @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate(operation: body)
        }
        return Task(operation: body)
    }
}
