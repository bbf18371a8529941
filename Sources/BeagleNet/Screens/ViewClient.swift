public import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Fetches screens, and prefetches those that may be opened next.
///
/// ```swift
/// let views = ViewClient()
/// views.prefetch(ScreenRequest("/details"), from: "home")
/// let details = try await views.fetch(ScreenRequest("/details"), as: JSONValue.self)
/// ```
///
/// A prefetch is used only for a request with the same URL, method, header fields, body and user. A fetch during the
/// prefetch takes over its transfer, with the highest priority; one after it uses the screen without a request. A
/// prefetch that failed never affects a fetch. Its screen isn't used any more after the lifetime of the
/// `PrefetchRules`, after the user has signed in or out, and, if there is a `CacheInterceptor`, after a successful
/// request with an unsafe method, such as a form, or a `Clear-Site-Data` field for the same origin.
///
/// The client knows the user by an `AuthInterceptor`, by the fields that the app and the builder add, and by the
/// request's `partition`. If cookies or another interceptor identify the user, give the requests a `partition`, or call
/// `removePrefetches()` when the user signs in or out.
///
/// Prefetches have the priority `.prefetch` and the field `Sec-Purpose: prefetch`. Only GET requests are prefetched.
/// After a 429 or 503, or a response with `Retry-After`, no prefetch is sent to the origin for that time, one minute if
/// the server doesn't say.
///
/// With `hintedImages`, a screen's images start as soon as a response names them in `Link: </a.png>; rel=preload;
/// as=image` (RFC 8288, 3): in the head of the screen, or, over libcurl, in a 103 response before it (RFC 8297). They have
/// the priority `.prefetch` until a view wants them. A `CacheInterceptor` keeps those that are complete before. The
/// `PrefetchRules` apply to them, and a hint that fails never affects the screen.
public final class ViewClient: Sendable {
    private struct State {
        var prefetches: [Prefetch.Key: Prefetch] = [:]
        /// The keys in the order in which they were requested.
        var order: [Prefetch.Key] = []
        var pauses: [Origin: ContinuousClock.Instant] = [:]
        var reports: [String: PrefetchReport] = [:]
    }

    /// The rules of prefetching.
    public let rules: PrefetchRules
    private let client: (any NetworkClient)?
    private let hintedImages: ImageLoader?
    private let state = Lock(State())

    /// Creates a client for screens.
    ///
    /// - Parameters:
    ///   - client: The client; `nil`, the default, for the `networkClient` of the container that is current when a
    ///     screen is requested.
    ///   - rules: The rules of prefetching.
    ///   - hintedImages: The loader of the images that responses name in `Link` fields; `nil`, the default, ignores the
    ///     fields.
    public init(
        client: (any NetworkClient)? = nil,
        rules: PrefetchRules = PrefetchRules(),
        hintedImages: ImageLoader? = nil
    ) {
        self.client = client
        self.rules = rules
        self.hintedImages = hintedImages
    }

    deinit { removePrefetches() }

    /// The given client, or the one of the current container.
    var currentClient: any NetworkClient { client ?? Beagle.dependencies.networkClient }

    // MARK: - Fetching

    /// Fetches a screen and decodes it. Cancelling the task cancels the request, unless it was prefetched.
    ///
    /// If a stored screen can't be decoded, it is fetched once more from the server.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - type: The type to decode. `JSONValue` is the tree of any JSON.
    ///   - decoder: The decoder, or `nil` to use the container's `bodyDecoder`.
    ///   - onStored: Called with a stored screen that may be outdated before the server's is there, on any thread. A
    ///     stored screen that can't be decoded is left out.
    /// - Throws: `NetworkError`: `.status` if the status is outside 200...299, `.decoding` if the screen can't be
    ///   decoded, with the place of the fault, or the reason why there is no response.
    public func fetch<Screen: Decodable & Sendable>(
        _ request: ScreenRequest,
        as type: Screen.Type = Screen.self,
        decoder: (any BodyDecoder)? = nil,
        onStored: (@Sendable (FetchedScreen<Screen>) -> Void)? = nil
    ) async throws(NetworkError) -> FetchedScreen<Screen> {
        try await fetch(request, as: type, decoder: decoder, onStored: onStored, keepingHints: nil)
    }

