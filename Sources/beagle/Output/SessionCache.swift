import BeagleNet
import BeagleNetDiskCache
import BeagleNetHTTP

/// The cache of a run: responses on the disk, for one user.
struct SessionCache: Sendable {
    let interceptor: CacheInterceptor
    /// The policy of the command line; `nil` for the default of the request's kind.
    let policy: RequestPolicy?
    /// The user; empty if none is named.
    let user: String
    private let disk: DiskResponseStore

    /// Opens the cache of the command line, or returns `nil` without `--cache`.
    ///
    /// - Parameter servesStale: Whether requests without a `--cache-mode` use stale responses if there are no others.
    static func open(_ flags: CacheFlags?, servesStale: Bool, _ console: Console) throws(NetworkError) -> Self? {
        guard let flags, let folder = flags.folder else { return nil }
        let maxBytes = flags.size?.bytes ?? DiskResponseStore.defaultMaxBytes
        let key = try flags.key.bytes()
        let disk = try DiskResponseStore(folder: folder, maxBytes: maxBytes, encryptionKey: key) { console.note($0) }
        let policy = flags.mode?.policy
        // A stale response that these policies find is emitted before the network's response. The tool shows only one
        // response, so it needs the stale one only if there is no other.
        let emitsStale = policy == .cacheAndNetwork || policy == .cacheFirst || policy == nil && servesStale
        return SessionCache(
            interceptor: CacheInterceptor(TieredResponseStore(disk: disk), servesStaleOffline: emitsStale),
            policy: policy,
            user: flags.user ?? "",
            disk: disk
        )
    }

    /// Waits until the cache has changed as the run's responses require.
    func finish() async {
        await interceptor.finishRevalidations()
        await disk.finishWriting()
    }
}

extension Console {
    /// Reports a problem with stored files, such as those of a cache or an outbox.
    func note(_ problem: NetworkError) {
        note("beagle: \(problem.message)\(problem.advice.map { "; \($0)" } ?? "")".printable)
    }
}
