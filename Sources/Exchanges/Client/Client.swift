import BeagleNet
public import BeagleNetDependencies
import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif
#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A client that runs GraphQL operations through a chain of exchanges (SwiftGraphQLClient's `Client`).
///
/// ```swift
/// let client = Client(request: URLRequest(url: url))
/// let subscription = client.query(ExecutionArgs(query: "{ posts { id } }")).sink { print($0.data) }
/// ```
///
/// - Identical operations have the same `id`, a 128-bit hash of kind, URL, header fields, document, operation name,
///   variables and extensions, before exchanges change them. A token that an `AuthExchange` adds isn't included.
///   Subscribers of identical operations share results. Each mutation is unique.
/// - A query publishes results, including those of `reexecute`, for as long as it has subscribers. A mutation publishes
///   one result and finishes. A subscription finishes when the server ends it.
/// - When the last subscriber cancels, a teardown goes down the chain and cancels the request in flight, also of a
///   mutation unless `keepsMutations` is true.
/// - Header fields that hold secrets are scoped to the origin of the operation's original request. They are removed if
///   an exchange sends the operation to another origin.
/// - The client may be used from any thread. Exchanges run one at a time, and an exchange that answers synchronously
///   delivers its result synchronously.
/// - A `FallbackExchange` is below the client's exchanges. It answers operations that no exchange handles with an
///   error.
///
/// Results arrive on any thread. Use `receive(on:)` to choose one.
public final class Client: GraphQLClient, OperationHost {
    /// The default URL and header fields of operations.
    public let request: URLRequest
    /// The logger of the client and its exchanges.
    public let logger: any BeagleLogger
    private let activeOperations: ActiveOperations
    private let keepsMutations: Bool

    /// The active operations and their subscribers.
    ///
    /// `@unchecked Sendable` is sound because `byID`, `cacheOnlyByID`, `count` and the active operations themselves are
    /// accessed only on the chain's serial queue. `numbers` and `scheduled`, which are also accessed from elsewhere,
    /// are protected by locks. `chain` and `redactor` are `Sendable` and never change.
    private final class ActiveOperations: @unchecked Sendable {
        private(set) var byID: [String: ActiveOperation] = [:]
        /// The active operations of queries that only read from a store. Other operations don't get their results.
        private(set) var cacheOnlyByID: [String: ActiveOperation] = [:]
        /// The numbers of the active operations and cache-only queries by id, for callers outside of the serial queue.
        private let numbers = Lock<[String: [Int]]>([:])
        private var count = 0
        /// The operations that are scheduled to run again, by id.
        let scheduled = Lock<[String: Operation]>([:])
        let chain: ExchangeChain
        private let redactor: Redactor

        init(_ chain: ExchangeChain, _ redactor: Redactor) {
            self.chain = chain
            self.redactor = redactor
        }

        /// Returns the operation as it is sent down, with its secret header fields scoped to its origin.
        func prepared(_ operation: Operation, by requester: Int) -> Operation {
            var operation = operation.scopingSecrets(redactor)
            operation.requester = requester
            return operation
        }

        /// Adds an active operation for an operation that has no subscribers yet.
        ///
        /// - Returns: The operation to send down.
        func open(_ operation: Operation, for subscriber: any ResultSubscriber) -> Operation {
            count += 1
            let operation = prepared(operation, by: count)
            let active = ActiveOperation(operation, for: subscriber, number: count)
            if operation.isCacheOnlyQuery { cacheOnlyByID[operation.id] = active } else { byID[operation.id] = active }
            numbers.withLock { [id = operation.id, number = count] in $0[id, default: []].append(number) }
            return operation
        }

        /// Removes an active operation, and sends a teardown down the chain unless another active operation has the
        /// same id.
        ///
        /// - Returns: Whether the active operation was still there.
        @discardableResult func close(_ active: ActiveOperation, tearsDown: Bool = true) -> Bool {
            let id = active.operation.id
            guard isOpen(active) else { return false }
            if byID[id] === active { byID[id] = nil } else { cacheOnlyByID[id] = nil }
            let isLast = numbers.withLock { [number = active.number] numbers in
                numbers[id]?.removeAll { $0 == number }
                guard numbers[id]?.isEmpty == true else { return false }
                numbers[id] = nil
                return true
            }
            if isLast, tearsDown { chain.send(active.operation.teardown) }
            return true
        }

        func isOpen(_ active: ActiveOperation) -> Bool {
            byID[active.operation.id] === active || cacheOnlyByID[active.operation.id] === active
        }

        /// Returns the active operation that identical operations share.
        func active(for operation: Operation) -> ActiveOperation? {
            operation.isCacheOnlyQuery ? cacheOnlyByID[operation.id] : byID[operation.id]
        }

        /// The number of entries in all tables.
        var entryCount: Int {
            byID.count + cacheOnlyByID.count + numbers.withLock { $0.count } + scheduled.withLock { $0.count }
        }

        /// Returns the numbers of the current active operations of an id. May be called from any thread.
        func numbers(of id: String) -> [Int] { numbers.withLock { $0[id] ?? [] } }
    }

    /// Creates a client with the given exchanges.
    ///
    /// - Parameters:
    ///   - request: The default URL and header fields of operations.
    ///   - exchanges: The exchanges. The first is at the top.
    ///   - logger: The logger, or `nil` for the logger of `Beagle.dependencies`.
    ///   - keepsMutations: Whether a mutation continues when its last subscriber cancels. The default is `false`, which
    ///     cancels it.
    public init(
        request: URLRequest,
        exchanges: [any Exchange],
        logger: (any BeagleLogger)? = nil,
        keepsMutations: Bool = false
    ) {
        let logger = logger ?? Beagle.dependencies.logger
        self.request = request
        self.logger = logger
        self.keepsMutations = keepsMutations
        let queue = SerialQueue()
        let reference = ClientReference(request: request, logger: logger, in: queue)
        let all = exchanges + [FallbackExchange(answers: true)]
        activeOperations = ActiveOperations(
            ExchangeChain(all, client: reference, in: queue, bottom: { _ in Empty().eraseToAnyPublisher() }) {
                (reference.client as? Client)?.receive($0)
            },
            Beagle.dependencies.redactor
        )
        reference.client = self
    }

