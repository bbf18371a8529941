#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ViewClient {
    /// The rules that limit what a `ViewClient` prefetches.
    public struct PrefetchRules: Sendable {
        /// The time for which a prefetched screen may be used, and for which a prefetch may wait; one minute by
        /// default.
        public var lifetime = Duration.seconds(60)
        /// The time without other loads after which prefetches start; 100 ms by default, so that the images and lazy
        /// components of a screen come first.
        public var idleTime = Duration.milliseconds(100)
        /// The time after which a load in flight no longer holds prefetches back; 10 seconds by default, so that they
        /// don't wait for a long poll.
        public var maxHoldTime = Duration.seconds(10)
        /// The maximum number of prefetches that wait or are running; 16 by default. Further ones are refused.
        public var maxPending = 16
        /// The maximum number of prefetches that are running at a time; 2 by default, so that few are in flight when
        /// the user taps.
        public var maxRunning = 2
        /// The maximum size of all prefetched screens that weren't used yet, in bytes; 5 MiB by default. The oldest are
        /// removed.
        public var maxBytes = 5 << 20
        /// The maximum number of images that the `Link` fields of one fetch start, if the client follows them; 8 by
        /// default, so that a server can't fill the network before the screen is there.
        public var maxHints = 8
        /// Returns whether a URL may be prefetched; all by default. Exclude URLs that change something although they
        /// are fetched with GET, such as the one that signs the user out.
        public var allows: @Sendable (URL) -> Bool = { _ in true }
        /// Returns whether the network may be used for prefetching now, for example no if it is metered; yes by
        /// default.
        public var isNetworkSuitable: @Sendable () -> Bool = { true }

        /// The documented defaults.
        public init() {}
    }
}
