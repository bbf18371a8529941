public import BeagleNetHTTP
import Synchronization
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An image that is being loaded.
///
/// Releasing the task doesn't cancel it.
public final class ImageTask: RequestToken {
    /// Something that happens before the image is there.
    public enum Event: Sendable {
        /// A stored image that may be outdated, to show until the newer one is there.
        case stored(ImageLoader.Image)
        /// The number of bytes received so far, and the total number if the server declared it; at most every 50 ms.
        case progress(received: Int64, total: Int64?)
        /// The bytes received so far, each time there are a quarter more; only if the request wants snapshots.
        case snapshot(Data)
    }

    /// The events until the image is there or has failed. Only one task may read them. If it reads too slowly, it
    /// receives the latest.
    public let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    let wantsSnapshots: Bool
    /// The record of the scope that wants the image.
    let record: LoadRecord?
    private let control: Priority.Control
    private let load: InteractiveLoad
    private let onCancel: @Sendable (ImageTask) -> Void
    private let isOver = Atomic(false)
    private let outcome = Promise<Result<ImageLoader.Image, NetworkError>>()

    init(
        _ request: ImageRequest,
        _ control: Priority.Control,
        _ record: LoadRecord?,
        _ load: InteractiveLoad,
        onCancel: @escaping @Sendable (ImageTask) -> Void
    ) {
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(8))
        wantsSnapshots = request.wantsSnapshots
        self.control = control
        self.record = record
        self.load = load
        self.onCancel = onCancel
        if request.priority > .prefetch { load.begin() }
    }

    /// The image. Cancelling the waiting task doesn't cancel the loading; `cancel()` does.
    ///
    /// - Throws: `NetworkError`: `.status` for a status outside 200...299, `.decoding` if the response isn't an image,
    ///   `.tooLarge` if it exceeds a limit, `.badURL` for a malformed URL, or the reason why there is no response. With
    ///   fallbacks, the error of the first image.
    public var image: ImageLoader.Image {
        get async throws(NetworkError) {
            try await outcome.value.get()
        }
    }

    /// The current priority, which is the highest of all tasks that load the same image.
    public var priority: Priority { control.priority }

    /// Raises the priority, also of an image that is waiting or being transferred.
    public func raise(to priority: Priority) {
        if priority > .prefetch { load.begin() }
        control.raise(to: priority)
    }

    /// Stops loading. The transfer ends with the last task that loads the same image, and the bytes so far may be
    /// continued later.
    public func cancel() {
        if finish(.failure(.left)) { onCancel(self) }
    }

    func receive(_ event: Event) {
        if case .snapshot = event, !wantsSnapshots { return }
        if case .stored = event { record?.noteStored() }
        continuation.yield(event)
    }

    /// Ends the task.
    ///
    /// - Returns: Whether it was loading.
    @discardableResult
    func finish(_ outcome: Result<ImageLoader.Image, NetworkError>) -> Bool {
        if isOver.exchange(true, ordering: .relaxed) { return false }
        load.end()
        record?.end(outcome.map { .init($0.source, $0.cacheStatus) })
        continuation.finish()
        self.outcome.complete(outcome)
        return true
    }
}
