import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// The configuration of operations with incremental responses.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct UpdatesConfigurationTests {
    /// Records the partition of each operation.
    private final class Partitions: Interceptor {
        let seen = Lock<[String]>([])

        nonisolated(nonsending) func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            seen.withLock { $0.append(operation.partition) }
            return try await next(operation, emit)
        }
    }

    /// A server that requires the document text after each hash.
    private func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            guard String(decoding: request.body, as: UTF8.self).contains(#""query":"#) else {
                let refusal = #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#
                return .response(200, ["Content-Type": "application/json"], refusal)
            }
            let line = #"{"data":{"post":{"id":"1","title":"T"}},"hasNext":false}"# + "\n"
            return .response(200, ["Content-Type": "application/jsonl"], line)
        }
    }

    @Test func configurationAppliesToEachMessageOfEachIteration() async throws {
        let server = try server()
        let (dependencies, partitions) = (BeagleDependencies(), Partitions())
        dependencies.interceptors.add(partitions)
        let client = NetworkClientDefault(dependencies: dependencies)
        var endpoint = GraphQLEndpoint(server.url)
        endpoint.documentStyle = .automatic
        let typed = try client.results(of: .post("1"), at: endpoint) { $0.partition = "ann" }
        for try await update in typed { #expect(update.response.data?.title == "T") }
        let plain = try client.results(of: GraphQLRequest(query: "{ post }"), at: endpoint) { $0.partition = "bob" }
        for _ in 0..<2 {
            for try await update in plain { #expect(!update.hasNext) }
        }
        #expect(server.requests.count == 6)
        #expect(partitions.seen.withLock { $0 } == ["ann", "ann", "bob", "bob", "bob", "bob"])
    }
}
