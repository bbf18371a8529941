import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One image that is being loaded for all tasks that want it.
final class ImageLoad: Sendable {
    /// The properties that requests have in common to share a load.
    struct Key: Hashable, Sendable {
        fileprivate let urls: [String]
        fileprivate let headers: [String: String]
        fileprivate let policy: RequestPolicy?
        fileprivate let partition: String
        /// The container and the user of the credentials: no user gets the image of another.
        fileprivate let container: ObjectIdentifier
        fileprivate let credentialOwner: Int
        /// The message as the client builds it, with the credentials that it adds.
        fileprivate let message: NetworkOperation.Key?
    }

    private struct State {
        var tasks: [ImageTask] = []
        var isOver = false
        var isWaiting = false
        var work: Task<Void, Never>?
    }

    private enum Source {
        case url(URL)
        /// The text of a `data:` URL.
        case data(String)

        var text: String {
            switch self {
            case .url(let url): url.absoluteString
            case .data(let text): text
            }
        }
    }

    let key: Key
    private let sources: [Source]
    private let request: ImageRequest
    private let client: any NetworkClient
    private let limits: ImageLoader.Limits
    private let formats: [ImageHeader.Format]
    private let control: Priority.Control
    private let state = Lock(State())

    /// - Throws: `NetworkError` of kind `.badURL` if the target, or a fallback, isn't a path or URL.
    init(_ request: ImageRequest, _ client: any NetworkClient, _ loader: ImageLoader) throws(NetworkError) {
        var sources: [Source] = []
        for target in [request.target] + request.fallbacks { sources.append(try Self.source(target, client)) }
        self.sources = sources
        self.request = request
        self.client = client
        (limits, formats) = (loader.limits, loader.formats)
        control = Priority.Control(request.priority)
        var message: NetworkOperation.Key?
        if case .url(let url)? = sources.first {
            message = client.messageKey(of: NetworkOperation(Self.message(url, request, formats)))
        }
        key = Key(
            urls: sources.map(\.text),
            headers: request.headers,
            policy: request.policy,
            partition: client.container.partition(or: request.partition),
            container: ObjectIdentifier(client.container),
            credentialOwner: client.container.credentialOwner,
            message: message
        )
    }

    private static func source(_ target: any Request.Target, _ client: any NetworkClient) throws(NetworkError) -> Source
    {
        // An app's URL builder may know paths only.
        if let text = target as? String, DataURL.isOne(text) { return .data(text) }
        let url = try target.url(in: client.container)
        return DataURL.isOne(url.absoluteString) ? .data(url.absoluteString) : .url(url)
    }

    // MARK: - Tasks

    /// Adds a task, whose priority counts for all.
    func add(_ task: ImageTask, _ control: Priority.Control) {
        let isOver = state.withLock { state in
            if state.isOver { return true }
            if !state.tasks.isEmpty, request.priority == .prefetch { task.record?.noteAdoption() }
            task.record?.noteQueue(state.isWaiting)
            state.tasks.append(task)
            return false
        }
        if isOver { return }
        self.control.raise(to: control.attach(self.control))
    }

    /// Removes a task.
    ///
    /// - Returns: Whether it was there.
    func remove(_ task: ImageTask) -> Bool {
        state.withLock { state in
            guard let index = state.tasks.firstIndex(where: { $0 === task }) else { return false }
            state.tasks.remove(at: index)
            return true
        }
    }

    var isEmpty: Bool { state.withLock { $0.tasks.isEmpty } }

    func cancelTasks() {
        for task in state.withLock({ $0.tasks }) { task.cancel() }
    }

    func cancel() { state.withLock { $0.work }?.cancel() }

    private func send(_ event: ImageTask.Event) {
        for task in state.withLock({ $0.tasks }) { task.receive(event) }
    }

    /// Notes whether the image waits in the queue.
    private func noteQueue(_ isWaiting: Bool) {
        state.withLock { state in
            state.isWaiting = isWaiting
            for task in state.tasks { task.record?.noteQueue(isWaiting) }
        }
    }

    /// Starts loading.
    ///
    /// - Parameter end: Called when no task may join any more.
    func start(_ queue: ImageQueue, _ end: @escaping @Sendable (ImageLoad) -> Void) {
        let work = Task {
            let outcome: Result<ImageLoader.Image, NetworkError>
            do throws(NetworkError) {
                outcome = .success(try await self.firstImage(queue))
            } catch {
                outcome = .failure(error)
            }
            end(self)
            let tasks = self.state.withLock { state in
                state.isOver = true
                defer { state.tasks = [] }
                return state.tasks
            }
            for task in tasks { task.finish(outcome) }
        }
        let isCancelled = state.withLock { state in
            state.work = work
            return state.tasks.isEmpty
        }
        if isCancelled { work.cancel() }
    }

    // MARK: - Loading

