import BeagleNet
import BeagleNetTesting
import BeagleNetURLSession
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The app's client on `URLSession`, against real sockets.
struct NetworkClientDefaultTests {
    private let logger = MemoryLogger()
    private let client: NetworkClientDefault

    init() {
        let dependencies = BeagleDependencies()
        dependencies.logger = logger
        dependencies.interceptors.replace(with: LogInterceptor(.messages))
        dependencies.interceptors.replace(with: LogInterceptor(.messages))
        client = NetworkClientDefault(dependencies: dependencies)
    }

    private func ask(_ url: String, _ type: Request.RequestType = .fetchComponent) async throws -> NetworkResponse {
        try await client.executeRequest(Request(url: try #require(URL(string: url)), type: type))
    }

    @Test func fetchReturnsDataStatusAndFields() async throws {
        let server = try LoopbackServer(.response(200, ["X-Part": "1"], "{}"))
        let response = try await ask(server.url + "/home")
        #expect(try response.text() == "{}")
        #expect(response.response.status == .ok)
        #expect(response.response.headerFields[HTTPField.Name("X-Part")!] == "1")
        #expect(response.url == server.url + "/home")
    }

    @Test func requestAndResponseAreLoggedWithoutSecrets() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Location": "/?token=hidden"], "hidden"))
        client.httpRequestBuilder.additionalHeaders = ["Authorization": "Bearer hidden"]
        _ = try await ask(server.url + "/?token=hidden")
        #expect(logger.messages.count == 2)
        #expect(logger.messages.first?.hasPrefix("-> GET \(server.url)/") == true)
        #expect(logger.messages.last?.hasPrefix("<- 200 \(server.url)/") == true)
        #expect(!logger.messages.joined().contains("hidden"))
    }

    @Test func errorStatusIsAFailureWithTheResponse() async throws {
        let server = try LoopbackServer(.response(404, ["X-Part": "1"], "no such screen"))
        let error = try #require(await #expect(throws: NetworkError.self) { try await ask(server.url + "/x") })
        #expect(error.kind == .status)
        #expect(error.response?.status == .notFound)
        #expect(error.data == Data("no such screen".utf8))
        #expect(error.request?.path == "/x")
        #expect(error.error as? NetworkClientDefault.ClientError == .invalidHttpResponse)
    }

    @Test func unreachableServerIsAConnectFailure() async throws {
        let error = try #require(await #expect(throws: NetworkError.self) { try await ask("http://127.0.0.1:1") })
        #expect(error.kind == .connect)
        #expect(error.isOffline)
        #expect(error.error is URLError)
        #expect(error.request?.method == .get)
        #expect(error.response == nil)
    }

    @Test func cancellingTheTaskEndsTheRequest() async throws {
        let server = try LoopbackServer(.stall)
        let task = Task { try await ask(server.url) }
        await server.until { $0.requestCount == 1 }
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
    }

    @Test func tokenIsTheTask() async throws {
        let server = try LoopbackServer(.stall)
        let request = Request(url: try #require(URL(string: server.url)), type: .fetchImage)
        let result = await withCheckedContinuation { continuation in
            let token = client.executeRequest(request) { continuation.resume(returning: $0) }
            #expect(token is URLSessionDataTask)
            token?.cancel()
        }
        #expect(throws: NetworkError.self) { try result.get() }
    }
}
