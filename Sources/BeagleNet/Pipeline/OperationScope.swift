public import BeagleNetHTTP

/// An owner of operations, such as a screen, a list or a cell.
///
/// Closing it cancels everything under it, down to the transport.
///
/// ```swift
/// let screen = OperationScope()
/// let client = dependencies.networkClient.scoped(in: screen)
/// let search = dependencies.networkClient.scoped(in: OperationScope(.replace, in: screen))
/// …
/// screen.close()
/// ```
///
/// A cancelled operation ends once, with an error of kind `.cancelled`. Releasing a scope doesn't close it: its
/// operations continue. A streamed response leaves the queue of the scope as soon as its head has arrived, but the
/// scope owns its body until the body ends. The scope also owns watched operations (`watch`) and all operations of a
/// client whose container has the scope. These have no place in the queue, so that the rule doesn't apply to them.
public final class OperationScope: Sendable {
    /// A rule for operations that begin while `limit` others of the scope are in flight.
    public enum Rule: Sendable, Hashable, CaseIterable {
        /// Runs all, without a limit unless one is set. Operations beyond it wait, as with `queue`. The default.
        case concurrent
        /// Cancels the new operation before it sends anything.
        case drop
        /// Cancels the oldest operation, down to the transport.
        case replace
        /// Starts the new operation when one of the others has ended, in the order in which they began.
        case queue
    }

    private struct State: Sendable {
        var isClosed = false
        var lastID = 0
        /// The closures that cancel the operations and scopes under this one, by number.
        var owned: [Int: @Sendable () -> Void] = [:]
        /// The numbers of operations that are in flight or waiting for their turn, in order.
        var queue: [Int] = []
        /// The numbers of operations in the queue that were cancelled and haven't left it yet.
        var cancelled: Set<Int> = []
        /// The turns of operations that wait, by number.
        var turns: [Int: Promise<Void>] = [:]
    }

    /// The rule for operations that begin while another one is in flight.
    public let rule: Rule
    /// The maximum number of operations in flight, or `nil` for no maximum.
    ///
    /// Watched operations and nested scopes don't count.
    public let limit: Int?
    private let state = Lock(State())
    private let parent: OperationScope?
    private let idInParent = Lock<Int?>(nil)

    /// Creates a scope.
    ///
    /// - Parameters:
    ///   - rule: The rule for operations that begin while `limit` others are in flight.
    ///   - limit: The maximum number of operations in flight, at least 1. By default there is no maximum for
    ///     `concurrent`, and 1 is the maximum for the other rules.
    ///   - parent: A scope that closes this one when it is closed. If it is already closed, this scope is closed
    ///     immediately.
    public init(_ rule: Rule = .concurrent, limit: Int? = nil, in parent: OperationScope? = nil) {
        self.rule = rule
        self.limit = limit.map { max(1, $0) } ?? (rule == .concurrent ? nil : 1)
        self.parent = parent
        guard let parent else { return }
        let id = parent.add { [weak self] in self?.close() }
        idInParent.withLock { $0 = id }
        if id == nil { close() }
    }

    deinit {
        if let id = idInParent.withLock({ $0 }) { parent?.remove(id) }
    }

    /// Whether the scope was closed.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// The number of operations in the queue: those in flight and those waiting for their turn.
    public var count: Int { state.withLock { $0.queue.count } }

    /// Whether there is anything to cancel.
    var ownsAny: Bool { state.withLock { !$0.owned.isEmpty } }

    /// Cancels everything under the scope before it returns.
    ///
    /// Operations that begin later are cancelled immediately.
    public func close() {
        state.withLock { $0.isClosed = true }
        cancelAll()
    }

    /// Cancels everything under the scope, which stays open.
    public func cancelAll() {
        let owned = state.withLock { $0.owned.sorted { $0.key < $1.key }.map(\.value) }
        for cancel in owned { cancel() }
    }