    /// The first of the images that can be loaded.
    private func firstImage(_ queue: ImageQueue) async throws(NetworkError) -> ImageLoader.Image {
        var first: NetworkError?
        for source in sources {
            do throws(NetworkError) {
                switch source {
                case .url(let url): return try await image(url, queue)
                case .data(let text): return try Self.image(ofDataURL: text)
                }
            } catch {
                if error.isCancelled || Task.isCancelled { throw error }
                first = first ?? error
            }
        }
        throw first ?? .noResponse
    }

    private static func image(ofDataURL text: String) throws(NetworkError) -> ImageLoader.Image {
        let url = try DataURL(text)
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: url.type])
        return try ImageLoader.Image(url.data, from: .cache, head).checked()
    }

    private func image(_ url: URL, _ queue: ImageQueue) async throws(NetworkError) -> ImageLoader.Image {
        let policy = request.policy ?? client.container.policy ?? .cacheFirst
        if policy == .cacheFirst || policy == .cacheAndNetwork, let stored = await stored(url) {
            if !stored.isStale, policy != .cacheAndNetwork { return stored }
            send(.stored(stored))
        }
        if policy == .cacheOnly { return try await collected(url, .cacheOnly) }
        noteQueue(true)
        return try await queue.run(host: url.host() ?? "", control) { () throws(NetworkError) in
            self.noteQueue(false)
            return try await self.transferred(url)
        }
    }

    /// The stored image, which doesn't wait for its turn.
    private func stored(_ url: URL) async -> ImageLoader.Image? {
        do throws(NetworkError) {
            return try await collected(url, .cacheOnly)
        } catch {
            // No image is stored, or the client has no store. Other errors come from the transfer, too.
            return nil
        }
    }

    private func collected(_ url: URL, _ policy: RequestPolicy) async throws(NetworkError) -> ImageLoader.Image {
        var operation = NetworkOperation(message(url), policy: policy)
        operation.partition = request.partition
        let result = try await client.run(operation)
        guard let response = result.response else { throw .noResponse }
        return try ImageLoader.Image(
            response.data,
            from: result.source,
            response.response,
            url: response.url,
            response.cacheStatus
        ).checked()
    }

    private func message(_ url: URL) -> Request { Self.message(url, request, formats) }

    private static func message(_ url: URL, _ request: ImageRequest, _ formats: [ImageHeader.Format]) -> Request {
        var headers = request.headers
        if let accept = formats.accept, !headers.keys.contains(where: { $0.lowercased() == "accept" }) {
            headers["Accept"] = accept
        }
        let data = headers.isEmpty ? nil : HttpAdditionalData(headers: headers)
        return Request(url: url, type: .fetchImage, additionalData: data)
    }

    private func transferred(_ url: URL) async throws(NetworkError) -> ImageLoader.Image {
        let image = try await received(url, request.policy)
        do throws(NetworkError) {
            return try image.checked()
        } catch {
            guard image.source == .cache || image.cacheStatus?.isRevalidated == true else { throw error }
            // Something else than an image was stored, such as the page of a hotel's network.
            return try await received(url, .networkOnly).checked()
        }
    }

    private func received(_ url: URL, _ policy: RequestPolicy?) async throws(NetworkError) -> ImageLoader.Image {
        var operation = NetworkOperation.stream(message(url))
        if let policy { operation.policy = policy }
        operation.partition = request.partition
        operation.priorityControl = control
        let result = try await client.run(operation)
        let stream = try result.streamed()
        for task in state.withLock({ $0.tasks }) { task.record?.noteWait(stream.metrics.queued) }
        guard stream.response.status.kind == .successful else {
            _ = try await stream.collect().result().get()
            throw .noResponse
        }
        let data = try await body(of: stream)
        return ImageLoader.Image(data, from: result.source, stream.response, url: stream.url, stream.cacheStatus)
    }

    private func body(of stream: StreamingResponse) async throws(NetworkError) -> Data {
        if let whole = stream.body.data { return whole }
        let total = stream.body.length
        let limit = limits.bytes
        if let total, total > limit { throw .imageTooLarge(limit) }
        return try await NetworkError.catching {
            var data = Data(capacity: Int(clamping: total ?? 0))
            var pace = ProgressPace()
            var nextSnapshot = 4_096
            for try await chunk in stream.body {
                data += chunk
                if data.count > limit { throw NetworkError.imageTooLarge(limit) }
                if pace.isDue() || Int64(data.count) == total {
                    send(.progress(received: Int64(data.count), total: total))
                }
                if data.count >= nextSnapshot {
                    nextSnapshot = data.count / 4 * 5
                    if state.withLock({ $0.tasks.contains(where: \.wantsSnapshots) }) { send(.snapshot(data)) }
                }
            }
            return data
        }
    }
}

extension NetworkError {
    fileprivate static func imageTooLarge(_ limit: Int) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .body,
            "the image has more than \(limit) bytes",
            advice: "increase ImageLoader.Limits.bytes if you expect images of this size"
        )
    }
}

extension [ImageHeader.Format] {
    /// The value of `Accept` that prefers these formats; `nil` for an empty array.
    var accept: String? { isEmpty ? nil : map(\.rawValue).joined(separator: ", ") + ", image/*;q=0.5" }
}
