public import BeagleNetHTTP

extension ViewClient {
    /// Loads that belong together, such as the refreshes of one screen, of which only one runs at a time.
    ///
    /// ```swift
    /// let refreshes = ViewClient.LoadGroup(.replace)
    /// if let home = try await refreshes.run({ try await views.fetch("/home", as: JSONValue.self) }) { show(home) }
    /// ```
    ///
    /// Every load ends exactly once: with its value, its error, or `nil` if it was dropped or replaced. A load that
    /// fails doesn't affect the next one.
    public final class LoadGroup: Sendable {
        /// The rule for a load that begins while another one of the group is running.
        public enum Rule: Sendable, Hashable {
            /// The new load isn't started.
            case drop
            /// The running load is cancelled.
            case replace
            /// The new load waits until those before it have ended.
            case queue
        }

        private struct State {
            var lastID = 0
            /// The loads that run, with their tasks as soon as there are any.
            var running: [Int: (@Sendable () -> Void)?] = [:]
            var replaced: Set<Int> = []
            /// The loads that wait for their numbers, in order.
            var waiting: [Promise<Int?>] = []

            /// Adds a running load.
            mutating func begin() -> Int {
                lastID += 1
                running[lastID] = .some(nil)
                return lastID
            }
        }

        /// The rule.
        public let rule: Rule
        private let state = Lock(State())

        /// Creates a group.
        public init(_ rule: Rule) {
            self.rule = rule
        }

        /// Whether a load of the group is running or waiting.
        public var isLoading: Bool { state.withLock { !$0.running.isEmpty } }

        /// Runs a load. Cancelling the task cancels it.
        ///
        /// - Parameter load: Loads a value. It runs in a task of its own.
        /// - Returns: The value, or `nil` if the load was dropped or replaced.
        /// - Throws: The error of the load, as a `NetworkError`.
        public func run<Value: Sendable>(
            _ load: @escaping @Sendable () async throws -> Value
        ) async throws(NetworkError) -> Value? {
            guard let id = await begin() else {
                if Task.isCancelled { throw .cancelledBeforeStart }
                return nil
            }
            if Task.isCancelled {
                _ = end(id)
                throw .cancelledBeforeStart
            }
            let work = Task { try await load() }
            let isReplaced = state.withLock { state in
                state.running[id] = .some { work.cancel() }
                return state.replaced.contains(id)
            }
            if isReplaced { work.cancel() }
            let outcome = await withTaskCancellationHandler {
                await work.result
            } onCancel: {
                work.cancel()
            }
            if end(id) { return nil }
            return try await NetworkError.catching { try outcome.get() }
        }

        /// Waits for the turn of a load.
        ///
        /// - Returns: Its number; `nil` if it is dropped.
        private func begin() async -> Int? {
            let (id, replaced): (Int?, [@Sendable () -> Void]) = state.withLock { state in
                if state.running.isEmpty { return (state.begin(), []) }
                guard rule == .replace else { return (nil, []) }
                state.replaced.formUnion(state.running.keys)
                let replaced = state.running.values.compactMap(\.self)
                return (state.begin(), replaced)
            }
            for cancel in replaced { cancel() }
            if let id { return id }
            return rule == .drop ? nil : await turn()
        }

        /// Waits until all loads before have ended.
        ///
        /// - Returns: The number of the load; `nil` if the task was cancelled before.
        private func turn() async -> Int? {
            let turn = state.withLock { state in
                if state.running.isEmpty { return Promise<Int?>(state.begin()) }
                let turn = Promise<Int?>()
                state.waiting.append(turn)
                return turn
            }
            return await withTaskCancellationHandler {
                await turn.value
            } onCancel: {
                let left = state.withLock { state in
                    let index = state.waiting.firstIndex { $0 === turn }
                    return index.map { state.waiting.remove(at: $0) }
                }
                left?.complete(nil)
            }
        }

        /// Ends a load, and begins the next one that waits.
        ///
        /// - Returns: Whether another load has replaced it.
        private func end(_ id: Int) -> Bool {
            let (wasReplaced, next): (Bool, (turn: Promise<Int?>, id: Int)?) = state.withLock { state in
                state.running[id] = nil
                let next = state.waiting.isEmpty ? nil : (state.waiting.removeFirst(), state.begin())
                return (state.replaced.remove(id) != nil, next)
            }
            if let next { next.turn.complete(next.id) }
            return wasReplaced
        }
    }
}
