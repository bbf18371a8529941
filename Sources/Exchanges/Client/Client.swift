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
    private let table: Table
    private let keepsMutations: Bool

    /// The active operations and their subscribers.
    ///
    /// `@unchecked Sendable` is sound because `sources`, `readers`, `count` and the sources themselves are accessed
    /// only on the chain's serial queue. `numbers` and `due`, which are also accessed from elsewhere, are protected by
    /// locks. `ladder` and `redactor` are `Sendable` and never change.
    private final class Table: @unchecked Sendable {
        private(set) var sources: [String: Source] = [:]
        /// The sources of queries that only read from a store. Other operations don't get their results.
        private(set) var readers: [String: Source] = [:]
        /// The numbers of the sources and readers by id, for callers outside of the serial queue.
        private let numbers = Lock<[String: [Int]]>([:])
        private var count = 0
        /// The operations that are scheduled to run again, by id.
        let due = Lock<[String: Operation]>([:])
        let ladder: Ladder
        private let redactor: Redactor

        init(_ ladder: Ladder, _ redactor: Redactor) {
            self.ladder = ladder
            self.redactor = redactor
        }

        /// Returns the operation as it is sent down, with its secret header fields scoped to its origin.
        func asked(_ operation: Operation, by asker: Int) -> Operation {
            var operation = operation.scopingSecrets(redactor)
            operation.asker = asker
            return operation
        }

        /// Adds a source for an operation that has no subscribers yet.
        ///
        /// - Returns: The operation to send down.
        func open(_ operation: Operation, for listener: any ResultListener) -> Operation {
            count += 1
            let operation = asked(operation, by: count)
            let source = Source(operation, for: listener, number: count)
            if operation.isReading { readers[operation.id] = source } else { sources[operation.id] = source }
            numbers.withLock { [id = operation.id, number = count] in $0[id, default: []].append(number) }
            return operation
        }

        /// Removes a source, and sends a teardown down the chain unless another source has the same id.
        ///
        /// - Returns: Whether the source was still there.
        @discardableResult func close(_ source: Source, tearsDown: Bool = true) -> Bool {
            let id = source.operation.id
            guard isOpen(source) else { return false }
            if sources[id] === source { sources[id] = nil } else { readers[id] = nil }
            let isLast = numbers.withLock { [number = source.number] numbers in
                numbers[id]?.removeAll { $0 == number }
                guard numbers[id]?.isEmpty == true else { return false }
                numbers[id] = nil
                return true
            }
            if isLast, tearsDown { ladder.send(source.operation.teardown) }
            return true
        }

        func isOpen(_ source: Source) -> Bool {
            sources[source.operation.id] === source || readers[source.operation.id] === source
        }

        /// Returns the source that identical operations share.
        func source(of operation: Operation) -> Source? {
            operation.isReading ? readers[operation.id] : sources[operation.id]
        }

        /// The number of entries in all tables.
        var kept: Int {
            sources.count + readers.count + numbers.withLock { $0.count } + due.withLock { $0.count }
        }

        /// Returns the numbers of the current sources of an id. May be called from any thread.
        func current(_ id: String) -> [Int] { numbers.withLock { $0[id] ?? [] } }
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
        let lane = Lane()
        let reference = ClientReference(request: request, logger: logger, in: lane)
        let all = exchanges + [FallbackExchange(answers: true)]
        table = Table(
            Ladder(all, client: reference, in: lane, bottom: { _ in Empty().eraseToAnyPublisher() }) {
                (reference.client as? Client)?.receive($0)
            },
            Beagle.dependencies.redactor
        )
        reference.client = self
    }

    deinit {
        table.ladder.close()
    }

    /// The number of entries for active operations. Must be read on the serial queue.
    var count: Int { table.kept }

    /// The serial queue of the chain.
    var lane: Lane { table.ladder.lane }

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
            let meant = table.current(id)
            if meant.isEmpty { return }
            return table.ladder.lane.runLater { [self] in
                for source in [table.sources[id], table.readers[id]] {
                    if let source, meant.contains(source.number) { end(source) }
                }
            }
        }
        let isNew = table.due.withLock { $0.updateValue(operation, forKey: id) == nil }
        guard isNew else { return }
        table.ladder.lane.runLater { [self] in
            let operation = table.due.withLock { $0.removeValue(forKey: id) }
            guard let operation else { return }
            if let source = table.sources[id] { return send(operation, of: source) }
            guard let reader = table.readers[id] else { return }
            // A reader of a store doesn't send a request on behalf of another subscriber that has cancelled.
            let isOfAnother = operation.asker != nil && operation.asker != reader.number
            send(isOfAnother ? operation.with(policy: .cacheOnly) : operation, of: reader)
        }
    }

    // MARK: - On the serial queue

    func join(_ listener: any ResultListener, _ operation: Operation) {
        table.ladder.lane.run { [self] in
            // The subscriber may have cancelled while other work ran.
            if listener.isOver { return }
            guard operation.kind != .teardown else {
                reexecute(operation: operation)
                return listener.end()
            }
            guard let source = table.source(of: operation) else {
                return table.ladder.send(table.open(operation, for: listener))
            }
            source.listeners.append(listener)
            // The server sends events without being asked, to all subscribers.
            guard operation.kind != .subscription else { return }
            let (count, last) = (source.count, source.last)
            send(operation, of: source)
            // Earlier subscribers have already received this result.
            if let last, !last.isSettled, source.count == count { listener.hear(last) }
        }
    }

    func leave(_ listener: any ResultListener, _ operation: Operation) {
        table.ladder.lane.run { [self] in
            guard let source = table.source(of: operation) else { return }
            source.listeners.removeAll { $0 === listener }
            guard source.listeners.isEmpty else { return }
            table.close(source, tearsDown: source.operation.kind != .mutation || !keepsMutations)
        }
    }

    /// Sends an operation down again, and marks the last result as stale unless a new result arrives synchronously.
    private func send(_ operation: Operation, of source: Source) {
        let count = source.count
        let operation = table.asked(operation, by: source.number)
        source.operation = operation
        table.ladder.send(operation)
        guard source.count == count, operation.policy != .cacheOnly, table.isOpen(source),
            var last = source.last, last.isSettled
        else { return }
        last.stale = true
        source.last = last
        source.deliver(last)
    }

    private func receive(_ result: OperationResult) {
        let (source, reader) = (table.sources[result.id], table.readers[result.id])
        if let reader { receive(result, for: reader) }
        // Results that were read from a store are only for the reader, unless an exchange changed the policy of this
        // source's operation.
        guard let source else { return }
        let isForReader = reader != nil && result.operation.isReading && result.operation.asker != source.number
        if !isForReader { receive(result, for: source) }
    }

    private func receive(_ result: OperationResult, for source: Source) {
        source.count += 1
        // Closes the source before its last result is delivered, because a subscriber may start the operation again.
        switch source.operation.kind {
        case .mutation:
            if result.isSettled { table.close(source, tearsDown: false) }
        case .subscription:
            if result.hasNext == false { table.close(source) }
        case .query, .teardown:
            source.last = result
        }
        source.deliver(result)
        if source.operation.kind != .query, !table.isOpen(source) { source.end() }
    }

    /// Ends a source and completes its subscribers.
    private func end(_ source: Source) {
        if table.close(source) { source.end() }
    }
}