    /// Fetches a screen, and adds the hints of its images to those that its scope cancels.
    func fetch<Screen: Decodable & Sendable>(
        _ request: ScreenRequest,
        as type: Screen.Type,
        decoder: (any BodyDecoder)?,
        onStored: (@Sendable (FetchedScreen<Screen>) -> Void)?,
        keepingHints kept: Lock<[ImageHints]>?
    ) async throws(NetworkError) -> FetchedScreen<Screen> {
        let client = currentClient
        let decoder = decoder ?? client.container.bodyDecoder
        var operation = try request.operation(client)
        let hints = hintedImages.map { ImageHints(of: request, $0, self) }
        if let hints {
            operation.onHead = { hints.receive($0, to: $1) }
            kept?.withLock { kept in
                kept.removeAll(where: \.isOver)
                kept.append(hints)
            }
        }
        do throws(NetworkError) {
            let screen = try await fetch(request, operation, client, decoder, hints, as: type, onStored)
            hints?.finish()
            inspect(screen.response, client.container)
            return screen
        } catch {
            hints?.cancel()
            throw error
        }
    }

    private func fetch<Screen: Decodable & Sendable>(
        _ request: ScreenRequest,
        _ operation: NetworkOperation,
        _ client: any NetworkClient,
        _ decoder: any BodyDecoder,
        _ hints: ImageHints?,
        as type: Screen.Type,
        _ onStored: (@Sendable (FetchedScreen<Screen>) -> Void)?
    ) async throws(NetworkError) -> FetchedScreen<Screen> {
        if let result = await prefetched(request, operation, client) {
            hints?.receive(result)
            if let screen = Self.decoded(result, as: type, decoder, wasPrefetched: true) { return screen }
        }
        let result = try await client.run(operation) { result in
            hints?.receive(result)
            guard let onStored, result.isStale else { return }
            if let screen = Self.decoded(result, as: type, decoder) { onStored(screen) }
        }
        hints?.receive(result)
        guard let response = result.response else { throw .noResponse }
        do throws(NetworkError) {
            return FetchedScreen(try response.decode(as: type, with: decoder), result)
        } catch {
            guard result.source == .cache || response.cacheStatus?.isRevalidated == true,
                operation.policy != .cacheOnly
            else { throw error }
            // The stored screen is damaged, or of another version of the app.
            var again = operation
            again.policy = .networkOnly
            let result = try await client.run(again)
            guard let response = result.response else { throw .noResponse }
            return FetchedScreen(try response.decode(as: type, with: decoder), result)
        }
    }

    /// Fetches a screen at a path or URL and decodes it, as `fetch(_:as:decoder:onStored:)` does.
    public func fetch<Screen: Decodable & Sendable>(
        _ target: some RequestTarget,
        as type: Screen.Type = Screen.self
    ) async throws(NetworkError) -> FetchedScreen<Screen> {
        try await fetch(ScreenRequest(target), as: type)
    }

    private static func decoded<Screen: Decodable & Sendable>(
        _ result: NetworkOperation.Result,
        as type: Screen.Type,
        _ decoder: any BodyDecoder,
        wasPrefetched: Bool = false
    ) -> FetchedScreen<Screen>? {
        do throws(NetworkError) {
            guard let response = result.response else { return nil }
            return FetchedScreen(try response.decode(as: type, with: decoder), result, wasPrefetched: wasPrefetched)
        } catch {
            // The screen is fetched from the server, whose error the app gets.
            return nil
        }
    }

    // MARK: - Prefetching

    /// Prefetches a screen that may be opened next, unless the rules forbid it or it is prefetched already.
    ///
    /// - Parameters:
    ///   - request: The request. If its method isn't GET, it is refused.
    ///   - source: A name of the screen that wants it, for `report(of:)`; empty by default.
    /// - Returns: Whether the screen will be prefetched, or is already.
    @discardableResult
    public func prefetch(_ request: ScreenRequest, from source: String = "") -> Bool {
        let client = currentClient
        let prefetch = makePrefetch(request, source, client)
        let isAccepted = state.withLock { state in
            state.reports[source, default: PrefetchReport()].requested += 1
            if let present = prefetch.flatMap({ state.prefetches[$0.key] }), !present.isOutdated(rules.lifetime) {
                present.sources.withLock { _ = $0.insert(source) }
                // It counts once.
                state.reports[source, default: PrefetchReport()].requested -= 1
                return true
            }
            guard let prefetch, state.prefetches.values.count(where: \.isPending) < rules.maxPending,
                prefetch.origin.flatMap({ state.pauses[$0] }).map({ $0 < .now }) ?? true
            else {
                state.reports[source, default: PrefetchReport()].refused += 1
                return false
            }
            remove(prefetch.key, from: &state)
            state.prefetches[prefetch.key] = prefetch
            state.order.append(prefetch.key)
            return true
        }
        if isAccepted { startNext() }
        return isAccepted
    }

