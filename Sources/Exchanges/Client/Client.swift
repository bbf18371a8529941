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
///   variables and extensions. Who asks for what is asked for already shares its results; each mutation is one of its own.
/// - A query goes on giving results for as long as somebody listens: those of `reexecute` too. A mutation gives one, and
///   ends; a subscription ends with the server.
/// - When the last listener leaves, a teardown goes down the ladder, which ends the request under way: a mutation's too,
///   unless `keepsMutations`.
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

    /// Who waits for what, reached only in turns of the ladder's lane.
    ///
    /// `@unchecked Sendable` is sound because of that.
    private final class Table: @unchecked Sendable {
        var sources: [String: Source] = [:]
        /// Operations that are due to be run again, by id.
        let due = Lock<[String: Operation]>([:])
        let ladder: Ladder

        init(_ ladder: Ladder) {
            self.ladder = ladder
        }
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
        let reference = ClientReference(request: request, logger: logger)
        let fallback = FallbackExchange(answers: true)
        table = Table(
            Ladder(exchanges + [fallback], client: reference, bottom: { _ in Empty().eraseToAnyPublisher() }) {
                (reference.client as? Client)?.receive($0)
            }
        )
        reference.client = self
    }

    deinit {
        table.ladder.close()
    }

    /// Runs an operation. Nothing is done before somebody subscribes; each who does runs it, and shares what comes.
    public func execute(operation: Operation) -> AnyPublisher<OperationResult, Never> {
        OperationPublisher(client: self, operation: operation).eraseToAnyPublisher()
    }

    /// Runs an operation again that somebody waits for. One of kind `.teardown` ends it.
    ///
    /// It is done after what goes through the ladder now; of several of the same `id` that are due, the last counts.
    public func reexecute(operation: Operation) {
        let isNew = table.due.withLock { $0.updateValue(operation, forKey: operation.id) == nil }
        guard isNew else { return }
        table.ladder.lane.runLater { [self] in
            let operation = table.due.withLock { $0.removeValue(forKey: operation.id) }
            guard let operation, let source = table.sources[operation.id] else { return }
            if operation.kind == .teardown { end(source) } else { send(operation, of: source) }
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
            guard let source = table.sources[operation.id] else {
                let source = Source(operation, for: listener)
                table.sources[operation.id] = source
                return table.ladder.send(operation)
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
            guard let source = table.sources[operation.id] else { return }
            source.listeners.removeAll { $0 === listener }
            guard source.listeners.isEmpty else { return }
            table.sources[operation.id] = nil
            if source.operation.kind == .mutation, keepsMutations { return }
            table.ladder.send(source.operation.teardown)
        }
    }

    /// Sends an operation down again; the last result is stale from now on, unless an answer comes at once.
    private func send(_ operation: Operation, of source: Source) {
        let count = source.count
        source.operation = operation
        table.ladder.send(operation)
        guard source.count == count, operation.policy != .cacheOnly, table.sources[operation.id] === source,
            var last = source.last, last.isSettled
        else { return }
        last.stale = true
        source.last = last
        source.deliver(last)
    }

    private func receive(_ result: OperationResult) {
        guard let source = table.sources[result.operation.id] else { return }
        source.count += 1
        switch source.operation.kind {
        case .mutation:
            source.deliver(result)
            guard result.isSettled, table.sources[result.id] === source else { return }
            table.sources[result.id] = nil
            source.end()
        case .subscription:
            source.deliver(result)
            if result.hasNext == false { end(source) }
        case .query, .teardown:
            source.last = result
            source.deliver(result)
        }
    }

    /// There is nothing more to come.
    private func end(_ source: Source) {
        let id = source.operation.id
        guard table.sources[id] === source else { return }
        table.sources[id] = nil
        table.ladder.send(source.operation.teardown)
        source.end()
    }
}
