import BeagleNet
import BeagleNetTesting
import Dispatch
import Testing

/// The hub's rules, by the letter under which INTERNALS.md lists them.
@Suite(.beagle(), .timeLimit(.minutes(1))) struct HubTests {
    private static let shared = NetworkOperation.Kind.known.filter { $0.isShared }
    private let component = NetworkOperation(Request(url: URL(string: "http://host/screen")!, type: .fetchComponent))
    private let form = NetworkOperation(
        Request(url: URL(string: "http://host/form")!, type: .submitForm(.init(method: .post, values: ["a": "1"])))
    )

    private func client(_ runs: ScriptedRuns) -> NetworkClientDefault {
        Beagle.dependencies.interceptors = [runs]
        return NetworkClientDefault(dependencies: Beagle.dependencies, transport: ScriptedTransport())
    }

    private func subscription() -> NetworkOperation {
        NetworkOperation(component.request, kind: .subscription)
    }

    // MARK: - R1: one run for what is shared, never for forms and mutations

    @Test("R1") func whoAsksTheSameAtTheSameTimeSharesARun() async throws {
        let runs = ScriptedRuns()
        let client = client(runs)
        async let one = client.run(component)
        let run = await runs.next()
        let heard = Heard()
        client.watch(component, heard.hear)
        run.finish("1")
        await heard.heard(1)
        #expect(try await one.shown == "1")
        #expect(heard.all == ["1"])
        #expect(runs.count == 1)
    }

    @Test("R1", arguments: [NetworkOperation.Kind.form, .mutation, .raw])
    func formsAndMutationsAreNeverShared(kind: NetworkOperation.Kind) async throws {
        let runs = ScriptedRuns()
        let client = client(runs)
        let operation = NetworkOperation(form.request, kind: kind)
        async let one = client.run(operation)
        async let other = client.run(operation)
        let first = await runs.next()
        let second = await runs.next()
        first.finish("1")
        second.finish("2")
        #expect(try await Set([one.shown, other.shown]) == ["1", "2"])
    }

    @Test("R1") func whatDiffersIsNotShared() async throws {
        let runs = ScriptedRuns()
        let client = client(runs)
        var other = component
        other.partition = "somebody else"
        var header = component
        header.request.additionalData = HttpAdditionalData(headers: ["X-A": "1"])
        var limits = component
        limits.request.options = TransferOptions(maxBodyBytes: 1)
        var hurried = component
        hurried.deadline = .seconds(1)
        var telling = component
        telling.reportsProgress = true
        let operations = [
            component, other, header, limits, hurried, telling, NetworkOperation(component.request, kind: .image),
        ]
        for operation in operations { client.watch(operation) { _ in } }
        #expect(runs.count == operations.count)
        #expect(client.activeOperations == operations.count)
    }

    // MARK: - R2: what can be said at once is said at once

    @Test("R2") func anAnswerWithoutWaitingComesInsideTheCall() {
        let heard = Heard()
        let client = client(ScriptedRuns { _, _ in .init("1") })
        client.watch(component, heard.hear)
        #expect(heard.all == ["1"])
        withExtendedLifetime(client) {}
    }

    /// An actor whose queue can be told by anybody who runs on it.
    private actor Screen {
        private final class Queue: SerialExecutor {
            static let isHere = DispatchSpecificKey<Bool>()
            private let queue = DispatchQueue(label: "screen")

            init() {
                queue.setSpecific(key: Self.isHere, value: true)
            }

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }

        private let queue = Queue()
        nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
        static var isHere: Bool { DispatchQueue.getSpecific(key: Queue.isHere) ?? false }

        func run(_ operation: NetworkOperation, _ client: any NetworkClient) async throws {
            _ = try await client.run(operation)
        }
    }

    @Test("R2", arguments: [NetworkOperation.Kind.component, .form])
    func anAnswerWithoutWaitingIsGivenOnTheCallersActor(kind: NetworkOperation.Kind) async throws {
        let isThere = Lock<Bool?>(nil)
        let runs = ScriptedRuns { _, _ in
            isThere.withLock { $0 = Screen.isHere }
            return .init("1")
        }
        try await Screen().run(.of(kind), client(runs))
        #expect(isThere.withLock { $0 } == true)
    }

    // MARK: - R3: in order, outside of locks, from inside of a callback too

    @Test("R3") func resultsComeInTheOrderInWhichTheyWereGiven() async {
        let runs = ScriptedRuns()
        let heard = Heard()
        let client = client(runs)
        client.watch(component, heard.hear)
        let run = await runs.next()
        for number in 1...50 { run.emit(.init("\(number)", hasNext: true)) }
        run.finish("last")
        await heard.heard(51)
        withExtendedLifetime(client) {}
        #expect(heard.all == (1...50).map { "\($0) more" } + ["last"])
    }

    @Test("R3") func aSubscriberMayAskAndLeaveInsideItsCallback() async {
        let runs = ScriptedRuns { _, emit in
            emit(.init("0", hasNext: true))
            return .init("1")
        }
        let client = client(runs)
        let inner = Heard()
        let outer = Heard()
        let token = client.watch(component) { [component] event in
            outer.hear(event)
            if outer.all.count == 1 { client.watch(component, inner.hear)?.cancel() }
        }
        #expect(outer.all == ["0 more", "1"])
        #expect(inner.all.allSatisfy { $0 == "0 stale more" })
        token?.cancel()
        #expect(client.activeOperations == 0)
    }

    // MARK: - R4: who comes late

    @Test("R4") func whoComesLateHearsTheLastAnswerAsStaleAndThenTheNew() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let one = Heard()
        let other = Heard()
        client.watch(component, one.hear)
        await runs.next().finish("1")
        await one.heard(1)
        client.watch(component, other.hear)
        await runs.next().finish("2")
        await one.heard(3)
        await other.heard(2)
        #expect(one.all == ["1", "1 stale", "2"])
        #expect(other.all == ["1 stale", "2"])
    }

    @Test("R4") func whoComesLateHearsNothingStaleWhereSomethingNewCameAtOnce() {
        let runs = ScriptedRuns { _, _ in .init("1") }
        let client = client(runs)
        let other = Heard()
        client.watch(component) { _ in }
        client.watch(component, other.hear)
        #expect(other.all == ["1"])
    }

    @Test("R4") func whoComesLateToASubscriptionHearsNothingOld() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let one = Heard()
        let other = Heard()
        client.watch(subscription(), one.hear)
        let run = await runs.next()
        run.emit(.init("1", hasNext: true))
        client.watch(subscription(), other.hear)
        run.emit(.init("2", hasNext: true))
        await other.heard(1)
        #expect(one.all == ["1 more", "2 more"])
        #expect(other.all == ["2 more"])
        #expect(runs.count == 1)
    }

    @Test("R4") func aStaleAnswerIsReplayedToWhoComesLate() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        client.watch(component) { _ in }
        let run = await runs.next()
        run.emit(.init("old", from: .cache, isStale: true))
        let other = Heard()
        client.watch(component, other.hear)
        #expect(other.all == ["old stale"])
        #expect(runs.count == 1)
    }

    // MARK: - R5: running again

    @Test("R5") func refetchGivesWhatThereWasAsStaleAndThenTheNew() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let heard = Heard()
        client.watch(component, heard.hear)
        await runs.next().finish("1")
        await heard.heard(1)
        client.refetch()
        await runs.next().finish("2")
        await heard.heard(3)
        #expect(heard.all == ["1", "1 stale", "2"])
        #expect(runs.policies == [.cacheFirst, .networkOnly])
    }

    @Test("R5: asked again during a run, however often, it runs once", arguments: 1...4)
    func refetchesDuringARunAreOne(times: Int) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let heard = Heard()
        client.watch(component, heard.hear)
        let run = await runs.next()
        for _ in 1...times { client.refetch() }
        run.finish("1")
        await heard.heard(1)
        #expect(runs.count == 1)
        #expect(heard.all == ["1"])
    }

    @Test("R5: an answer that would be too old is followed by one more run", arguments: 1...3)
    func aChangeDuringARunIsFollowedByOneMore(times: Int) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let heard = Heard()
        client.watch(component, heard.hear)
        let run = await runs.next()
        for _ in 1...times { client.refetch(afterRun: true) }
        run.finish("1")
        await runs.next().finish("2")
        await heard.heard(3)
        #expect(heard.all == ["1", "1 stale", "2"])
        #expect(runs.count == 2)
    }

    @Test("R5") func onlyWhatIsMeantIsRunAgain() async {
        let runs = ScriptedRuns { operation, _ in .init(operation.kind.name) }
        let client = client(runs)
        let image = Heard()
        client.watch(component) { _ in }
        client.watch(NetworkOperation(component.request, kind: .image), image.hear)
        client.refetch { $0.kind == .image }
        #expect(image.all == ["image", "image"])
        #expect(runs.count == 3)
    }

    @Test("R5: what is watched keeps the policy of who watches it", arguments: [RequestPolicy.cacheFirst, .cacheOnly])
    func whoAsksOnceDoesNotChangeHowOthersWatch(policy: RequestPolicy) async throws {
        let client = client(ScriptedRuns { _, _ in .init("1") })
        let heard = Heard()
        client.watch(NetworkOperation(component.request, policy: policy), heard.hear)
        for other in RequestPolicy.allCases {
            _ = try await client.run(NetworkOperation(component.request, policy: other))
            client.refetch(other)
            let seen = Lock<[RequestPolicy]>([])
            client.refetch { operation in
                seen.withLock { $0.append(operation.policy) }
                return false
            }
            #expect(seen.withLock { $0 } == [policy])
        }
    }

    @Test("R5: a subscription is not") func aSubscriptionIsNotRunAgain() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let heard = Heard()
        client.watch(subscription(), heard.hear)
        let run = await runs.next()
        client.refetch(afterRun: true)
        run.finish("1")
        await heard.heard(2)
        #expect(heard.all == ["1", "end"])
        #expect(runs.count == 1)
    }

    // MARK: - A run that may answer from a store, and one who wants the network

    @Test("who wants a younger answer follows a run that was content with an older one")
    func whoWantsAYoungerAnswerFollows() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let other = Heard()
        client.watch(component) { _ in }
        let run = await runs.next()
        var younger = component
        younger.maxAge = .seconds(10)
        client.watch(younger, other.hear)
        run.finish("stored", from: .cache)
        let next = await runs.next()
        #expect(next.operation.maxAge == .seconds(10))
        next.finish("fresh")
        await other.heard(3)
        #expect(other.all == ["stored stale", "stored stale", "fresh"])
    }

    @Test("a network-only operation follows a cache-first run that was answered from a store")
    func whoWantsTheNetworkFollowsAStoredAnswer() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let one = Heard()
        let other = Heard()
        client.watch(component, one.hear)
        let run = await runs.next()
        client.watch(NetworkOperation(component.request, policy: .networkOnly), other.hear)
        run.finish("stored", from: .cache)
        await runs.next().finish("fresh")
        await one.heard(3)
        await other.heard(2)
        #expect(one.all == ["stored", "stored stale", "fresh"])
        #expect(other.all == ["stored stale", "stored stale", "fresh"])
        #expect(runs.policies == [.cacheFirst, .networkOnly])
    }

    @Test("and joins one that asks the network anyway", arguments: [RequestPolicy.networkOnly, .cacheAndNetwork])
    func whoWantsTheNetworkJoinsARunThatAsksIt(policy: RequestPolicy) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let other = Heard()
        client.watch(NetworkOperation(component.request, policy: policy)) { _ in }
        let run = await runs.next()
        client.watch(NetworkOperation(component.request, policy: .networkOnly), other.hear)
        run.finish("fresh")
        await other.heard(1)
        #expect(other.all == ["fresh"])
        #expect(runs.count == 1)
    }

    @Test("or is content with a cache-first run that the network answered")
    func whoWantsTheNetworkIsContentWithItsAnswer() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let other = Heard()
        client.watch(component) { _ in }
        let run = await runs.next()
        client.watch(NetworkOperation(component.request, policy: .networkOnly), other.hear)
        run.finish("fresh")
        await other.heard(1)
        client.refetch(.cacheAndNetwork)
        #expect(await runs.next().operation.policy == .cacheAndNetwork, "none before it")
        #expect(other.all.first == "fresh")
    }

    @Test func aFailureOfTheStoreDoesNotReachWhoWantsTheNetwork() async throws {
        let runs = ScriptedRuns()
        let client = client(runs)
        let heard = Heard()
        client.watch(component, heard.hear)
        await runs.next().finish(.failure(.lost))
        await heard.heard(1)
        client.refetch(.cacheOnly)
        let run = await runs.next()
        async let fresh = client.run(NetworkOperation(component.request, policy: .networkOnly))
        while client.activeSubscribers < 2 { await Task.yield() }
        run.finish(.failure(NetworkError(.notStored, during: .queue, "nothing is stored")))
        await runs.next().finish("fresh")
        #expect(try await fresh.shown == "fresh")
        await heard.heard(3)
        #expect(heard.all == ["failure: network", "failure: not_stored", "fresh"])
    }

    @Test("who watches for a stored answer alone joins only those who do")
    func whoWantsAStoredAnswerAloneJoinsNobodyElse() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let (one, stored, other) = (Heard(), Heard(), Heard())
        client.watch(component, one.hear)
        let run = await runs.next()
        client.watch(NetworkOperation(component.request, policy: .cacheOnly), stored.hear)
        let look = await runs.next()
        #expect(look.operation.policy == .cacheOnly)
        client.watch(NetworkOperation(component.request, policy: .cacheOnly), other.hear)
        run.finish("fresh")
        await one.heard(1)
        look.finish("stored", from: .cache)
        await stored.heard(1)
        await other.heard(1)
        #expect(one.all == ["fresh"])
        #expect(stored.all == ["stored"])
        #expect(other.all == ["stored"])
        #expect(runs.count == 2)
    }

    @Test("R5: for who wants a stored answer alone the store is asked again, whatever the policy")
    func refetchLooksIntoTheStoreForWhoWantsThatAlone() async {
        let runs = ScriptedRuns { operation, _ in .init("\(operation.policy)") }
        let client = client(runs)
        let (one, stored) = (Heard(), Heard())
        client.watch(component, one.hear)
        client.watch(NetworkOperation(component.request, policy: .cacheOnly), stored.hear)
        client.refetch()
        #expect(one.all == ["cacheFirst", "networkOnly"])
        #expect(stored.all == ["cacheOnly", "cacheOnly"])
    }

    @Test("a subscription has no stored answer, and is shared whatever the policy")
    func aSubscriptionIsSharedWhateverThePolicy() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        client.watch(subscription()) { _ in }
        let other = Heard()
        client.watch(NetworkOperation(component.request, kind: .subscription, policy: .cacheOnly), other.hear)
        await runs.next().finish("1")
        await other.heard(2)
        #expect(other.all == ["1", "end"])
        #expect(runs.count == 1)
    }

    // MARK: - R6: who leaves

    @Test("R6") func theLastToLeaveCancelsTheRunBeforeItReturns() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let one = Heard()
        let other = Heard()
        let tokens = [client.watch(component, one.hear), client.watch(component, other.hear)]
        let run = await runs.next()
        tokens[0]?.cancel()
        #expect(runs.cancels == 0)
        run.emit(.init("1", hasNext: true))
        tokens[1]?.cancel()
        #expect(runs.cancels == 1)
        run.emit(.init("2", hasNext: true))
        run.finish("3")
        #expect(one.all.isEmpty)
        #expect(other.all == ["1 more"])
        #expect(client.activeOperations == 0)
    }

    // MARK: - R7: the end

    @Test("R7") func whatEndsMayBeginAgain() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let heard = Heard()
        client.watch(subscription(), heard.hear)
        await runs.next().finish("1")
        await heard.heard(2)
        #expect(client.activeOperations == 0)
        client.watch(subscription(), heard.hear)
        await runs.next().finish("2")
        await heard.heard(4)
        #expect(heard.all == ["1", "end", "2", "end"])
    }

    @Test("R7") func aFailureEndsASubscriptionAndNotAWatchedQuery() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let failure = NetworkError(.network, during: .body, "lost")
        let query = Heard()
        let token = client.watch(component, query.hear)
        await runs.next().finish(.failure(failure))
        await query.heard(1)
        #expect(query.all == ["failure: network"])
        #expect(client.activeOperations == 1)
        token?.cancel()
        let subscribed = Heard()
        client.watch(subscription(), subscribed.hear)
        await runs.next().finish(.failure(failure))
        await subscribed.heard(2)
        #expect(subscribed.all == ["failure: network", "end"])
        #expect(client.activeOperations == 0)
    }

    @Test("what an interceptor threw after it emitted comes after what it emitted")
    func aFailureFollowsWhatWasEmitted() async {
        let runs = ScriptedRuns()
        let heard = Heard()
        client(runs).watch(form, heard.hear)
        let run = await runs.next()
        run.emit(.init("1", hasNext: true))
        run.finish(.failure(NetworkError(.network, during: .body, "lost")))
        await heard.heard(3)
        #expect(heard.all == ["1 more", "failure: network", "end"])
    }

    @Test("and once, by who came late as well; who asks afterwards begins anew", arguments: shared)
    func aFailureAfterAResultIsHeardOnceByAll(kind: NetworkOperation.Kind) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let (one, late, next) = (Heard(), Heard(), Heard())
        let first = client.watch(.of(kind), one.hear)
        let run = await runs.next()
        run.emit(.init("1", hasNext: true))
        let second = client.watch(.of(kind), late.hear)
        run.finish(.failure(.lost))
        let isSubscription = kind == .subscription
        let outcome = isSubscription ? ["failure: network", "end"] : ["failure: network"]
        let replayed: [String] = isSubscription ? [] : ["1 stale more"]
        await one.heard(1 + outcome.count)
        await late.heard(replayed.count + outcome.count)
        first?.cancel()
        second?.cancel()
        #expect(client.activeOperations == 0)
        client.watch(.of(kind), next.hear)
        await runs.next().finish("2")
        await next.heard(1)
        #expect(next.all.first == "2")
        #expect(one.all == ["1 more"] + outcome)
        #expect(late.all == replayed + outcome)
        #expect(runs.count == 2)
        withExtendedLifetime(client) {}
    }

    @Test("and who joins those who still watch hears what there was, and what is new", arguments: shared)
    func aFailureAfterAResultKeepsTheResult(kind: NetworkOperation.Kind) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let (one, late) = (Heard(), Heard())
        client.watch(.of(kind), one.hear)
        let run = await runs.next()
        run.emit(.init("1", hasNext: true))
        run.finish(.failure(.lost))
        let isSubscription = kind == .subscription
        let before = ["1 more", "failure: network"] + (isSubscription ? ["end"] : [])
        await one.heard(before.count)
        client.watch(.of(kind), late.hear)
        await runs.next().finish("2")
        // A subscription is over with its failure: the late one has a run of its own.
        let after = isSubscription ? ["2", "end"] : ["1 stale more", "2"]
        await late.heard(after.count)
        if !isSubscription { await one.heard(before.count + after.count) }
        #expect(one.all == (isSubscription ? before : before + after))
        #expect(late.all == after)
        #expect(runs.count == 2)
        withExtendedLifetime(client) {}
    }

    // MARK: - R8: the first settled result

    @Test("R8") func theFirstResultIsNeitherStaleNorFollowedByMore() async throws {
        let runs = ScriptedRuns { _, emit in
            emit(.init(.progress(TransferProgress(bytesSent: 0, bytesToSend: 0, bytesReceived: 5, bytesToReceive: 9))))
            emit(.init("old", from: .cache, isStale: true))
            emit(.init("part", hasNext: true))
            return .init("new")
        }
        let client = client(runs)
        let before = Lock<[String]>([])
        let result = try await client.run(component) { result in before.withLock { $0.append(result.shown) } }
        #expect(result.shown == "new")
        #expect(before.withLock { $0 } == ["5 bytes", "old stale", "part more"])
        #expect(client.activeOperations == 0)
    }

    @Test("R8") func theEndOfAnotherClientsRunIsNone() async throws {
        var old = try await client(ScriptedRuns { _, _ in .init("old") }).run(component)
        old.isStale = true
        let runs = ScriptedRuns { [old] _, emit in
            emit(old)
            return .init("new")
        }
        #expect(try await client(runs).run(component).shown == "new")
    }

    @Test("R8") func resultsEndWithTheSettledOne() async throws {
        let runs = ScriptedRuns { _, emit in
            emit(.init("old", from: .cache, isStale: true))
            return .init("new")
        }
        var heard: [String] = []
        for try await result in client(runs).results(of: component) { heard.append(result.shown) }
        #expect(heard == ["old stale", "new"])
    }

    // MARK: - R9: forms and mutations

    @Test("R9") func cancellingAFormAbortsIt() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let task = Task { [form] in await Result { try await client.run(form) } }
        _ = await runs.next()
        task.cancel()
        #expect(runs.cancels == 1)
        #expect(await task.value.failure?.isCancelled == true)
    }

    @Test("R9") func whatIsDetachedIsSeenThrough() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        var form = form
        form.isDetached = true
        let task = Task { [form] in await Result { try await client.run(form) } }
        let run = await runs.next()
        task.cancel()
        #expect(await task.value.failure?.isCancelled == true)
        #expect(runs.cancels == 0)
        run.finish("1")
    }

    @Test("R9, of what is shared and of a client that is let go") func whatIsDetachedOutlastsItsClient() async {
        let runs = ScriptedRuns()
        var client: NetworkClientDefault? = client(runs)
        var component = component
        component.isDetached = true
        let task = Task { [component, client] in await Result { try await client?.run(component) } }
        let run = await runs.next()
        task.cancel()
        #expect(await task.value.failure?.isCancelled == true)
        client = nil
        #expect(runs.cancels == 0)
        run.finish("1")
    }

    // MARK: - R10: the run is the hub's

    @Test("R10") func whoBeganMayLeaveWithoutHarmToOthers() async throws {
        let runs = ScriptedRuns()
        let client = client(runs)
        let leader = Task { [component] in await Result { try await client.run(component) } }
        let run = await runs.next()
        async let follower = client.run(component)
        while client.activeSubscribers < 2 { await Task.yield() }
        leader.cancel()
        #expect(await leader.value.failure?.isCancelled == true)
        run.finish("1")
        #expect(try await follower.shown == "1")
        #expect(runs.cancels == 0)
    }

    // MARK: - The end of all

    @Test func endingAllCancelsWhoWaitsAndEndsWhoWatches() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let heard = Heard()
        client.watch(component, heard.hear)
        let waiting = Task { [component] in await Result { try await client.run(component) } }
        while client.activeSubscribers < 2 { await Task.yield() }
        client.endAll()
        #expect(await waiting.value.failure?.isCancelled == true)
        #expect(heard.all == ["end"])
        #expect(runs.cancels == 1)
        #expect(client.activeOperations == 0)
    }

    @Test func aClientThatIsLetGoEndsWhatIsWatched() async {
        let heard = Heard()
        let runs = ScriptedRuns { _, _ in .init("1") }
        do { client(runs).watch(component, heard.hear) }
        await heard.heard(2)
        #expect(heard.all == ["1", "end"])
    }

    @Test func aSubscriberThatLeavesOnceMoreWhenItIsLetGoDoesNoHarm() {
        final class Model: Sendable {
            let token = Lock<(any RequestToken)?>(nil)

            func hear(_ event: NetworkOperation.Event) {}

            deinit {
                token.withLock { $0 }?.cancel()
            }
        }
        let client = client(ScriptedRuns { _, _ in .init("1") })
        var model: Model? = Model()
        let token = client.watch(component, model!.hear)
        model?.token.withLock { $0 = token }
        model = nil
        token?.cancel()
        #expect(client.activeOperations == 0)
    }

    // MARK: - What no one answers

    @Test func aKindThatNothingAnswersIsNamed() async throws {
        Beagle.dependencies.interceptors = []
        let transport = ScriptedTransport()
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let operation = NetworkOperation(component.request, kind: .init("telepathy", isShared: false))
        for client: any NetworkClient in [client, StubClient { _ in NetworkResponse() }] {
            let error = await #expect(throws: NetworkError.self) { try await client.run(operation) }
            #expect(error?.kind == .unsupported)
            #expect(error?.message.contains("telepathy") == true)
        }
        #expect(transport.requests.withLock(\.isEmpty))
    }

    @Test func aSwappedClientAnswersOperationsOfOneMessage() async throws {
        let client = StubClient { request in NetworkResponse(text: request.url.path) }
        #expect(try await client.run(component).shown == "/screen")
        #expect(try await client.run(NetworkOperation(form.request, kind: .mutation)).shown == "/form")
    }
}
