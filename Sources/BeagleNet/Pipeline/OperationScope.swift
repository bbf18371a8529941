public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Owns operations, as a screen, a list or a cell does: closing it cancels everything under it, down to the transport.
///
/// ```swift
/// let screen = OperationScope()
/// let client = dependencies.networkClient.scoped(in: screen)
/// let search = dependencies.networkClient.scoped(in: OperationScope(.replace, in: screen))
/// …
/// screen.close()
/// ```
///
/// What is cancelled ends once, with an error of kind `.cancelled`. A scope that is let go is not closed: what it owns
/// goes on. A streamed answer leaves the line with its head; its body is the scope's until it has ended. What is watched
/// (`watch`), and what a client is asked whose container has the scope, is owned and has no place in
/// the line: the rule is not for it.
public final class OperationScope: Sendable {
    /// What becomes of an operation that begins while another of the scope is under way.
    public enum Rule: Sendable, Hashable, CaseIterable {
        /// Both go on. The default.
        case concurrent
        /// The new one is cancelled before it asks.
        case drop
        /// The old one is cancelled, down to the transport.
        case replace
        /// The new one begins when the old one has ended.
        case queue
    }

    private struct State: Sendable {
        var isClosed = false
        var lastID = 0
        /// What ends an operation or a scope under this one.
        var owned: [Int: @Sendable () -> Void] = [:]
        /// Operations under way or waiting for their turn, in order.
        var line: [Int] = []
        /// What lets those in the line begin.
        var turns: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    /// What becomes of an operation that begins while another is under way.
    public let rule: Rule
    private let state = Lock(State())
    private let parent: OperationScope?
    private let idInParent = Lock<Int?>(nil)

    /// A scope.
    ///
    /// - Parameters:
    ///   - rule: what becomes of an operation that begins while another is under way.
    ///   - parent: a scope that closes this one with itself. One that is closed already closes it at once.
    public init(_ rule: Rule = .concurrent, in parent: OperationScope? = nil) {
        self.rule = rule
        self.parent = parent
        guard let parent else { return }
        let id = parent.own { [weak self] in self?.close() }
        idInParent.withLock { $0 = id }
        if id == nil { close() }
    }

    deinit {
        if let id = idInParent.withLock({ $0 }) { parent?.disown(id) }
    }

    /// Whether the scope was closed.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// How many operations of its line are under way or waiting for their turn.
    public var count: Int { state.withLock { $0.line.count } }

    /// Whether there is anything to cancel.
    var ownsAny: Bool { state.withLock { !$0.owned.isEmpty } }

    /// Cancels everything under the scope, before it returns; whatever begins in it afterwards is cancelled at once.
    public func close() {
        state.withLock { $0.isClosed = true }
        cancelAll()
    }

    /// Cancels everything under the scope, which stays open.
    public func cancelAll() {
        let owned = state.withLock { $0.owned.sorted { $0.key < $1.key }.map(\.value) }
        for cancel in owned { cancel() }
    }

    /// Takes something on.
    ///
    /// - Parameter cancel: ends it.
    /// - Returns: what it is let go by; nil where the scope is closed.
    func own(_ cancel: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            if state.isClosed { return nil }
            state.lastID += 1
            state.owned[state.lastID] = cancel
            return state.lastID
        }
    }

    func disown(_ id: Int) {
        let dropped = state.withLock { $0.owned.removeValue(forKey: id) }
        withExtendedLifetime(dropped) {}
    }

    // MARK: - Operations