    /// Removes all prefetches and cancels those that are running, as after the user has signed out.
    public func removePrefetches() {
        let removed = state.withLock { state in
            let removed = Array(state.prefetches.values)
            for prefetch in removed { remove(prefetch.key, from: &state) }
            return removed
        }
        for prefetch in removed { prefetch.cancel() }
    }

    /// Cancels the pending prefetches that only this screen wants.
    func cancelPrefetches(from source: String) {
        let cancelled = state.withLock { state in
            let cancelled = state.prefetches.values.filter { prefetch in
                prefetch.sources.withLock { $0.remove(source) != nil && $0.isEmpty } && prefetch.isPending
                    && prefetch.waitingFetches == 0
            }
            for prefetch in cancelled { remove(prefetch.key, from: &state) }
            return cancelled
        }
        for prefetch in cancelled { prefetch.cancel() }
        if !cancelled.isEmpty { startNext() }
    }

    /// The outcomes of the prefetches that a screen has requested.
    ///
    /// - Parameter source: The name that the screen gave to `prefetch(_:from:)`.
    public func report(of source: String = "") -> PrefetchReport {
        state.withLock { $0.reports[source] ?? PrefetchReport() }
    }

    /// Returns whether an image that a response names may be loaded now.
    func allowsHint(_ url: URL) -> Bool {
        guard let origin = Origin(url), rules.allows(url), rules.isNetworkSuitable() else { return false }
        return state.withLock { $0.pauses[origin].map { $0 < .now } ?? true }
    }

    /// Counts a hinted image in the report of the unnamed screen.
    func countHint(_ count: (inout PrefetchReport) -> Void) {
        state.withLock { count(&$0.reports["", default: PrefetchReport()]) }
    }

    /// The number of prefetches that wait or are running.
    public var pendingCount: Int { state.withLock { $0.prefetches.values.count(where: \.isPending) } }

    /// The number of fetches that wait for a prefetch.
    var waitingFetches: Int { state.withLock { $0.prefetches.values.reduce(0) { $0 + $1.waitingFetches } } }

    private func makePrefetch(_ request: ScreenRequest, _ source: String, _ client: any NetworkClient) -> Prefetch? {
        guard request.isGet, rules.isNetworkSuitable() else { return nil }
        do throws(NetworkError) {
            var request = request
            let key = try key(request, request.operation(client), client)
            request.additionalData.headers["Sec-Purpose"] = "prefetch"
            // A stale screen in the place of a failure would look like a success.
            request.policy = .http
            let operation = try request.operation(client)
            guard rules.allows(operation.request.url) else { return nil }
            return Prefetch(key, operation, from: source, client)
        } catch {
            // The app learns it when it fetches the screen.
            return nil
        }
    }

    private func key(_ request: ScreenRequest, _ operation: NetworkOperation, _ client: any NetworkClient)
        -> Prefetch.Key
    {
        Prefetch.Key(
            url: operation.request.url.absoluteString,
            additionalData: request.additionalData,
            partition: client.container.partition(or: request.partition),
            timeout: request.timeout,
            container: ObjectIdentifier(client.container),
            credentialOwner: client.container.credentialOwner,
            message: client.messageKey(of: operation)
        )
    }

