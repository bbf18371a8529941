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

/// Runs GraphQL operations through a ladder of exchanges (SwiftGraphQLClient's `Client`).
///
/// ```swift
/// let client = Client(request: URLRequest(url: url))
/// let subscription = client.query(ExecutionArgs(query: "{ posts { id } }")).sink { print($0.data) }
/// ```
///
/// - Operations that ask the same of the same have the same `id`: 128 bits of kind, URL, header fields, document, name,
///   variables and extensions, as they are before exchanges change them: a token that an `AuthExchange` adds is not among
///   them. Who asks for what is asked for already shares its results; each mutation is one of its own.
/// - A query goes on giving results for as long as somebody listens: those of `reexecute` too. A mutation gives one, and
///   ends; a subscription ends with the server.
/// - When the last listener leaves, a teardown goes down the ladder, which ends the request under way: a mutation's too,
///   unless `keepsMutations`.
/// - Header fields that hold secrets belong to the origin of the request that an operation was made with: they stay behind
///   where an exchange sends it elsewhere.
/// - It may be used from any thread. Exchanges run in turns, and what answers at once answers at once.
/// - Below its exchanges it has a `FallbackExchange`: what no exchange handles is answered with an error.
///
/// Results come on any thread: say where they are wanted with `receive(on:)`.
public final class Client: GraphQLClient, OperationHost {
    /// Where operations go that name no request of their own.
    public let request: URLRequest
    /// Where the client and its exchanges say what they do.
    public let logger: any BeagleLogger
    private let table: Table
    private let keepsMutations: Bool

    /// Who waits for what.
    ///
    /// `@unchecked Sendable` is sound because `sources`, `readers`, `count`, and the sources themselves, are reached only in
    /// turns of the ladder's lane; `numbers` and `due`, which others ask for too, are behind locks; and `ladder` and
    /// `redactor`, which are `Sendable`, never change.
    private final class Table: @unchecked Sendable {
        private(set) var sources: [String: Source] = [:]
        /// Those of queries that are to be answered from a store alone: their answers are for nobody else.
        private(set) var readers: [String: Source] = [:]
        /// The numbers of both by id, for those who are not in a turn.
        private let numbers = Lock<[String: [Int]]>([:])
        private var count = 0
        /// Operations that are due to be run again, by id.
        let due = Lock<[String: Operation]>([:])
        let ladder: Ladder
        private let redactor: Redactor

        init(_ ladder: Ladder, _ redactor: Redactor) {
            self.ladder = ladder
            self.redactor = redactor
        }

        /// The operation as it is sent down: its secret fields belong to the origin that it was made for.
        func asked(_ operation: Operation, by asker: Int) -> Operation {
            var operation = operation.scopingSecrets(redactor)
            operation.asker = asker
            return operation
        }

        /// Has somebody wait for what nobody waits for.
        ///
        /// - Returns: the operation as it is to be sent.
        func open(_ operation: Operation, for listener: any ResultListener) -> Operation {
            count += 1
            let operation = asked(operation, by: count)
            let source = Source(operation, for: listener, number: count)
            if operation.isReading { readers[operation.id] = source } else { sources[operation.id] = source }
            numbers.withLock { [id = operation.id, number = count] in $0[id, default: []].append(number) }
            return operation
        }

        /// Has nobody wait any more, and sends the teardown down, unless the same is waited for in another way.
        ///
        /// - Returns: whether it was waited for.
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

        /// Who waits for the same in the same way.
        func source(of operation: Operation) -> Source? {
            operation.isReading ? readers[operation.id] : sources[operation.id]
        }

        /// How much is kept for those who wait.
        var kept: Int {
            sources.count + readers.count + numbers.withLock { $0.count } + due.withLock { $0.count }
        }

        /// The numbers of those who wait now, whoever asks.
        func current(_ id: String) -> [Int] { numbers.withLock { $0[id] ?? [] } }
    }

    /// A client with these exchanges.
    ///
    /// - Parameters:
    ///   - request: where operations go: URL and header fields.
    ///   - exchanges: the first is on top.
    ///   - logger: where it says what happens; the logger of `Beagle.dependencies` where nil.
    ///   - keepsMutations: whether a mutation goes on when nobody waits for it any more. No by default: leaving cancels it.
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

    /// How much is kept for those who wait. To be asked in a turn of `lane`.
    var count: Int { table.kept }

    /// Where everything takes its turn.
    var lane: Lane { table.ladder.lane }

    /// Runs an operation. Nothing is done before somebody subscribes; each who does runs it, and shares what comes.
    public func execute(operation: Operation) -> AnyPublisher<OperationResult, Never> {
        OperationPublisher(client: self, operation: operation).eraseToAnyPublisher()
    }

    /// Runs an operation again that somebody waits for. One of kind `.teardown` ends it.
    ///
    /// It is done after what goes through the ladder now; of several of the same `id` that are due, the last counts. A teardown
    /// ends what somebody waits for when this is called, and not what is asked for later.
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
            // Who reads a store alone does not ask the network in the place of another, who has left.
            let isOfAnother = operation.asker != nil && operation.asker != reader.number
            send(isOfAnother ? operation.with(policy: .cacheOnly) : operation, of: reader)
        }
    }

    // MARK: - In turns

    func join(_ listener: any ResultListener, _ operation: Operation) {
        table.ladder.lane.run { [self] in
            // It may have left while others had their turns.
            if listener.isOver { return }
            guard operation.kind != .teardown else {
                reexecute(operation: operation)
                return listener.end()
            }
            guard let source = table.source(of: operation) else {
                return table.ladder.send(table.open(operation, for: listener))
            }
            source.listeners.append(listener)
            // What a server sends by itself is sent to all who listen.
            guard operation.kind != .subscription else { return }
            let (count, last) = (source.count, source.last)
            send(operation, of: source)
            // Those who were there before know it.
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

    /// Sends an operation down again; the last result is stale from now on, unless an answer comes at once.
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
        // What a store answers is for who asked it alone; who asked it by the word of an exchange has no other.
        guard let source else { return }
        let isForReader = reader != nil && result.operation.isReading && result.operation.asker != source.number
        if !isForReader { receive(result, for: source) }
    }

    private func receive(_ result: OperationResult, for source: Source) {
        source.count += 1
        // What is over is so before that is said: whoever hears it may ask again.
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

    /// There is nothing more to come.
    private func end(_ source: Source) {
        if table.close(source) { source.end() }
    }
}