    /// Performs something that the scope owns: closing the scope cancels its task.
    ///
    /// - Throws: what `body` throws; `.cancelled` where the scope is closed or its rule lets nothing begin.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        try await run(enter(), body)
    }

    /// Performs something that has its place in the line.
    func run<Value: Sendable>(
        _ place: Place,
        _ body: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        let (id, work) = (place.id, place.work)
        defer { leave(id) }
        return try await withTaskCancellationHandler {
            await turn(of: id)
            return await work.perform(body)
        } onCancel: {
            work.cancel()
            callUp(id)
        }.get()
    }

    /// Performs something that the scope owns, without a place in its line.
    func runBeside<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        let work = ScopedWork()
        guard let id = own({ work.cancel() }) else { throw .notInScope(isClosed: true) }
        defer { disown(id) }
        return try await withTaskCancellationHandler {
            await work.perform(body)
        } onCancel: {
            work.cancel()
        }.get()
    }

    /// An operation's place in the line.
    struct Place: Sendable {
        fileprivate let id: Int
        fileprivate let work: ScopedWork
    }

    /// Joins the line, as the rule lets it. Whoever does runs or leaves.
    func enter() throws(NetworkError) -> Place {
        let work = ScopedWork()
        let (id, replaced): (Int?, [@Sendable () -> Void]) = state.withLock { state in
            if state.isClosed || rule == .drop && !state.line.isEmpty { return (nil, []) }
            let replaced = rule == .replace ? state.line.compactMap { state.owned[$0] } : []
            state.lastID += 1
            let id = state.lastID
            state.owned[id] = { [weak self] in
                work.cancel()
                self?.callUp(id)
            }
            state.line.append(id)
            return (id, replaced)
        }
        for cancel in replaced { cancel() }
        guard let id else { throw .notInScope(isClosed: isClosed) }
        return Place(id: id, work: work)
    }

    private func leave(_ id: Int) {
        let (next, dropped) = state.withLock { state in
            state.line.removeAll { $0 == id }
            return (state.line.first, state.owned.removeValue(forKey: id))
        }
        withExtendedLifetime(dropped) {}
        if rule == .queue, let next { callUp(next) }
    }

    /// Waits until those before have left.
    private func turn(of id: Int) async {
        guard rule == .queue else { return }
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                // Whoever was cancelled does not wait, and is not in `owned` any more.
                if state.line.first == id || state.owned[id] == nil { return true }
                state.turns[id] = continuation
                return false
            }
            if isDue { continuation.resume() }
        }
    }

    /// Lets an operation begin: its turn has come, or it was cancelled.
    private func callUp(_ id: Int) {
        let continuation = state.withLock { state in
            if state.line.first != id { state.owned[id] = nil }
            return state.turns.removeValue(forKey: id)
        }
        continuation?.resume()
    }
}

/// What cancels an operation of a scope, also before it has begun.
private final class ScopedWork: Sendable {
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

extension HTTPBody {
    /// The same body; where it is streamed, closing the scope ends it, between reads as well as in one.
    func read(in scope: OperationScope) -> HTTPBody {
        guard case .stream(let length, let isReplayable, let open) = content else { return self }
        let content = Content.stream(length: length, isReplayable: isReplayable) {
            let body = ScopedBody(open(), scope)
            return { try await body.read() }
        }
        return HTTPBody(content)
    }
}

/// A body that a scope may end.
private final class ScopedBody: Sendable {
    private let reader: Lock<HTTPBody.Reader?>
    private let scope: OperationScope
    private let id = Lock<Int?>(nil)

    init(_ reader: @escaping HTTPBody.Reader, _ scope: OperationScope) {
        self.reader = Lock(reader)
        self.scope = scope
        let id = scope.own { [weak self] in self?.letGo() }
        self.id.withLock { $0 = id }
        if id == nil { letGo() }
    }

    deinit {
        if let id = id.withLock({ $0 }) { scope.disown(id) }
    }

    private func letGo() {
        let reader = reader.withLock { reader in
            defer { reader = nil }
            return reader
        }
        withExtendedLifetime(reader) {}
    }

    func read() async throws -> Data? {
        let work = ScopedWork()
        // Owned first: a scope that is closed from here on cancels the read.
        guard let id = scope.own({ work.cancel() }) else { throw NetworkError.scopeClosed }
        defer { scope.disown(id) }
        guard let reader = reader.withLock({ $0 }) else { throw NetworkError.scopeClosed }
        let task = Task { try await reader() }
        work.begin { task.cancel() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

extension NetworkError {
    static let scopeClosed = NetworkError(.cancelled, during: .body, "the scope was closed")
}
