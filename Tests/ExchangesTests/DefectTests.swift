import BeagleNetHTTP
import CurlPeers
import Foundation
import Testing

@testable import BeagleNetExchanges
@testable import BeagleNetTesting
import struct BeagleNetExchanges.Operation

/// The twelve defects of the original and the tests that would detect each again:
///
/// | defect | test |
/// |---|---|
/// | D1 each call has its own id | `ClientTests.identicalQueriesShareOneExecutionAndTheStore`, `differentOperationsHaveDifferentIDs` |
/// | D2 synchronous results are lost | `ClientTests.synchronousResultReachesTheSubscriber`, `ClientVectorTests.storedResultReachesTheNextSubscriber` |
/// | D3 the same for mutations | `ClientTests` and `ClientVectorTests.synchronousMutationResultReachesTheSubscriber` |
/// | D4 `cacheOnly` mutations are dropped | `CacheExchangeTests.cacheOnlyMutationAndTeardownAreForwarded` |
/// | D5 `cacheOnly` misses have no result | `CacheExchangeTests.cacheOnlyMissGivesAnEmptyResult`, `ClientTests.cacheOnlyWithoutAStoredResultReturns` |
/// | D6 invalidation skips queries | `CacheExchangeTests.everyQueryOfTheTypesIsReexecuted`, `queryInFlightDoesNotPreventOthersFromReexecuting` |
/// | D7 stores grow without bound | `CacheExchangeTests.storeIsBounded`, `LeakTests` |
/// | D8 an ended subscription cannot start again | `ClientVectorTests.endedSubscriptionCanStartAgain`, `ClientTests.teardownByAnExchangeEndsTheSubscription` |
/// | D9 threads crash the process or lose results | `ClientTests.eightThreadsLoseNothing`, `ExchangeInterceptorTests.eightThreadsGetAllResults`, `HostedServersTests.eightThreadsGetAllResults` |
/// | D10 the cost of one operation grows with the active ones | `DefectTests.costOfAnOperationIsIndependentOfActiveOperations`, `ClientTests.eventsReachOnlyTheirOperation` |
/// | D11 statuses are ignored | `FetchExchangeTests.errorStatusWithoutABodyIsANetworkError` |
/// | D12 a socket waits an hour, forgets its subscribers, rejects ids | `DefectTests.lostSubscriptionIsRetriedWithinSeconds`, `subscriptionOfALostSocketContinuesOverAnother`, `WebSocketExchangeTests.sameSubscriptionStartsAgainUnderItsID` |
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct DefectTests {
    /// Counts the calls of stream handlers.
    private final class Calls: Sendable {
        private let count = Lock(0)

        func note() { count.withLock { $0 += 1 } }
        /// Returns the number of calls and resets it.
        func take() -> Int {
            count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    /// Counts the calls of the streams above and below it.
    private struct Counting: Exchange {
        let calls: Calls

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            next(counted(operations)).handleEvents(
                receiveSubscription: { _ in calls.note() },
                receiveOutput: { _ in calls.note() },
                receiveCancel: { calls.note() },
                receiveRequest: { _ in calls.note() }
            )
            .eraseToAnyPublisher()
        }

        private func counted(_ operations: AnyPublisher<Operation, Never>) -> AnyPublisher<Operation, Never> {
            operations.handleEvents(
                receiveSubscription: { _ in calls.note() },
                receiveOutput: { _ in calls.note() },
                receiveCancel: { calls.note() },
                receiveRequest: { _ in calls.note() }
            )
            .eraseToAnyPublisher()
        }
    }

    /// Defect D10: every active operation subscribed to each stream and inspected each event.
    @Test(arguments: ExchangeDriver.allCases) func costOfAnOperationIsIndependentOfActiveOperations(
        _ way: ExchangeDriver
    ) async {
        var counts: [Int] = []
        for active in [1, 1_000] {
            let calls = Calls()
            let fixture = way.fixture([Counting(calls: calls), DedupExchange(), Counting(calls: calls)])
            // Different subscriptions.
            let ears = (0..<active).map { fixture.listen(.subscription, .cacheFirst, $0) }
            #expect(await fixture.hasRequested(active))
            _ = calls.take()
            for number in 0..<10 {
                let ear = fixture.listen(.mutation)
                #expect(await fixture.hasRequested(active + number + 1))
                await fixture.answer("done")
                #expect(await fixture.has(ear, received: ["done"]))
                while !ear.isOver { await Task.yield() }
                await fixture.settle()
            }
            counts.append(calls.take())
            #expect(ears.allSatisfy { $0.texts.isEmpty })
            for ear in ears { ear.leave() }
        }
        #expect(counts[0] > 0)
        #expect(counts[0] == counts[1])
    }

    /// Defect D12: `1000 * 2 ^ i`, in which `^` is not a power, in milliseconds that were taken for seconds: 38 to 83 minutes.
    @Test func lostSubscriptionIsRetriedWithinSeconds() {
        let backoff = RetryInterceptor().subscriptionBackoff
        var chance = SystemRandomNumberGenerator()
        for failures in 1...9 {
            let most = min(Duration.seconds(1 << (failures - 1)), .seconds(30))
            for _ in 0..<20 {
                guard let delay = backoff.delay(after: failures, using: &chance) else {
                    Issue.record("there is no retry after \(failures) failures")
                    return
                }
                #expect(delay >= .zero)
                #expect(delay <= most)
            }
        }
    }

    /// Defect D12 on the wire: the subscribers were forgotten with the socket.
    @Test func subscriptionOfALostSocketContinuesOverAnother() async throws {
        let connections = Lock(0)
        let server = try LoopbackServer { request in
            let accept = (try? WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? "")) ?? ""
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            let fields = "Sec-WebSocket-Protocol: graphql-transport-ws\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
            return .sequence([
                .raw(head + fields),
                .played { connection in
                    let number = connections.withLock { count in
                        count += 1
                        return count
                    }
                    func say(_ text: String) { _ = connection.send(frame: 1, Data(text.utf8)) }
                    // Reads the message that begins the connection, and then the operation.
                    _ = connection.readFrame()
                    say(#"{"type":"connection_ack"}"#)
                    _ = connection.readFrame()
                    say(#"{"id":"1","type":"next","payload":{"data":{"n":\#(number)}}}"#)
                    guard number > 1 else { return false }
                    say(#"{"id":"1","type":"complete"}"#)
                    while connection.readFrame() != nil {}
                    return false
                },
            ])
        }
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        dependencies.interceptors.add(RetryInterceptor(subscriptionBackoff: Backoff(base: .zero, limit: 3)))
        let client = Client(
            request: URLRequest(url: try #require(URL(string: server.url))),
            exchanges: [
                DedupExchange(), WebSocketExchange(client: NetworkClientDefault(dependencies: dependencies)),
            ],
            logger: OffLogger()
        )
        let listening = ResultCollector(client.subscribe(to: ExecutionArgs(query: "subscription { n }")))
        while !listening.isOver { await Task.yield() }
        #expect(listening.results.map { $0.data["n"] } == [1, 2])
        #expect(listening.results.allSatisfy { $0.error == nil })
        #expect(server.requests.count == 2)
    }
}
