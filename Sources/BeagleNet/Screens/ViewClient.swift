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
/// `ViewClient.PrefetchRules`, after the user has signed in or out, and, if there is a `CacheInterceptor`, after a
/// successful request with an unsafe method, such as a form, or a `Clear-Site-Data` field for the same origin.
///
/// The client knows the user by an `AuthInterceptor`, by the fields that the app and the builder add, and by the
/// request's `partition`. If cookies or another interceptor identify the user, give the requests a `partition`, or call
/// `removePrefetches()` when the user signs in or out.
///
/// Prefetches have the priority `.prefetch` and the field `Sec-Purpose: prefetch`. Only GET requests are prefetched.
/// After a 429 or 503, or a response with `Retry-After`, no prefetch is sent to the origin for that time, one minute if
/// the server doesn't say.
///
/// With `hintedImages`, a screen's images start as soon as a response names them in
/// `Link: </a.png>; rel=preload; as=image` (RFC 8288, 3): in the head of the screen, or, over libcurl, in a 103
/// response before it (RFC 8297). They have the priority `.prefetch` until a view wants them. A `CacheInterceptor`
/// keeps those that are complete before. The `ViewClient.PrefetchRules` apply to them, and a hint that fails never
/// affects the screen.
public final class ViewClient: Sendable {
    /// The rules of prefetching.
    public let rules: PrefetchRules
    private let client: (any NetworkClient)?
    private let hintedImages: ImageLoader?
    let prefetches: PrefetchQueue

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
        prefetches = PrefetchQueue(rules)
    }

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
        let load = client.container.interactiveLoads.begin()
        defer { load.end() }
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
            prefetches.pause(Origin(operation.request.url), after: .failure(error))
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
        var operation = operation
        switch await prefetches.take(request, operation, client) {
        case .result(let result):
            hints?.receive(result)
            if let screen = Self.decoded(result, as: type, decoder, wasPrefetched: true) { return screen }
        case .waiting: operation.priorityControl = Priority.Control(.interactive)
        case nil: break
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
        _ target: some Request.Target,
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
    /// It waits while a screen, an image, a form or another request of the container's clients is being loaded, and for
    /// the `idleTime` of the rules after that. Streams, downloads to files and other prefetches don't count.
    ///
    /// - Parameters:
    ///   - request: The request. If its method isn't GET, it is refused.
    ///   - source: A name of the screen that wants it, for `report(of:)`; empty by default.
    /// - Returns: Whether the screen will be prefetched, or is already.
    @discardableResult
    public func prefetch(_ request: ScreenRequest, from source: String = "") -> Bool {
        prefetch(request, from: Prefetch.Source(name: source))
    }

    /// Prefetches a screen for another one, which may have a scope.
    func prefetch(_ request: ScreenRequest, from source: Prefetch.Source) -> Bool {
        prefetches.add(request, from: source, currentClient)
    }

    /// Removes all prefetches and cancels those that are running, as after the user has signed out.
    public func removePrefetches() { prefetches.removeAll() }

    /// The outcomes of the prefetches that a screen has requested.
    ///
    /// - Parameter source: The name that the screen gave to `prefetch(_:from:)`.
    public func report(of source: String = "") -> PrefetchReport { prefetches.report(of: source) }

    /// The number of prefetches that wait or are running.
    public var pendingCount: Int { prefetches.pendingCount }
}