    /// The result of a prefetch of the same request, if it succeeds. It is used once.
    private func prefetched(_ request: ScreenRequest, _ operation: NetworkOperation, _ client: any NetworkClient) async
        -> NetworkOperation.Result?
    {
        guard request.isGet, request.policy != .networkOnly, request.policy != .cacheOnly else { return nil }
        let key = key(request, operation, client)
        let prefetch: Prefetch? = state.withLock { state in
            guard let prefetch = state.prefetches[key] else { return nil }
            guard !prefetch.isOutdated(rules.lifetime) else {
                remove(key, from: &state)
                return nil
            }
            // One that still waits has no transfer to take over.
            guard !prefetch.isWaiting else {
                state.reports[prefetch.source, default: PrefetchReport()].requested -= 1
                state.prefetches[key] = nil
                state.order.removeAll { $0 == key }
                return nil
            }
            return prefetch
        }
        guard let prefetch else { return nil }
        prefetch.control.raise(to: .interactive)
        guard case .success(let result)? = await prefetch.outcome(), !prefetch.isOutdated(rules.lifetime) else {
            return nil
        }
        return state.withLock { state in
            guard state.prefetches[key] === prefetch else { return nil }
            state.prefetches[key] = nil
            state.order.removeAll { $0 == key }
            state.reports[prefetch.source, default: PrefetchReport()].used += 1
            state.reports[prefetch.source, default: PrefetchReport()].usedBytes += prefetch.bytes
            return result
        }
    }

    private func startNext() {
        while let prefetch = takeNext() {
            let work = Task { [weak self] in
                let outcome: Prefetch.Outcome
                do throws(NetworkError) {
                    outcome = .success(try await prefetch.client.run(prefetch.operation))
                } catch {
                    outcome = .failure(error)
                }
                prefetch.end(outcome)
                self?.ended(prefetch, outcome)
            }
            prefetch.work.withLock { $0 = work }
            let isRemoved = state.withLock { $0.prefetches[prefetch.key] !== prefetch }
            if isRemoved { work.cancel() }
        }
    }

    private func takeNext() -> Prefetch? {
        state.withLock { state in
            guard state.prefetches.values.count(where: \.isRunning) < rules.maxRunning else { return nil }
            for key in state.order {
                if let prefetch = state.prefetches[key], prefetch.begin() { return prefetch }
            }
            return nil
        }
    }

    private func ended(_ prefetch: Prefetch, _ outcome: Prefetch.Outcome) {
        state.withLock { state in
            if let pause = outcome.pause, let origin = prefetch.origin {
                state.pauses[origin] = .now.advanced(by: pause)
                // Those that wait for the same origin would be refused now.
                for waiting in state.prefetches.values where waiting.isWaiting && waiting.origin == origin {
                    remove(waiting.key, from: &state)
                }
            }
            if state.prefetches[prefetch.key] === prefetch, prefetch.isOutdated(rules.lifetime) {
                remove(prefetch.key, from: &state)
            }
            var bytes = state.prefetches.values.reduce(0) { $0 + $1.bytes }
            while bytes > rules.maxBytes, let key = state.order.first(where: { state.prefetches[$0]?.bytes ?? 0 > 0 }) {
                bytes -= state.prefetches[key]?.bytes ?? 0
                remove(key, from: &state)
            }
        }
        startNext()
    }

    /// Removes a prefetch that wasn't used.
    private func remove(_ key: Prefetch.Key, from state: inout State) {
        guard let prefetch = state.prefetches.removeValue(forKey: key) else { return }
        state.order.removeAll { $0 == key }
        state.reports[prefetch.source, default: PrefetchReport()].wasted += 1
        state.reports[prefetch.source, default: PrefetchReport()].wastedBytes += prefetch.bytes
    }
}

extension FetchedScreen {
    fileprivate init(_ screen: Screen, _ result: NetworkOperation.Result, wasPrefetched: Bool = false) {
        self.init(
            screen: screen,
            response: result.response ?? NetworkResponse(),
            source: result.source,
            isStale: result.isStale,
            wasPrefetched: wasPrefetched
        )
    }
}

extension Prefetch {
    fileprivate var isWaiting: Bool { state.withLock { if case .waiting = $0 { true } else { false } } }
    fileprivate var isPending: Bool { isWaiting || isRunning }
}

extension Prefetch.Outcome {
    /// The time for which the origin wants no prefetches; `nil` if it doesn't mind.
    fileprivate var pause: Duration? {
        let head: HTTPResponse? =
            switch self {
            case .success(let result): result.response?.response
            case .failure(let error): error.response
            }
        guard let head else { return nil }
        let isBusy = head.status == .tooManyRequests || head.status == .serviceUnavailable
        return head.retryAfter ?? (isBusy ? .seconds(60) : nil)
    }
}