    /// Takes ownership of an operation or a scope.
    ///
    /// - Parameter cancel: Cancels it.
    /// - Returns: The number for `remove`, or `nil` if the scope is closed.
    func add(_ cancel: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            if state.isClosed { return nil }
            state.lastID += 1
            state.owned[state.lastID] = cancel
            return state.lastID
        }
    }

    func remove(_ id: Int) {
        let dropped = state.withLock { $0.owned.removeValue(forKey: id) }
        withExtendedLifetime(dropped) {}
    }

    // MARK: - Operations

    /// Performs work that the scope owns.
    ///
    /// Closing the scope cancels the work's task.
    ///
    /// - Throws: The errors of `body`; `.cancelled` if the scope is closed or its rule rejects the work.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        try await run(enter(), body)
    }

    /// Performs work that has a place in the queue.
    func run<Value: Sendable>(
        _ place: Ticket,
        _ body: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        let (id, work) = (place.id, place.work)
        defer { leave(id) }
        return try await withTaskCancellationHandler {
            await waitForTurn(of: id)
            return await work.perform(body)
        } onCancel: {
            work.cancel()
            cancelTurn(of: id)
        }.get()
    }

    /// Performs work that the scope owns, without a place in its queue.
    func runUnqueued<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        let work = ScopedWork()
        guard let id = add({ work.cancel() }) else { throw .notInScope(isClosed: true) }
        defer { remove(id) }
        return try await withTaskCancellationHandler {
            await work.perform(body)
        } onCancel: {
            work.cancel()
        }.get()
    }

    /// An operation's place in the queue.
    struct Ticket: Sendable {
        fileprivate let id: Int
        fileprivate let work: ScopedWork
    }

    /// Joins the queue, if the rule permits it.
    ///
    /// The caller must then call `run` or `leave`.
    func enter() throws(NetworkError) -> Ticket {
        let work = ScopedWork()
        let (id, replaced): (Int?, [@Sendable () -> Void]) = state.withLock { state in
            if state.isClosed || rule == .drop && state.queue.count >= limit ?? .max { return (nil, []) }
            let replaced = rule == .replace ? surplus(in: state).compactMap { state.owned[$0] } : []
            state.lastID += 1
            let id = state.lastID
            state.owned[id] = { [weak self] in
                work.cancel()
                self?.cancelTurn(of: id)
            }
            state.queue.append(id)
            return (id, replaced)
        }
        for cancel in replaced { cancel() }
        guard let id else { throw .notInScope(isClosed: isClosed) }
        return Ticket(id: id, work: work)
    }

    /// Returns the oldest operations that a new one replaces.
    private func surplus(in state: State) -> ArraySlice<Int> {
        let live = state.queue.filter { !state.cancelled.contains($0) }
        return live.dropLast((limit ?? .max) - 1)
    }

    private func leave(_ id: Int) {
        let (due, dropped) = state.withLock { state in
            state.queue.removeAll { $0 == id }
            state.cancelled.remove(id)
            let due = state.queue.prefix(limit ?? .max).compactMap { state.turns.removeValue(forKey: $0) }
            return (due, state.owned.removeValue(forKey: id))
        }
        withExtendedLifetime(dropped) {}
        for turn in due { turn.complete() }
    }

    /// Whether operations beyond the limit wait.
    private var mayWait: Bool { limit != nil && (rule == .queue || rule == .concurrent) }

    /// Waits until so many earlier operations have left that the limit permits this one.
    private func waitForTurn(of id: Int) async {
        guard mayWait else { return }
        let turn: Promise<Void>? = state.withLock { state in
            if state.cancelled.contains(id) || state.queue.prefix(limit ?? .max).contains(id) { return nil }
            let turn = Promise<Void>()
            state.turns[id] = turn
            return turn
        }
        await turn?.value
    }

    /// Ends the wait of a cancelled operation.
    private func cancelTurn(of id: Int) {
        let turn = state.withLock { state in
            if state.queue.contains(id) { state.cancelled.insert(id) }
            return state.turns.removeValue(forKey: id)
        }
        turn?.complete()
    }
}

/// The work of an operation, which can be cancelled even before it has begun.
final class ScopedWork: Sendable {
    private let state = Lock<(cancel: (@Sendable () -> Void)?, isCancelled: Bool)>((nil, false))

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func perform<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async -> Result<Value, NetworkError> {
        if isCancelled { return .failure(.cancelledBeforeStart) }
        let task = Task<Result<Value, NetworkError>, Never>.starting(on: nil) { await .catching(body) }
        begin { task.cancel() }
        return await task.value
    }

    func begin(_ cancel: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.cancel = cancel
            return state.isCancelled
        }
        if isCancelled { cancel() }
    }

    func cancel() {
        let cancel = state.withLock { state in
            state.isCancelled = true
            return state.cancel
        }
        cancel?()
    }
}

extension NetworkError {
    static func notInScope(isClosed: Bool) -> NetworkError {
        NetworkError(
            .cancelled,
            during: .queue,
            isClosed
                ? "the scope was closed" : "another operation of the scope is running, and the scope drops new ones"
        )
    }
}
