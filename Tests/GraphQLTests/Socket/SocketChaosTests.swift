@testable import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Connections that break all the time.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct SocketChaosTests {
    /// The end of a connection.
    private enum Loss: CaseIterable {
        case end, reset, restart, goingAway, halfMessage, withoutCode
    }

    private enum Step: Equatable {
        case number(Int), gap
    }

    /// A feed that continues across connections: each connection gets the numbers after those of the previous one.
    private final class Feed: Sendable {
        private let state = Lock((sent: 0, steps: [Step]()))

        func next() -> Int {
            state.withLock { state in
                state.sent += 1
                state.steps.append(.number(state.sent))
                return state.sent
            }
        }

        func noteGap() {
            state.withLock { $0.steps.append(.gap) }
        }

        var steps: [Step] { state.withLock { $0.steps } }
    }

    private static let total = 10_000

    private static func play(_ feed: Feed, _ peer: inout SocketServer.Peer) {
        var random = SeededGenerator(seed: UInt64(peer.request.connection))
        peer.acknowledge()
        let id = peer.operation()
        for _ in 0..<Int.random(in: 0...400, using: &random) {
            let number = feed.next()
            peer.next(id, number)
            if number == total {
                peer.complete(id)
                peer.hearAll()
                return
            }
        }
        feed.noteGap()
        switch Loss.allCases.randomElement(using: &random) ?? .end {
        case .end: break
        case .reset: peer.reset()
        case .restart: peer.close(1012)
        case .goingAway: peer.close(1001)
        case .withoutCode: peer.send(frame: 8, Data())
        case .halfMessage: peer.send(Data([0x81, 0x7E, 0x01, 0x00]) + Data(#"{"id":"\#(id)","type":"next""#.utf8))
        }
    }

    @Test func resultsArriveOnceInOrderAndGapsAreReported() async throws {
        let feed = Feed()
        let server = try SocketServer { Self.play(feed, &$0) }
        let endpoint = try server.endpoint()
        let steps = Lock<[Step]>([])
        let sockets = Lock<[ObjectReference]>([])
        let outcome = try await SocketClient(retries: true).subscribe(endpoint) { event in
            switch event {
            case .response(let response):
                steps.withLock { $0.append(.number(Int(response.data?["n"]?.integer ?? 0))) }
            case .interrupted: steps.withLock { $0.append(.gap) }
            case .open:
                let open = endpoint.state.sockets.all.map { ObjectReference($0) }
                sockets.withLock { $0 += open }
            case .dropped: Issue.record("results were dropped")
            }
        }
        #expect(outcome.error == nil)
        #expect(steps.withLock { $0 } == feed.steps)
        #expect(steps.withLock { $0 }.count { $0 == .gap } > 20)
        #expect(endpoint.state.sockets.count <= 1)
        // Only the last connection may remain.
        await server.received.until { $0.ended >= $0.connections - 1 }
        while sockets.withLock({ $0.count { $0.object != nil } }) > 1 { await Task.yield() }
    }

    /// Operations are cancelled at arbitrary times while connections break. Each ends once and leaves nothing behind.
    @Test func cancellingAtAnyTimeEndsEachOperationOnce() async throws {
        let server = try SocketServer { peer in
            var random = SeededGenerator(seed: UInt64(peer.request.connection))
            peer.receive("connection_init")
            if peer.request.connection % 7 == 3 { return }
            peer.say(#"{"type":"connection_ack"}"#)
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                guard let message = peer.receive() else { return }
                guard message["type"]?.string == "subscribe", let id = message["id"]?.string else { continue }
                peer.next(id, 1)
                if Bool.random(using: &random) { peer.complete(id) }
            }
        }
        let endpoint = try server.endpoint()
        let client = SocketClient(retries: true)
        let ends = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let task = Task { try await client.subscribe(endpoint, "operation\(number % 50)") }
                    for _ in 0..<(number % 13) { await Task.yield() }
                    task.cancel()
                    _ = await task.result
                    ends.withLock { $0 += 1 }
                }
            }
        }
        #expect(ends.withLock { $0 } == 400)
        #expect(client.client.activeOperations == 0)
        #expect(endpoint.state.sockets.all.filter { !$0.isIdle }.isEmpty)
    }
}

/// A weak reference to an object.
private struct ObjectReference: Sendable {
    weak let object: GraphQLSocket?

    init(_ object: GraphQLSocket) {
        self.object = object
    }
}
