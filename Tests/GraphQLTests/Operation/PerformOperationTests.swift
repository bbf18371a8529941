import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Dispatch
import Foundation
import Testing

/// Operations with completions.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct PerformOperationTests {
    private static let isOnQueue = DispatchSpecificKey<Bool>()
    private let dependencies = BeagleDependencies()
    private let queue = DispatchQueue(label: "completions")
    private let half = LoopbackServer.Response.response(
        200,
        ["Content-Type": "application/json"],
        #"{"data":{"post":{"id":"1","title":"T"}},"errors":[{"message":"half"}]}"#
    )
    private var client: NetworkClientDefault { NetworkClientDefault(dependencies: dependencies) }

    init() {
        dependencies.logger = OffLogger()
        queue.setSpecific(key: Self.isOnQueue, value: true)
    }

    @Test func endpointOfTheCallOverridesTheContainers() async throws {
        let (server, other) = (try LoopbackServer(half), try LoopbackServer(.response(500)))
        dependencies.graphQLEndpoint = GraphQLEndpoint(other.url)
        let client = client
        let result: Result<Post, NetworkError> = await withCheckedContinuation { continuation in
            client.performOperation(.post("1"), at: GraphQLEndpoint(server.url + "/own")) { result in
                continuation.resume(returning: result)
            }
        }
        #expect(try result.get() == Post(id: "1", title: "T"))
        #expect(server.requests.map(\.target) == ["/own"])
        #expect(other.requests.isEmpty)
    }

    @Test func completionReceivesDataAndErrors() async throws {
        let server = try LoopbackServer(half)
        let client = client
        let result: Result<GraphQLResponse<Post>, NetworkError> = await withCheckedContinuation { continuation in
            client.executeOperation(.post("1"), at: GraphQLEndpoint(server.url)) { result in
                continuation.resume(returning: result)
            }
        }
        let response = try result.get()
        #expect(response.data == Post(id: "1", title: "T"))
        #expect(response.errors.map(\.message) == ["half"])
        #expect(response.response.status == .ok)
    }

    @Test func cancellingCallsTheCompletionOnceAndClosesTheConnection() async throws {
        let server = try LoopbackServer(.stall)
        let received = AwaitedValue<[NetworkError.Kind?]>([])
        let token = client.performOperation(.post("1"), at: GraphQLEndpoint(server.url)) { result in
            received.note { $0.append(result.failure?.kind) }
        }
        #expect(await server.until { $0.requestCount == 1 })
        token.cancel()
        token.cancel()
        await received.until { !$0.isEmpty }
        #expect(await server.until { $0.openConnections == 0 })
        token.cancel()
        #expect(received.value == [.cancelled])
    }

    /// Also for an operation that cannot be sent.
    @Test(arguments: ["{ post { id title } }", "{"])
    func completionsRunOnTheQueueOfTheCall(document: String) async throws {
        let server = try LoopbackServer(half)
        let (client, endpoint) = (client, GraphQLEndpoint(server.url))
        let operation = GraphQLOperation<NoInput, Post>.document(document)
        let isFailure: Bool? = await withCheckedContinuation { continuation in
            client.performOperation(operation, at: endpoint, deliverOn: queue) { result in
                let isThere = DispatchQueue.getSpecific(key: Self.isOnQueue) == true
                continuation.resume(returning: isThere ? result.failure != nil : nil)
            }
        }
        #expect(isFailure == (document == "{"))
        let isThere: Bool = await withCheckedContinuation { continuation in
            client.executeOperation(operation, at: endpoint, deliverOn: queue) { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: Self.isOnQueue) == true)
            }
        }
        #expect(isThere)
    }

    @Test func invalidDocumentFailsBeforeTheCallReturns() {
        let received = AwaitedValue<[NetworkError.Kind?]>([])
        client.performOperation(.document("{", as: Post.self), at: GraphQLEndpoint("http://localhost/")) { result in
            received.note { $0.append(result.failure?.kind) }
        }
        #expect(received.value == [.badRequest])
    }
}
