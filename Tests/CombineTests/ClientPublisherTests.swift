import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Dispatch
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct ClientPublisherTests {
    private let dependencies = BeagleDependencies()

    init() {
        dependencies.logger = MemoryLogger()
    }

    private func request(_ server: LoopbackServer) throws -> BeagleNet.Request {
        Request(url: try #require(URL(string: server.url)), type: .fetchComponent)
    }

    /// Returns the values and the completion of a publisher.
    private func values<P: Publisher>(of publisher: P) async -> ([P.Output], Subscribers.Completion<P.Failure>?)
    where P.Output: Sendable {
        let received = Lock<[P.Output]>([])
        var held: AnyCancellable?
        let completion = await withCheckedContinuation { continuation in
            held = publisher.sink {
                continuation.resume(returning: $0)
            } receiveValue: { value in
                received.withLock { $0.append(value) }
            }
        }
        withExtendedLifetime(held) {}
        return (received.withLock { $0 }, completion)
    }

    @Test func eachSubscriberSendsARequest() async throws {
        let server = try LoopbackServer(.response(200, [:], "{}"))
        let publisher = dependencies.networkClient.publisher(for: try request(server))
        #expect(server.requests.isEmpty)
        for _ in 0..<2 {
            let (responses, end) = await values(of: publisher)
            #expect(responses.map(\.data) == [Data("{}".utf8)])
            guard case .finished = end else { return #expect(Bool(false), "\(end as Any)") }
        }
        #expect(server.requests.count == 2)
    }

    @Test func errorStatusIsAFailure() async throws {
        let server = try LoopbackServer(.response(404, [:], "gone"))
        let (responses, end) = await values(of: dependencies.networkClient.publisher(for: try request(server)))
        #expect(responses.isEmpty)
        guard case .failure(let error) = end else { return #expect(Bool(false), "no failure") }
        #expect(error.kind == .status)
        #expect(error.data == Data("gone".utf8))
    }

    @Test func operationPublishesProgressAndResponse() async throws {
        let server = try LoopbackServer(.response(200, [:], "{}"))
        var operation = NetworkOperation(try request(server))
        operation.reportsProgress = true
        let (results, _) = await values(of: dependencies.networkClient.publisher(for: operation))
        #expect(results.last?.response?.data == Data("{}".utf8))
        #expect(results.dropLast().allSatisfy { $0.progress != nil })
        #expect(results.count > 1)
    }

    @Test func cancellingCancelsTheTransfer() async throws {
        let server = try LoopbackServer(.stall)
        let held = dependencies.networkClient.publisher(for: try request(server)).sink { _ in
        } receiveValue: { _ in
        }
        #expect(await server.until { $0.requestCount == 1 })
        held.cancel()
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func cancellingTwiceCancelsTheOperationOnce() async throws {
        let client = CountingClient()
        let url = try #require(URL(string: "https://a.example"))
        let held = client.publisher(for: Request(url: url, type: .fetchImage)).sink { _ in
        } receiveValue: { _ in
        }
        for await _ in client.began { break }
        held.cancel()
        held.cancel()
        for await _ in client.ended { break }
        #expect(client.cancels.withLock { $0 } == 1)
    }

    @Test func valuesArriveOnTheGivenScheduler() async throws {
        let server = try LoopbackServer(.response(200, [:], "{}"))
        let queue = DispatchQueue(label: "wanted")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let publisher = dependencies.networkClient.publisher(for: try request(server))
            .map { _ in false }
            .receive(on: queue.asScheduler)
            .map { _ in DispatchQueue.getSpecific(key: key) ?? false }
        #expect(await values(of: publisher).0 == [true])
    }

    @Test func subscriptionPublishesResultsAndFinishes() async throws {
        let results = (1...2).map { "event: next\ndata: {\"data\":{\"tick\":\($0)}}\n\n" }.joined()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        let server = try LoopbackServer(.sequence([.raw(head + results + "event: complete\n\n"), .close]))
        var endpoint = GraphQLEndpoint(try #require(URL(string: server.url)))
        endpoint.subscriptions = [.events()]
        let operation = GraphQLOperation<[String: String], Int>(input: [:], operationString: "subscription { tick }")
        let (ticks, end) = await values(of: dependencies.networkClient.publisher(for: operation, at: endpoint))
        #expect(ticks.map(\.data) == [1, 2])
        guard case .finished = end else { return #expect(Bool(false), "\(end as Any)") }
    }

    @Test func queryPublishesOneResponse() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "{\"data\":{\"a\":1}}"))
        let endpoint = GraphQLEndpoint(try #require(URL(string: server.url)))
        let operation = GraphQLOperation<[String: String], Int>(input: [:], operationString: "{ a }")
        let (answers, _) = await values(of: dependencies.networkClient.publisher(for: operation, at: endpoint))
        #expect(answers.map(\.data) == [1])
    }
}

extension DispatchQueue {
    #if canImport(Combine)
        fileprivate var asScheduler: DispatchQueue { self }
    #else
        fileprivate var asScheduler: DispatchQueue.OCombine { ocombine }
    #endif
}

/// Never responds and counts cancellations.
private final class CountingClient: NetworkClient {
    let cancels = Lock(0)
    let (began, begin) = AsyncStream.makeStream(of: Void.self)
    let (ended, end) = AsyncStream.makeStream(of: Void.self)

    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        begin.yield()
        return AnyRequestToken { [cancels, end] in
            cancels.withLock { $0 += 1 }
            completion(.failure(NetworkError(.cancelled, during: .queue, "cancelled")))
            end.yield()
        }
    }
}
