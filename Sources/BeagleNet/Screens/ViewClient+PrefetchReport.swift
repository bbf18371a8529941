extension ViewClient {
    /// The outcomes of the prefetches of one screen.
    public struct PrefetchReport: Sendable, Hashable {
        /// The prefetches that were requested.
        public internal(set) var requested = 0
        /// The prefetches that were refused by the rules.
        public internal(set) var refused = 0
        /// The prefetches that were still waiting when a fetch of the screen began, which sent the request itself.
        public internal(set) var overtaken = 0
        /// The prefetches that were removed while they were waiting, so that nothing was sent.
        public internal(set) var dropped = 0
        /// The prefetched screens that were used.
        public internal(set) var used = 0
        /// The bytes of the screens that were used.
        public internal(set) var usedBytes = 0
        /// The prefetches that failed, or whose screen was removed before it was used.
        public internal(set) var wasted = 0
        /// The bytes of the screens that were removed before they were used.
        public internal(set) var wastedBytes = 0

        /// The images that were started because a response named them in a `Link` field.
        public internal(set) var hinted = 0
        /// The hinted images that couldn't be loaded.
        public internal(set) var failedHints = 0

        /// The prefetches that may still be used.
        public var unused: Int { requested - refused - overtaken - dropped - used - wasted }
    }
}
