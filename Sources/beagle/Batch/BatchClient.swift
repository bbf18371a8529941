import BeagleNet
import BeagleNetDiskCache
import BeagleNetHTTP

/// Sends the requests of `beagle batch`, with a cache for all of them.
struct BatchClient: Sendable {
    private let transport: any HTTPTransport
    private let cache: CacheInterceptor
    /// The part of the cache that outlives the process, if there is one.
    private let disk: DiskResponseStore?
    private let running = RunningRequests()

    /// Creates a client.
    ///
    /// - Parameter disk: The responses on the disk; `nil` to store responses in memory only.
    init(_ transport: any HTTPTransport, disk: DiskResponseStore? = nil) {
        self.transport = transport
        self.disk = disk
        let memory = MemoryResponseStore(maxBytes: 64 << 20, maxEntries: 10_000)
        let store: any ResponseStore = disk.map { TieredResponseStore(memory: memory, disk: $0) } ?? memory
        cache = CacheInterceptor(store, servesStaleOffline: true)
    }

    /// The names of the cache's abilities, for the reply to `hello`.
    var features: [String] {
        ["interim", "cacheMode", "swr", "sie", "beagle-hash"] + (disk == nil ? [] : ["persistent", "coalescing"])
    }

    /// Removes all stored responses.
    func clear() async { await cache.store.removeAll() }

    /// Waits until the cache has changed as the responses require.
    func finish() async {
        await cache.finishRevalidations()
        await disk?.finishWriting()
    }

    /// The response to a line's request, with any status. With a cache on the disk, simple requests that are equal and
    /// run at the same time share a response.
    func response(to line: BatchLine) async throws(NetworkError) -> NetworkResponse {
        guard disk != nil, let content = try line.shareableContent() else { return try await ownResponse(to: line) }
        return try await running.response(to: content) { () throws(NetworkError) in try await ownResponse(to: line) }
    }

    private func ownResponse(to line: BatchLine) async throws(NetworkError) -> NetworkResponse {
        var request = try line.request()
        switch try line.cacheMode() {
        case .standard: return try await response(to: request, .http)
        case .noStore: return NetworkResponse(try await transport.perform(request))
        case .reload: return try await response(to: request, .networkOnly)
        case .noCache:
            request.head.headerFields.append(HTTPField(name: .cacheControl, value: "max-age=0"))
            return try await response(to: request, .http)
        case .onlyIfCached: return try await response(to: request, .cacheOnly)
        case .forceCache:
            do throws(NetworkError) {
                return try await response(to: request, .cacheOnly)
            } catch {
                guard error.kind == .notStored else { throw error }
                return try await response(to: request, .networkOnly)
            }
        }
    }

    private func response(
        to request: TransferRequest,
        _ policy: RequestPolicy
    ) async throws(NetworkError) -> NetworkResponse {
        // All lines are of one user.
        let operation = NetworkOperation.of(
            request,
            kind: .raw,
            partition: "batch",
            policy: policy,
            logger: OffLogger()
        )
        let result = try await Pipeline([cache], transport: transport).run(operation) { _ in }
        guard let response = result.response else {
            throw NetworkError(.other, during: .response, "the pipeline returned no response")
        }
        return response
    }
}
