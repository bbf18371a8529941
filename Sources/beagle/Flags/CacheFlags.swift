import ArgumentParser
import BeagleNet
import BeagleNetHTTP

/// The options for storing responses on the disk and using them.
@dynamicMemberLookup
struct CacheFlags: ParsableArguments {
    @OptionGroup var store: CacheStoreFlags

    @Option(
        name: .customLong("cache-mode"),
        help: ArgumentHelp(
            """
            Use of stored responses: 'http' uses fresh ones; 'cache-first' also those without a lifetime; 'cache-only' \
            never uses the network; 'network-only' never uses stored ones; 'network-first' uses stale ones if the \
            server cannot be reached or responds with 5xx; 'cache-and-network' always uses the network, and stale \
            ones if it fails. (default: network-first for screens, cache-first for images and queries, otherwise http)
            """,
            valueName: "mode"
        )
    )
    var mode: CacheMode?

    init() {}

    /// Creates the options of a command without a mode.
    init(_ store: CacheStoreFlags) {
        (self.store, mode) = (store, nil)
    }

    subscript<Value>(dynamicMember member: KeyPath<CacheStoreFlags, Value>) -> Value { store[keyPath: member] }

    func validate() throws {
        if mode != nil, store.folder == nil { throw ValidationError("'--cache-mode' requires '--cache'.") }
    }
}

/// A policy for stored responses: `--cache-mode`.
enum CacheMode: String, ExpressibleByArgument, CaseIterable {
    case http
    case cacheFirst = "cache-first"
    case cacheOnly = "cache-only"
    case networkOnly = "network-only"
    case networkFirst = "network-first"
    case cacheAndNetwork = "cache-and-network"

    var policy: RequestPolicy {
        switch self {
        case .http: .http
        case .cacheFirst: .cacheFirst
        case .cacheOnly: .cacheOnly
        case .networkOnly: .networkOnly
        case .networkFirst: .networkFirst
        case .cacheAndNetwork: .cacheAndNetwork
        }
    }
}
