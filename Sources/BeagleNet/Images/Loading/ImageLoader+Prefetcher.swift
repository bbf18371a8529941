import BeagleNetHTTP

extension ImageLoader {
    /// Loads images into the store before they are needed, a few at a time and with the lowest priority.
    ///
    /// Without a `CacheInterceptor` it has no use. Prefetches wait while a screen, an image that isn't prefetched, a
    /// form or another request of the container's clients is being loaded, and for a short time after that. A task of
    /// the loader that wants an image whose prefetch is running joins it and raises its priority.
    public final class Prefetcher: Sendable {
        private struct State {
            var waiting: [ImageRequest] = []
            /// The tasks, which are `nil` until they are started.
            var running: [Int: ImageTask?] = [:]
            var lastID = 0
            var isPaused = false
            var counts = Counts()
            /// The task that waits until prefetches may start.
            var idleWait: Task<Void, Never>?
        }

        /// The numbers of images that have ended.
        public struct Counts: Sendable, Hashable {
            /// The images that are stored now.
            public internal(set) var loaded = 0
            /// The images that failed or were cancelled.
            public internal(set) var failed = 0
        }

        private let loader: ImageLoader
        private let maxTransfers: Int
        private let rules: ViewClient.PrefetchRules
        private let state = Lock(State())

        /// Creates a prefetcher.
        ///
        /// - Parameters:
        ///   - loader: The loader of the images.
        ///   - maxTransfers: The maximum number of prefetches at a time; 2 by default, so that images that are needed
        ///     now have the network to themselves.
        ///   - idleTime: The time without other loads after which prefetches start; 100 ms by default, as in
        ///     `ViewClient.PrefetchRules`.
        public init(
            _ loader: ImageLoader,
            maxTransfers: Int = 2,
            idleTime: Duration = ViewClient.PrefetchRules().idleTime
        ) {
            self.loader = loader
            self.maxTransfers = max(1, maxTransfers)
            var rules = ViewClient.PrefetchRules()
            rules.idleTime = idleTime
            self.rules = rules
        }

        /// Stops all prefetches.
        deinit {
            stop()
            state.withLock { $0.idleWait }?.cancel()
        }

        /// Prefetches images in this order, after those that wait already.
        public func prefetch(_ requests: [ImageRequest]) {
            state.withLock { $0.waiting += requests }
            startNext()
        }

        /// Prefetches images in this order, after those that wait already.
        public func prefetch(_ targets: [any Request.Target]) {
            prefetch(targets.map { ImageRequest($0) })
        }

        /// Whether no further prefetch is started, for example while the user scrolls; those that are running go on.
        /// `false` at first.
        public var isPaused: Bool {
            get { state.withLock { $0.isPaused } }
            set {
                state.withLock { $0.isPaused = newValue }
                if !newValue { startNext() }
            }
        }

        /// Stops all prefetches, also those that are running, unless a task of the loader has joined them.
        public func stop() {
            let running = state.withLock { state in
                state.waiting = []
                defer { state.running = [:] }
                return state.running.values.compactMap(\.self)
            }
            for task in running { task.cancel() }
        }

        /// The number of images that wait or are being loaded.
        public var pendingCount: Int { state.withLock { $0.waiting.count + $0.running.count } }
        /// The numbers of images that have ended.
        public var counts: Counts { state.withLock { $0.counts } }

        private func startNext() {
            while let (id, request) = takeNext() {
                let task = loader.start(request)
                let isStopped = state.withLock { state in
                    if state.running[id] == nil { return true }
                    state.running[id] = .some(task)
                    return false
                }
                if isStopped { task.cancel() }
                Task { [weak self] in
                    let isLoaded: Bool
                    do throws(NetworkError) {
                        _ = try await task.image
                        isLoaded = true
                    } catch {
                        // The loader has logged it, and the app learns it when it wants the image.
                        isLoaded = false
                    }
                    self?.end(id, isLoaded)
                }
            }
        }

        private func takeNext() -> (Int, ImageRequest)? {
            let loads = loader.currentClient.container.interactiveLoads
            return state.withLock { state in
                guard !state.isPaused, state.running.count < maxTransfers, !state.waiting.isEmpty else { return nil }
                guard loads.isIdle(rules) else {
                    if state.idleWait == nil { state.idleWait = waitUntilIdle(loads) }
                    return nil
                }
                var request = state.waiting.removeFirst()
                request.priority = .prefetch
                state.lastID += 1
                state.running[state.lastID] = .some(nil)
                return (state.lastID, request)
            }
        }

        /// Calls `startNext` when no load is in flight.
        private func waitUntilIdle(_ loads: InteractiveLoads) -> Task<Void, Never> {
            Task { [weak self, rules] in
                await loads.waitUntilIdle(rules)
                self?.state.withLock { $0.idleWait = nil }
                self?.startNext()
            }
        }

        private func end(_ id: Int, _ isLoaded: Bool) {
            state.withLock { state in
                state.running[id] = nil
                if isLoaded { state.counts.loaded += 1 } else { state.counts.failed += 1 }
            }
            startNext()
        }
    }
}
