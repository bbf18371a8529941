import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The images that the responses to one fetch of a screen name in `Link` fields.
///
/// They start in a task of its own: heads arrive on the transport's thread, which has neither the caller's container nor
/// time for the builder.
final class ImageHints: Sendable {
    private struct State {
        var urls: Set<String> = []
        var tasks: [ImageTask] = []
        var running = 0
        var isFinished = false
        var isCancelled = false
    }

    /// The maximum number of heads that wait to be read: a server may send any number of them.
    private static let maxWaitingHeads = 64

    private let fields: AsyncStream<(links: String, base: HTTPRequest)>.Continuation
    private let loader: ImageLoader
    private let partition: String
    private let views: ViewClient
    private let state = Lock(State())

    init(of request: ScreenRequest, _ loader: ImageLoader, _ views: ViewClient) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: (links: String, base: HTTPRequest).self,
            bufferingPolicy: .bufferingOldest(Self.maxWaitingHeads)
        )
        fields = continuation
        self.loader = loader
        self.views = views
        partition = request.partition
        Task {
            for await field in stream { self.start(WebLink.parsing(field.links), field.base) }
            self.state.withLock { $0.isFinished = true }
        }
    }

    /// Whether the hints have ended and no image is being loaded.
    var isOver: Bool { state.withLock { $0.isFinished && $0.running == 0 } }

    /// Follows the links of an early hint or of a successful response.
    func receive(_ response: HTTPResponse, to request: HTTPRequest) {
        guard response.status.code == 103 || response.status.kind == .successful,
            let links = response.headerFields[.link]
        else { return }
        fields.yield((links, request))
    }

    /// Follows the links of a result whose transport doesn't report heads, or that is stored.
    func receive(_ result: NetworkOperation.Result) {
        guard let response = result.response, response.response.headerFields.contains(.link) else { return }
        do throws(NetworkError) {
            let url = try WireURL(response.url)
            let request = HTTPRequest(method: .get, scheme: url.scheme, authority: url.authority, path: url.target)
            receive(response.response, to: request)
        } catch {
            // Without the URL of the response, its links have no base.
        }
    }

    /// Ends the hints; the images that were started go on.
    func finish() { fields.finish() }

    /// Ends the hints and their images, except for those that a view wants.
    func cancel() {
        finish()
        let tasks = state.withLock { state in
            state.isCancelled = true
            return state.tasks
        }
        for task in tasks { task.cancel() }
    }

    private func start(_ links: [WebLink], _ base: HTTPRequest) {
        for link in links where link.isImagePreload && isShown(link) {
            guard let url = url(link.target, base), views.prefetches.allowsHint(url), take(url) else { continue }
            var request = ImageRequest(url, priority: .prefetch)
            request.partition = partition
            let task = loader.start(request)
            views.prefetches.countHint { $0.hinted += 1 }
            let isCancelled = state.withLock { state in
                state.tasks.append(task)
                state.running += 1
                return state.isCancelled
            }
            if isCancelled { task.cancel() }
            Task { [views, state] in
                do throws(NetworkError) {
                    _ = try await task.image
                } catch {
                    if !error.isCancelled { views.prefetches.countHint { $0.failedHints += 1 } }
                }
                state.withLock { $0.running -= 1 }
            }
        }
    }

    /// Whether the app can show the type of the image, if the link has one.
    private func isShown(_ link: WebLink) -> Bool {
        guard !loader.formats.isEmpty, let type = link.parameters["type"].flatMap(MediaType.init) else { return true }
        return loader.formats.contains { $0.rawValue == type.essence }
    }

    /// The URL of an image; `nil` if it isn't an HTTP URL, or would be sent in clear text for an encrypted screen.
    private func url(_ target: String, _ base: HTTPRequest) -> URL? {
        do throws(NetworkError) {
            let text = URLReference(target.encodingOpaqueBytes).resolved(against: base)
            let url = try URLReference(text).url()
            let scheme = Origin(url)?.scheme
            return scheme == "https" || scheme == "http" && base.scheme == "http" ? url : nil
        } catch {
            // A link to nothing is a hint without use.
            return nil
        }
    }

    /// Returns whether an image is within the limit and new.
    private func take(_ url: URL) -> Bool {
        state.withLock { state in
            guard state.urls.count < views.rules.maxHints, !state.isCancelled else { return false }
            return state.urls.insert(url.absoluteString).inserted
        }
    }
}

extension HTTPField.Name {
    fileprivate static let link = Self("Link")!
}
