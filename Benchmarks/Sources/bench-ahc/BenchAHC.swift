import AsyncHTTPClient
import Load
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// async-http-client on one event-loop thread.
@main
struct BenchAHC {
    static func main() async throws {
        let arguments = Arguments()
        var configuration = HTTPClient.Configuration()
        if let file = arguments.authorities {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(file)
            configuration.tlsConfiguration = tls
        }
        configuration.httpVersion = arguments.isHTTP2 ? .automatic : .http1Only
        // The same limit of connections as for the other clients.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(arguments.tasks, 8)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
        let isStreamed = arguments.shape == .big
        try await measure("ahc", arguments) {
            var request = HTTPClientRequest(url: arguments.url)
            request.headers.add(name: "accept", value: "application/json")
            let response = try await client.execute(request, timeout: .seconds(60))
            guard response.status == .ok else { throw UnexpectedStatus(status: response.status.code) }
            guard isStreamed else { return try await response.body.collect(upTo: 1 << 20).readableBytes }
            var count = 0
            for try await chunk in response.body { count += chunk.readableBytes }
            return count
        }
        try await client.shutdown()
        try await group.shutdownGracefully()
    }
}

private struct UnexpectedStatus: Error {
    let status: UInt
}
