extension ViewClient {
    /// A screen that a `ViewClient` has fetched.
    public struct FetchedScreen<Screen: Sendable>: Sendable {
        /// The decoded screen.
        public let screen: Screen
        /// The response.
        public let response: NetworkResponse
        /// The origin of the response.
        public let source: NetworkOperation.Result.Source
        /// Whether the screen is stored and may be outdated: the server couldn't be reached, or a newer screen follows.
        public let isStale: Bool
        /// Whether the screen, or its transfer, comes from a prefetch.
        public let wasPrefetched: Bool

        /// The age of a stored screen; `nil` for one from the network.
        public var age: Duration? { response.cacheStatus?.age }
    }
}

extension ViewClient.FetchedScreen {
    /// Creates a fetched screen from the result of its operation.
    init(_ screen: Screen, _ result: NetworkOperation.Result, wasPrefetched: Bool = false) {
        self.init(
            screen: screen,
            response: result.response ?? NetworkResponse(),
            source: result.source,
            isStale: result.isStale,
            wasPrefetched: wasPrefetched
        )
    }

    /// The origin of the screen, which explains the duration of its load.
    var cause: ViewClient.Scope.Timing.Load.Cause {
        wasPrefetched ? .prefetch : .init(source, response.cacheStatus)
    }
}
