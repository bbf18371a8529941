import BeagleNet
import BeagleNetTesting
import Dispatch
import Testing
import TestClients

/// The behaviour of urql's client and SwiftGraphQL's exchanges for concurrent operations, case by case
/// (https://github.com/urql-graphql/urql, packages/core/src/client.test.ts; the names are those of its behaviours).
@Suite(.beagle(), .timeLimit(.minutes(5))) struct RequestCoalescerVectorTests {
    /// An event in the life of an operation.
    enum Step: Sendable {
        /// A subscriber begins to watch it.
        case watch(Character, RequestPolicy = .cacheFirst)
        /// A subscriber cancels.
        case leave(Character)
        /// A run begins.
        case begin
        /// The run emits a result that is not its last.
        case give(String, isStale: Bool = false, hasNext: Bool = false)
        /// The run ends with a result.
        case end(String, isStale: Bool = false)
        /// The run fails.
        case fail
        /// It is refetched.
        case refetch
    }

    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: NetworkOperation.Kind
        let steps: [Step]
        /// The events that each subscriber received, in order.
        let received: [Character: [String]]
        let runs: Int

        init(
            _ name: String,
            of kind: NetworkOperation.Kind = .query,
            _ steps: [Step],
            received: [Character: [String]],
            runs: Int
        ) {
            (testDescription, self.kind, self.steps, self.received, self.runs) = (name, kind, steps, received, runs)
        }
    }

    static let vectors: [Vector] = [
        // The queue
        Vector(
            "refetched from the network only while watched",
            [.watch("a"), .begin, .end("1"), .refetch, .begin, .end("2")],
            received: ["a": ["1", "1 stale", "2"]],
            runs: 2
        ),
        // Deduplication
        Vector(
            "watched twice before a result",
            [.watch("a"), .watch("b"), .begin, .end("1")],
            received: ["a": ["1"], "b": ["1"]],
            runs: 1
        ),
        Vector(
            "watched again while more results follow",
            [.watch("a"), .begin, .give("1", hasNext: true), .watch("b"), .end("2")],
            received: ["a": ["1 more", "2"], "b": ["1 stale more", "2"]],
            runs: 1
        ),
        Vector(
            "watched network-only three times before a result",
            [.watch("a", .networkOnly), .watch("b", .networkOnly), .watch("c", .networkOnly), .begin, .end("1")],
            received: ["a": ["1"], "b": ["1"], "c": ["1"]],
            runs: 1
        ),
        Vector(
            "a stored response is followed by the network's",
            [.watch("a", .cacheAndNetwork), .begin, .give("old", isStale: true), .end("new")],
            received: ["a": ["old stale", "new"]],
            runs: 1
        ),
        Vector(
            "each mutation runs",
            of: .mutation,
            [.watch("a"), .watch("b")],
            received: ["a": [], "b": []],
            runs: 2
        ),
        Vector(
            "a stale result does not prevent a refetch",
            [.watch("a"), .begin, .end("1", isStale: true), .refetch, .begin, .end("2")],
            received: ["a": ["1 stale", "1 stale", "2"]],
            runs: 2
        ),
        Vector(
            "refetched twice during a run",
            [.watch("a"), .begin, .refetch, .refetch, .end("1")],
            received: ["a": ["1"]],
            runs: 1
        ),
        // Sharing
        Vector(
            "a subscriber after the result",
            [.watch("a"), .begin, .end("1"), .watch("b"), .begin, .end("2")],
            received: ["a": ["1", "1 stale", "2"], "b": ["1 stale", "2"]],
            runs: 2
        ),
        Vector(
            "a network-only subscriber after the result",
            [.watch("a", .networkOnly), .begin, .end("1"), .watch("b", .networkOnly), .begin, .end("2")],
            received: ["a": ["1", "1 stale", "2"], "b": ["1 stale", "2"]],
            runs: 2
        ),
        Vector(
            "a subscriber after all others have cancelled",
            [.watch("a"), .begin, .end("1"), .leave("a"), .watch("b"), .begin, .end("2")],
            received: ["a": ["1"], "b": ["2"]],
            runs: 2
        ),
        Vector(
            "a subscriber after a stale result",
            [.watch("a"), .begin, .give("1", isStale: true), .watch("b"), .end("2")],
            received: ["a": ["1 stale", "2"], "b": ["1 stale", "2"]],
            runs: 1
        ),
        Vector(
            "a late subscriber to a subscription",
            of: .subscription,
            [.watch("a"), .begin, .give("1", hasNext: true), .watch("b"), .give("2", hasNext: true)],
            received: ["a": ["1 more", "2 more"], "b": ["2 more"]],
            runs: 1
        ),
        Vector(
            "a failed subscription is not refetched",
            of: .subscription,
            [.watch("a"), .begin, .fail, .refetch],
            received: ["a": ["failure: network", "end"]],
            runs: 1
        ),
        // The exchanges' own tests, and corrections of them
        Vector(
            "watched again after a teardown",
            [.watch("a"), .begin, .leave("a"), .watch("b"), .begin, .end("1")],
            received: ["a": [], "b": ["1"]],
            runs: 2
        ),
        Vector(
            "a subscription that the server ended can be watched again",
            of: .subscription,
            [.watch("a"), .begin, .end("1"), .watch("b"), .begin, .end("2")],
            received: ["a": ["1", "end"], "b": ["2", "end"]],
            runs: 2
        ),
        Vector(
            "a failed query can be refetched",
            [.watch("a"), .begin, .fail, .refetch, .begin, .end("1")],
            received: ["a": ["failure: network", "1"]],
            runs: 2
        ),
    ]

    @Test(arguments: vectors) func operationsBehaveLikeThoseOfUrql(_ vector: Vector) async throws {
        let runs = ScriptedRuns()
        let client = client(runs)
        var people: [Character: (received: EventRecorder, token: (any RequestToken)?)] = [:]
        var run: ScriptedRuns.Run?
        func events() -> Int { people.values.reduce(0) { $0 + $1.received.all.count } }
        for step in vector.steps {
            let count = events()
            switch step {
            case .watch(let name, let policy):
                let received = EventRecorder()
                var operation = NetworkOperation.of(vector.kind)
                operation.policy = policy
                people[name] = (received, nil)
                people[name]?.token = client.watch(operation, received.receive)
                continue
            case .leave(let name):
                people[name]?.token?.cancel()
                continue
            case .refetch:
                client.refetch()
                continue
            case .begin:
                run = await runs.next()
                continue
            case .give(let text, let isStale, let hasNext):
                run?.emit(.init(text, isStale: isStale, hasNext: hasNext))
            case .end(let text, let isStale): run?.finish(.success(.init(text, isStale: isStale)))
            case .fail: run?.finish(.failure(.lost))
            }
            while events() == count, !Task.isCancelled { await Task.yield() }
        }
        for (name, expected) in vector.received {
            let received = try #require(people[name]?.received)
            await received.waitForEvents(expected.count)
            #expect(received.all == expected, "\(name)")
        }
        #expect(runs.count == vector.runs)
        for person in people.values { person.token?.cancel() }
        #expect(client.activeOperations == 0)
    }

    @Test func refetchInsideACallbackRunsAfterwards() async {
        let runs = ScriptedRuns { operation, _ in .init("\(operation.policy)") }
        let client = client(runs)
        let received = EventRecorder()
        client.watch(.of(.query)) { event in
            received.receive(event)
            if received.all.count == 1 { client.refetch() }
        }
        await received.waitForEvents(2)
        #expect(received.all == ["cacheFirst", "networkOnly"])
        #expect(runs.policies == [.cacheFirst, .networkOnly])
    }

    @Test func concurrentRunsShareARequestAndALaterRunDoesNot() async throws {
        let runs = ScriptedRuns()
        let client = client(runs)
        async let one = client.run(.of(.query))
        let run = await runs.next()
        async let other = client.run(.of(.query))
        while client.activeSubscribers < 2, !Task.isCancelled { await Task.yield() }
        run.finish("1")
        #expect(try await [one.shown, other.shown] == ["1", "1"])
        async let third = client.run(.of(.query))
        await runs.next().finish("2")
        #expect(try await third.shown == "2")
        #expect(runs.count == 2)
    }

    @Test func finishedOperationsLeaveNothingBehind() async throws {
        let client = client(ScriptedRuns { _, _ in .init("1") })
        for number in 0..<1_000 {
            var operation = NetworkOperation.of(.query)
            operation.partition = "\(number)"
            _ = try await client.run(operation)
        }
        #expect(client.activeOperations == 0)
    }

    // MARK: - Eight threads

    /// Returns results soon, on a concurrent queue, in a different way for each kind of operation.
    private struct Busy: Interceptor {
        let queue = DispatchQueue(label: "busy", attributes: .concurrent)

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            await withCheckedContinuation { continuation in
                queue.async {
                    emit(.init("old", from: .cache, isStale: true))
                    continuation.resume()
                }
            }
            if operation.kind == .image { throw .lost }
            return .init("new")
        }
    }

    @Test func eightThreadsRunWatchCancelAndRefetch() async {
        let client = client(Busy())
        let kinds: [NetworkOperation.Kind] = [.component, .image, .query, .mutation]
        let answers = Lock(0)
        let total = 8 * 200
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for turn in 0..<200 {
                        var operation = NetworkOperation.of(kinds[(thread + turn) % 4])
                        operation.partition = "\(turn % 3)"
                        let token = client.watch(operation) { _ in
                            if turn % 7 == 0 { client.refetch(afterRun: turn % 2 == 0) }
                        }
                        _ = await Result { try await client.run(operation) }
                        answers.withLock { $0 += 1 }
                        if turn % 5 == 0 { client.refetch() }
                        token?.cancel()
                    }
                }
            }
        }
        #expect(answers.withLock { $0 } == total)
        #expect(client.activeOperations == 0)
        #expect(client.activeSubscribers == 0)
    }
}