    deinit {
        activeOperations.chain.close()
    }

    /// The number of entries for active operations. Must be read on the serial queue.
    var count: Int { activeOperations.entryCount }

    /// The serial queue of the chain.
    var queue: SerialQueue { activeOperations.chain.queue }

    /// Returns a publisher that runs an operation when it is subscribed to.
    ///
    /// Each subscriber runs the operation and shares its results.
    public func execute(operation: Operation) -> AnyPublisher<OperationResult, Never> {
        OperationPublisher(client: self, operation: operation).eraseToAnyPublisher()
    }

    /// Runs an active operation again, or ends it if the kind is `.teardown`.
    ///
    /// This happens after the operations and results that are being processed. If several operations with the same `id`
    /// are pending, only the last one runs. A teardown ends the operations that are active when this is called, and
    /// none that start later.
    public func reexecute(operation: Operation) {
        let id = operation.id
        guard operation.kind != .teardown else {
            let targets = activeOperations.numbers(of: id)
            if targets.isEmpty { return }
            return activeOperations.chain.queue.enqueue { [self] in
                for active in [activeOperations.byID[id], activeOperations.cacheOnlyByID[id]] {
                    if let active, targets.contains(active.number) { end(active) }
                }
            }
        }
        let isNew = activeOperations.scheduled.withLock { $0.updateValue(operation, forKey: id) == nil }
        guard isNew else { return }
        activeOperations.chain.queue.enqueue { [self] in
            let operation = activeOperations.scheduled.withLock { $0.removeValue(forKey: id) }
            guard let operation else { return }
            if let active = activeOperations.byID[id] { return send(operation, of: active) }
            guard let cacheOnly = activeOperations.cacheOnlyByID[id] else { return }
            // A cache-only query of a store doesn't send a request on behalf of another subscriber that has cancelled.
            let isOfOtherOperation = operation.requester != nil && operation.requester != cacheOnly.number
            send(isOfOtherOperation ? operation.with(policy: .cacheOnly) : operation, of: cacheOnly)
        }
    }

    // MARK: - On the serial queue

    func addSubscriber(_ subscriber: any ResultSubscriber, _ operation: Operation) {
        activeOperations.chain.queue.run { [self] in
            // The subscriber may have cancelled while other work ran.
            if subscriber.isFinished { return }
            guard operation.kind != .teardown else {
                reexecute(operation: operation)
                return subscriber.finish()
            }
            guard let active = activeOperations.active(for: operation) else {
                return activeOperations.chain.send(activeOperations.open(operation, for: subscriber))
            }
            active.subscribers.append(subscriber)
            // The server sends events without being asked, to all subscribers.
            guard operation.kind != .subscription else { return }
            let (count, last) = (active.count, active.last)
            send(operation, of: active)
            // Earlier subscribers have already received this result.
            if let last, !last.isSettled, active.count == count { subscriber.receive(last) }
        }
    }

    func removeSubscriber(_ subscriber: any ResultSubscriber, _ operation: Operation) {
        activeOperations.chain.queue.run { [self] in
            guard let active = activeOperations.active(for: operation) else { return }
            active.subscribers.removeAll { $0 === subscriber }
            guard active.subscribers.isEmpty else { return }
            activeOperations.close(active, tearsDown: active.operation.kind != .mutation || !keepsMutations)
        }
    }

    /// Sends an operation down again, and marks the last result as stale unless a new result arrives synchronously.
    private func send(_ operation: Operation, of active: ActiveOperation) {
        let count = active.count
        let operation = activeOperations.prepared(operation, by: active.number)
        active.operation = operation
        activeOperations.chain.send(operation)
        guard active.count == count, operation.policy != .cacheOnly, activeOperations.isOpen(active),
            var last = active.last, last.isSettled
        else { return }
        last.stale = true
        active.last = last
        active.deliver(last)
    }

    private func receive(_ result: OperationResult) {
        let (active, cacheOnly) = (activeOperations.byID[result.id], activeOperations.cacheOnlyByID[result.id])
        if let cacheOnly { receive(result, for: cacheOnly) }
        // Results that were read from a store are only for the cache-only query, unless an exchange changed the policy
        // of this active operation's operation.
        guard let active else { return }
        let isForCacheOnly =
            cacheOnly != nil && result.operation.isCacheOnlyQuery && result.operation.requester != active.number
        if !isForCacheOnly { receive(result, for: active) }
    }

    private func receive(_ result: OperationResult, for active: ActiveOperation) {
        active.count += 1
        // Closes the active operation before its last result is delivered, because a subscriber may start the operation
        // again.
        switch active.operation.kind {
        case .mutation:
            if result.isSettled { activeOperations.close(active, tearsDown: false) }
        case .subscription:
            if result.hasNext == false { activeOperations.close(active) }
        case .query, .teardown:
            active.last = result
        }
        active.deliver(result)
        if active.operation.kind != .query, !activeOperations.isOpen(active) { active.finish() }
    }

    /// Ends an active operation and completes its subscribers.
    private func end(_ active: ActiveOperation) {
        if activeOperations.close(active) { active.finish() }
    }
}
