import BeagleNet
import BeagleNetHTTP

/// Sends the requests of `beagle batch`, with a cache for all of them.
struct BatchClient: Sendable {
    let store = MemoryResponseStore(maxBytes: 64 << 20, maxEntries: 10_000)
    private let transport: any HTTPTransport

    init(_ transport: any HTTPTransport) {
        self.transport = transport
    }

    /// The response to a line's request, with any status.
    func response(to line: BatchLine) async throws(NetworkError) -> NetworkResponse {
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
        let result = try await Pipeline([CacheInterceptor(store, servesStaleOffline: true)], transport: transport).run(
            operation
        ) { _ in }
        guard let response = result.response else {
            throw NetworkError(.other, during: .response, "the pipeline returned no response")
        }
        return response
    }
}
