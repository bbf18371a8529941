import BeagleNetCache
public import BeagleNetHTTP

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ViewClient.Scope {
    /// The times from the tap until a screen was ready, by the clock of the client's container.
    ///
    /// All times count from the call of `ViewClient.open`. A load ends with its result or its failure.
    public struct Timing: Sendable {
        /// One load of the screen.
        public struct Load: Sendable {
            /// The kind of a load.
            public enum Kind: String, Sendable, Hashable, CaseIterable {
                /// The screen itself. If it fails, the next fetch is another attempt.
                case screen
                /// A lazy component: any fetch after that of the screen.
                case lazy
                /// An image.
                case image
            }

            /// The origin of a result, which explains its duration.
            public enum Cause: String, Sendable, Hashable, CaseIterable {
                /// A stored response without a request, or a `data:` URL.
                case store
                /// A prefetch, or the transfer of a hinted or prefetched image, that the load took over.
                case prefetch
                /// A request, even if a stored response was used in the end because the server couldn't be reached.
                case network
            }

            /// The kind.
            public let kind: Kind
            /// The path or URL as the app requested it, without secrets; `data:` for a `data:` URL.
            public internal(set) var target: String
            /// The time at which the load began.
            public let begin: Duration
            /// The time at which a stored result that may be outdated was delivered before the result; `nil` without
            /// one.
            public internal(set) var stored: Duration?
            /// The time at which the load ended.
            public internal(set) var end = Duration.zero
            /// The part of the duration in which the load waited in a queue: for the loader's limits or a connection.
            public internal(set) var waiting = Duration.zero
            /// The origin of the result; `nil` if the load failed.
            public internal(set) var cause: Cause?
            /// The reason of the failure; `nil` if the load succeeded.
            public internal(set) var error: NetworkError?
            /// The time at which the load joined the loader's queue; `nil` if it isn't in it.
            var waitingSince: Duration?
            var isRunning = true

            init(_ kind: Kind, _ target: String, begin: Duration) {
                self.kind = kind
                self.target = target
                self.begin = begin
            }

            /// The time from the begin to the end.
            public var duration: Duration { end - begin }

            /// Notes whether the load is in the loader's queue.
            mutating func noteQueue(_ isWaiting: Bool, _ now: Duration) {
                waiting += waitingSince.map { now - $0 } ?? .zero
                waitingSince = isWaiting ? now : nil
            }
        }

        /// The name of the screen.
        public let name: String
        /// The time of the call of `ViewClient.open`, by the system's clock.
        public let opened: Date
        /// The loads in the order in which they began, at most 1,000.
        public let loads: [Load]
        /// The context of the loads.
        package let context: (any LoadContext)?

        /// The time at which the screen was decoded or failed; `nil` if it wasn't fetched.
        public var screen: Duration? { end(of: .screen) }
        /// The time at which the last lazy component ended; `nil` without lazy components.
        public var lastLazy: Duration? { end(of: .lazy) }
        /// The time at which the last image ended; `nil` without images.
        public var lastImage: Duration? { end(of: .image) }
        /// The time at which the last load ended; zero without loads.
        public var ready: Duration { loads.map(\.end).max() ?? .zero }

        private func end(of kind: Load.Kind) -> Duration? { loads.filter { $0.kind == kind }.map(\.end).max() }
    }
}

extension ViewClient.Scope.Timing.Load.Cause {
    /// The cause of a result that no prefetch has brought.
    init(_ source: NetworkOperation.Result.Source, _ status: CacheStatus?) {
        self = source != .network && status?.forwardReason == nil ? .store : .network
    }
}

/// A context in which the loads of a screen run, such as the span of the screen.
package protocol LoadContext: Sendable {
    /// Runs a body in the context.
    func run<R>(_ body: () -> R) -> R

    /// Runs a body in the context.
    nonisolated(nonsending) func run<R>(_ body: nonisolated(nonsending) () async -> R) async -> R
}

extension (any LoadContext)? {
    /// Runs a body in the context, if there is one.
    func run<R>(_ body: () -> R) -> R {
        if let self { self.run(body) } else { body() }
    }

    /// Runs a body in the context, if there is one.
    nonisolated(nonsending) func run<R>(_ body: nonisolated(nonsending) () async -> R) async -> R {
        if let self { await self.run(body) } else { await body() }
    }
}
