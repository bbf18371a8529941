import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct DataTaskPublisherTests {
    private func url(_ server: LoopbackServer) throws -> URL { try #require(URL(string: server.url + "/a")) }

    private typealias Outcome = Result<(body: String, status: Int?), URLError>

    private func answer(_ publisher: URLSession.DataTaskPublisher) async -> Outcome? {
        let outcome = Lock<Outcome?>(nil)
        var held: AnyCancellable?
        await withCheckedContinuation { continuation in
            held = publisher.sink { end in
                if case .failure(let error) = end { outcome.withLock { $0 = .failure(error) } }
                continuation.resume()
            } receiveValue: { data, response in
                let status = (response as? HTTPURLResponse)?.statusCode
                outcome.withLock { $0 = .success((String(decoding: data, as: UTF8.self), status)) }
            }
        }
        withExtendedLifetime(held) {}
        return outcome.withLock { $0 }
    }

    @Test func eachSubscriberStartsATask() async throws {
        let server = try LoopbackServer(.response(201, [:], "made"))
        let publisher = URLSession.shared.dataTaskPublisher(for: try url(server))
        #expect(server.requests.isEmpty)
        for _ in 0..<2 {
            let answer = try #require(await answer(publisher)).get()
            #expect(answer.body == "made")
            #expect(answer.status == 201)
        }
        #expect(server.requests.count == 2)
    }

    @Test func requestIsSentUnchanged() async throws {
        let server = try LoopbackServer { .response(200, [:], $0.body) }
        var request = URLRequest(url: try url(server))
        request.httpMethod = "POST"
        request.httpBody = Data("hello".utf8)
        request.setValue("text/x", forHTTPHeaderField: "Content-Type")
        let answer = try #require(await answer(URLSession.shared.dataTaskPublisher(for: request))).get()
        #expect(answer.body == "hello")
        #expect(server.requests.first?.method == "POST")
        #expect(server.requests.first?["Content-Type"] == "text/x")
    }

    @Test func failureIsAURLError() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let answer = try #require(await answer(URLSession.shared.dataTaskPublisher(for: url)))
        #expect(throws: URLError.self) { try answer.get() }
    }

    @Test func cancellingEndsTheTask() async throws {
        let server = try LoopbackServer(.stall)
        let held = URLSession.shared.dataTaskPublisher(for: try url(server)).sink { _ in
        } receiveValue: { _ in
        }
        #expect(await server.until { $0.requestCount == 1 })
        held.cancel()
        #expect(await server.until { $0.openConnections == 0 })
    }
}
