public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension ViewClient {
    /// The loads of an open screen, which end when the user leaves it.
    ///
    /// ```swift
    /// let home = views.open("home", images: loader)
    /// let screen = try await home.fetch(ScreenRequest("/home"), as: JSONValue.self)
    /// let banner = home.image(ImageRequest("/banner.png"))
    /// …
    /// home.close()
    /// ```
    ///
    /// Lazy components are fetched as screens are. A transfer ends unless another screen or view also waits for it.
    /// Submissions of forms don't belong to the scope, so that leaving the screen doesn't cancel them. Releasing a
    /// scope doesn't close it.
    public final class Scope: Sendable {
        /// The name of the screen, which is also that of its prefetches in `report(of:)`.
        public let name: String
        private let views: ViewClient
        private let images: ImageLoader
        private let scope = OperationScope()
        /// The identity of the scope in the prefetches that it wants.
        private let source: Prefetch.Source
        private let opened: Date
        private let context: (any LoadContext)?
        private let recorder: LoadRecorder
        /// The hints of the fetches, whose images may be running after a fetch has ended.
        private let hints = Lock<[ImageHints]>([])

        fileprivate init(
            _ name: String,
            _ views: ViewClient,
            _ images: ImageLoader,
            _ opened: Date,
            _ context: (any LoadContext)?
        ) {
            self.name = name
            source = Prefetch.Source(name: name, scope: UUID())
            self.views = views
            self.images = images
            self.opened = opened
            self.context = context
            recorder = LoadRecorder(views.currentClient.container)
        }

        /// Whether the screen was left.
        public var isClosed: Bool { scope.isClosed }

        /// Whether a screen, a lazy component, or an image of the scope is being loaded. Prefetches don't count.
        public var isLoading: Bool { scope.ownsAny }

        /// Fetches the screen or one of its lazy components, as `ViewClient.fetch` does.
        ///
        /// - Throws: `NetworkError`, as `ViewClient.fetch` does, and `.cancelled` if the scope is closed.
        public func fetch<Screen: Decodable & Sendable>(
            _ request: ScreenRequest,
            as type: Screen.Type = Screen.self,
            decoder: (any BodyDecoder)? = nil,
            onStored: (@Sendable (FetchedScreen<Screen>) -> Void)? = nil
        ) async throws(NetworkError) -> FetchedScreen<Screen> {
            let record = recorder.begin(request.target)
            var stored: (@Sendable (FetchedScreen<Screen>) -> Void)?
            if let onStored {
                stored = { screen in
                    record?.noteStored()
                    onStored(screen)
                }
            }
            let outcome = await Result<FetchedScreen<Screen>, NetworkError>.catching { () throws(NetworkError) in
                try await scope.run { [views, hints, stored, context] () throws(NetworkError) in
                    try await context.run {
                        await Result.catching { () throws(NetworkError) in
                            try await views.fetch(
                                request,
                                as: type,
                                decoder: decoder,
                                onStored: stored,
                                keepingHints: hints
                            )
                        }
                    }.get()
                }
            }
            if case .success(let screen) = outcome, screen.cause == .network {
                record?.noteWait(screen.response.metrics.queued)
            }
            record?.end(outcome.map(\.cause))
            return try outcome.get()
        }

        /// Starts to load an image of the screen. If the scope is closed, the task is cancelled.
        public func image(_ request: ImageRequest) -> ImageTask {
            let record = recorder.begin(request.target, isImage: true)
            let task = context.run { images.start(request, record) }
            guard let id = scope.add({ task.cancel() }) else {
                task.cancel()
                return task
            }
            Task { [scope] in
                do throws(NetworkError) {
                    _ = try await task.image
                } catch {
                    // The view has the error from the task.
                }
                scope.remove(id)
            }
            return task
        }

        /// Prefetches a screen that may be opened next, as `ViewClient.prefetch` does.
        ///
        /// - Returns: Whether the screen will be prefetched, or is already; `false` if the scope is closed.
        @discardableResult
        public func prefetch(_ request: ScreenRequest) -> Bool {
            guard !isClosed, context.run({ views.prefetch(request, from: source) }) else { return false }
            if isClosed { views.prefetches.cancel(from: source) }
            return true
        }

        /// The times until the screen was ready: until its fetches and images that have begun had ended.
        ///
        /// Read it after the view has started the loads that it shows first. It waits for them, and for those that
        /// begin until then. Later ones, for example after the user has scrolled, don't count.
        ///
        /// - Throws: `NetworkError` of kind `.cancelled` if the task is cancelled before.
        public var timing: Timing {
            get async throws(NetworkError) {
                guard let loads = await recorder.loads() else { throw .cancelledWhileWaiting }
                return Timing(name: name, opened: opened, loads: loads, context: context)
            }
        }

        /// Cancels the scope's fetches, its images and its pending prefetches, before it returns.
        ///
        /// A prefetch that a fetch or another screen also wants goes on, and prefetched screens may still be used.
        public func close() {
            scope.close()
            for hints in hints.withLock({ $0 }) { hints.cancel() }
            views.prefetches.cancel(from: source)
        }
    }

    /// Opens a screen, whose loads `Scope.close()` cancels.
    ///
    /// Call it when the user taps: the times of `Scope.timing` count from then.
    ///
    /// - Parameters:
    ///   - name: The name of the screen, for `report(of:)`.
    ///   - images: The loader of the screen's images, which may be shared with other screens.
    public func open(_ name: String, images: ImageLoader) -> Scope { open(name, images, Date(), in: nil) }

    /// Opens a screen whose loads run in a context.
    package func open(_ name: String, _ images: ImageLoader, _ opened: Date, in context: (any LoadContext)?) -> Scope {
        Scope(name, self, images, opened, context)
    }
}
