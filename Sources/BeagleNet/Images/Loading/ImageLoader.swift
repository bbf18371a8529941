public import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Loads images: each only once at a time, the most important first, and from the store if there is a
/// `CacheInterceptor`.
///
/// ```swift
/// let loader = ImageLoader()
/// let image = try await loader.image("/img/banner.png")
/// show(image.data)
/// ```
///
/// Requests for the same image share a transfer, whatever their priority, unless their header fields, policy or
/// partition differ. The transfer ends when the last of them is cancelled. With a `CacheInterceptor`, an interrupted
/// transfer is continued by the next request for the image, and with a disk store even after the app was started again.
///
/// The loader knows the user by an `AuthInterceptor`, by the fields that the app and the builder add, and by the
/// request's `partition`. If cookies or another interceptor identify the user, give the requests a `partition`, or call
/// `cancelAll()` when the user signs in or out.
///
/// Images aren't decoded. Credentials go only to declared origins, as with all requests.
public final class ImageLoader: Sendable {
    /// The limits of an `ImageLoader`.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of transfers at a time; 32 by default.
        public var transfers = 32
        /// The maximum number of transfers at a time from one host; 12 by default.
        public var transfersPerHost = 12
        /// The maximum size of an image in bytes; 64 MiB by default.
        public var bytes = 64 << 20

        /// The documented limits.
        public init() {}
    }

    /// The limits.
    public let limits: Limits
    /// The formats that the app can show, in the order of preference. They become the `Accept` field; without any,
    /// the default, the builder decides about it.
    public let formats: [ImageHeader.Format]
    private let client: (any NetworkClient)?
    private let queue: ImageQueue
    private let loads = Lock<[ImageLoad.Key: ImageLoad]>([:])

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - client: The client; `nil`, the default, for the `networkClient` of the container that is current when an
    ///     image is requested.
    ///   - limits: The limits.
    ///   - formats: The formats that the app can show, in the order of preference.
    public init(client: (any NetworkClient)? = nil, limits: Limits = Limits(), formats: [ImageHeader.Format] = []) {
        self.client = client
        self.limits = limits
        self.formats = formats
        queue = ImageQueue(maxTransfers: limits.transfers, maxTransfersPerHost: limits.transfersPerHost)
    }

    /// The given client, or the one of the current container.
    var currentClient: any NetworkClient { client ?? Beagle.dependencies.networkClient }

    /// Loads an image. Cancelling the task cancels it.
    ///
    /// - Parameters:
    ///   - target: The path or URL of the image, or a `data:` URL.
    ///   - fallbacks: The images to load if it can't be loaded; none by default.
    ///   - priority: The priority; `.normal` by default.
    /// - Throws: `NetworkError`, as `ImageTask.image` does.
    public func image(
        _ target: any Request.Target,
        fallbacks: [any Request.Target] = [],
        priority: Priority = .normal
    ) async throws(NetworkError) -> Image {
        try await image(ImageRequest(target, fallbacks: fallbacks, priority: priority))
    }

    /// Loads an image. Cancelling the task cancels it.
    ///
    /// - Throws: `NetworkError`, as `ImageTask.image` does.
    public func image(_ request: ImageRequest) async throws(NetworkError) -> Image {
        if Task.isCancelled { throw .cancelledBeforeStart }
        let task = start(request)
        return try await NetworkError.catching {
            try await withTaskCancellationHandler {
                try await task.image
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// Starts to load an image, and returns a task with its events and its priority.
    public func start(_ request: ImageRequest) -> ImageTask { start(request, nil) }

    /// Starts to load an image, and records its times.
    func start(_ request: ImageRequest, _ record: LoadRecord?) -> ImageTask {
        let client = currentClient
        let control = Priority.Control(request.priority)
        let interactive = InteractiveLoad(client.container.interactiveLoads)
        let load: ImageLoad
        do throws(NetworkError) {
            load = try ImageLoad(request, client, self)
        } catch {
            let task = ImageTask(request, control, record, interactive) { _ in }
            task.finish(.failure(error))
            return task
        }
        let task = ImageTask(request, control, record, interactive) { [weak self, key = load.key] in
            self?.leave($0, key)
        }
        let joined = loads.withLock { loads in
            let joined = loads[load.key] ?? load
            loads[load.key] = joined
            joined.add(task, control)
            return joined
        }
        if joined === load { load.start(queue) { [weak self] in self?.end($0) } }
        return task
    }

    /// Cancels all images, for example when the user signs out.
    public func cancelAll() {
        for load in loads.withLock({ Array($0.values) }) { load.cancelTasks() }
    }

    /// The number of images that are being loaded.
    public var activeCount: Int { loads.withLock { $0.count } }
    /// The number of images that wait because of a limit.
    public var waitingCount: Int { queue.count }

    /// Removes a task, and cancels the load if it was the last.
    private func leave(_ task: ImageTask, _ key: ImageLoad.Key) {
        let ended: ImageLoad? = loads.withLock { loads in
            guard let load = loads[key], load.remove(task), load.isEmpty else { return nil }
            loads[key] = nil
            return load
        }
        ended?.cancel()
    }

    /// Removes a load that has ended, so that none joins it any more.
    private func end(_ load: ImageLoad) {
        loads.withLock { loads in
            if loads[load.key] === load { loads[load.key] = nil }
        }
    }
}
