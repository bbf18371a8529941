import BeagleNetHTTP
import CurlPeers
import Foundation
import Testing

@testable import BeagleNetExchanges
@testable import BeagleNetTesting
import struct BeagleNetExchanges.Operation

/// The twelve defects of the original, and the test that would see each again:
///
/// | defect | test |
/// |---|---|
/// | D1 each call has an id of its own | `ClientTests.sameQueriesShareOneRunAndTheStore`, `idsTellApartAllThatIsAsked` |
/// | D2 what comes at once is lost to who asked | `ClientTests.answerThatComesAtOnceIsHeardByWhoAsked`, `ClientVectorTests.storedAnswerIsHeardByWhoeverAsksNext` |
/// | D3 the same of mutations | `ClientTests` and `ClientVectorTests.mutationThatIsAnsweredAtOnceIsHeard` |
/// | D4 `cacheOnly` mutations are dropped | `CacheExchangeTests.cacheOnlyMutationAndItsTeardownGoDown` |
/// | D5 `cacheOnly` misses are not answered | `CacheExchangeTests.cacheOnlyWithoutAResultAnswersWithNone`, `ClientTests.cacheOnlyWithoutAStoredAnswerComesBack` |
/// | D6 invalidation skips queries | `CacheExchangeTests.everyQueryOfTheTypesIsRunAgain`, `oneWithoutAResultKeepsNoOthersFromBeingRunAgain` |
/// | D7 stores grow without bound | `CacheExchangeTests.storeIsBounded`, `LeakTests` |
/// | D8 a subscription that was ended cannot start again | `ClientVectorTests.subscriptionStartsAgainAfterItsEnd`, `ClientTests.teardownOfAnExchangeEndsTheSubscription` |
/// | D9 threads end the process or lose results | `ClientTests.eightThreadsLoseNothing`, `ExchangeInterceptorTests.eightThreadsAreAnswered`, `HostedServersTests.eightThreadsAreAnswered` |
/// | D10 what one costs grows with all that are active | `DefectTests.workOfOneDoesNotGrowWithWhatIsActive`, `ClientTests.eventsReachOnlyThoseWhoWait` |
/// | D11 statuses are not looked at | `FetchExchangeTests.refusalWithoutABodyIsOneOfTheNetwork` |
/// | D12 a socket waits an hour, forgets who listens, refuses ids | `DefectTests.lostSubscriptionIsAskedForAgainInSeconds`, `subscriptionOfALostSocketGoesOnOverAnother`, `WebSocketExchangeTests.sameSubscriptionStartsAgainUnderItsID` |
@Suite(.leavesNothing, .timeLimit(.minutes(1))) struct DefectTests {
    /// What was called: who listens to streams, what passes them, and who hears results.
    private final class Calls: Sendable {
        private let count = Lock(0)

        func note() { count.withLock { $0 += 1 } }
        /// How many there were, from now on none.
        func take() -> Int {
            count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    /// Counts what is called of the streams above and below it.
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

    /// Defect D10: each stream was listened to, and each event looked at, for every active operation.
    @Test(arguments: ClientWay.allCases) func workOfOneDoesNotGrowWithWhatIsActive(_ way: ClientWay) async {
        var counts: [Int] = []
        for active in [1, 1_000] {
            let calls = Calls()
            let world = way.world([Counting(calls: calls), DedupExchange(), Counting(calls: calls)])
            // Subscriptions of their own.
            let ears = (0..<active).map { world.listen(.subscription, .cacheFirst, $0) }
            #expect(await world.hasAsked(active))
            _ = calls.take()
            for number in 0..<10 {
                let ear = world.listen(.mutation)
                #expect(await world.hasAsked(active + number + 1))
                await world.answer("done")
                #expect(await world.has(ear, heard: ["done"]))
                while !ear.isOver { await Task.yield() }
                await world.settle()
            }
            counts.append(calls.take())
            #expect(ears.allSatisfy { $0.texts.isEmpty })
            for ear in ears { ear.leave() }
        }
        #expect(counts[0] > 0)
        #expect(counts[0] == counts[1])
    }

    /// Defect D12: `1000 * 2 ^ i`, of which `^` is no power, in milliseconds that were taken for seconds: 38 to 83 minutes.
    @Test func lostSubscriptionIsAskedForAgainInSeconds() {
        let backoff = RetryInterceptor().subscriptionBackoff
        var chance = SystemRandomNumberGenerator()
        for failures in 1...9 {
            let most = min(Duration.seconds(1 << (failures - 1)), .seconds(30))
            for _ in 0..<20 {
                guard let delay = backoff.delay(after: failures, using: &chance) else {
                    Issue.record("it is not asked for again after \(failures)")
                    return
                }
                #expect(delay >= .zero)
                #expect(delay <= most)
            }
        }
    }

    /// Defect D12 on the wire: who listened was forgotten with the socket.
    @Test func subscriptionOfALostSocketGoesOnOverAnother() async throws {
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
                    // What begins the connection, and the operation.
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
        let listening = Listening(client.subscribe(to: ExecutionArgs(query: "subscription { n }")))
        while !listening.isOver { await Task.yield() }
        #expect(listening.results.map { $0.data["n"] } == [1, 2])
        #expect(listening.results.allSatisfy { $0.error == nil })
        #expect(server.requests.count == 2)
    }
}
