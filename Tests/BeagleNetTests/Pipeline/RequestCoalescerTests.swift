import BeagleNet
import BeagleNetTesting
import Dispatch
import Testing
import TestClients

/// The coalescer's rules, by the letter under which INTERNALS.md lists them.
@Suite(.beagle(), .timeLimit(.minutes(5))) struct RequestCoalescerTests {
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

    // MARK: - R1: shared operations have one run, forms and mutations never share

    @Test("R1") func identicalConcurrentOperationsShareARun() async throws {
        let runs = ScriptedRuns()
        let client = client(runs)
        async let one = client.run(component)
        let run = await runs.next()
        let received = EventRecorder()
        client.watch(component, received.receive)
        run.finish("1")
        await received.waitForEvents(1)
        #expect(try await one.shown == "1")
        #expect(received.all == ["1"])
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

    @Test("R1") func differentOperationsDoNotShareARun() async throws {
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

    // MARK: - R2: immediate results are delivered immediately

    @Test("R2") func immediateResultIsDeliveredInsideTheCall() {
        let received = EventRecorder()
        let client = client(ScriptedRuns { _, _ in .init("1") })
        client.watch(component, received.receive)
        #expect(received.all == ["1"])
        withExtendedLifetime(client) {}
    }

    /// An actor whose queue can be detected by the code that runs on it.
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
    func immediateResultIsDeliveredOnTheCallersActor(kind: NetworkOperation.Kind) async throws {
        let isThere = Lock<Bool?>(nil)
        let runs = ScriptedRuns { _, _ in
            isThere.withLock { $0 = Screen.isHere }
            return .init("1")
        }
        try await Screen().run(.of(kind), client(runs))
        #expect(isThere.withLock { $0 } == true)
    }

    // MARK: - R3: in order, outside locks, and reentrant

    @Test("R3") func resultsAreDeliveredInOrder() async {
        let runs = ScriptedRuns()
        let received = EventRecorder()
        let client = client(runs)
        client.watch(component, received.receive)
        let run = await runs.next()
        for number in 1...50 { run.emit(.init("\(number)", hasNext: true)) }
        run.finish("last")
        await received.waitForEvents(51)
        withExtendedLifetime(client) {}
        #expect(received.all == (1...50).map { "\($0) more" } + ["last"])
    }

    @Test("R3") func subscriberMayWatchAndCancelInsideItsCallback() async {
        let runs = ScriptedRuns { _, emit in
            emit(.init("0", hasNext: true))
            return .init("1")
        }
        let client = client(runs)
        let inner = EventRecorder()
        let outer = EventRecorder()
        let token = client.watch(component) { [component] event in
            outer.receive(event)
            if outer.all.count == 1 { client.watch(component, inner.receive)?.cancel() }
        }
        #expect(outer.all == ["0 more", "1"])
        #expect(inner.all.allSatisfy { $0 == "0 stale more" })
        token?.cancel()
        #expect(client.activeOperations == 0)
    }

    // MARK: - R4: late subscribers

    @Test("R4") func lateSubscriberReceivesTheLastResultAsStaleThenTheNewOne() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let one = EventRecorder()
        let other = EventRecorder()
        client.watch(component, one.receive)
        await runs.next().finish("1")
        await one.waitForEvents(1)
        client.watch(component, other.receive)
        await runs.next().finish("2")
        await one.waitForEvents(3)
        await other.waitForEvents(2)
        #expect(one.all == ["1", "1 stale", "2"])
        #expect(other.all == ["1 stale", "2"])
    }

    @Test("R4") func lateSubscriberReceivesNoStaleResultIfANewOneIsImmediate() {
        let runs = ScriptedRuns { _, _ in .init("1") }
        let client = client(runs)
        let other = EventRecorder()
        client.watch(component) { _ in }
        client.watch(component, other.receive)
        #expect(other.all == ["1"])
    }

    @Test("R4") func lateSubscriberToASubscriptionReceivesNoOldResult() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let one = EventRecorder()
        let other = EventRecorder()
        client.watch(subscription(), one.receive)
        let run = await runs.next()
        run.emit(.init("1", hasNext: true))
        client.watch(subscription(), other.receive)
        run.emit(.init("2", hasNext: true))
        await other.waitForEvents(1)
        #expect(one.all == ["1 more", "2 more"])
        #expect(other.all == ["2 more"])
        #expect(runs.count == 1)
    }

    @Test("R4") func staleResultIsReplayedToALateSubscriber() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        client.watch(component) { _ in }
        let run = await runs.next()
        run.emit(.init("old", from: .cache, isStale: true))
        let other = EventRecorder()
        client.watch(component, other.receive)
        #expect(other.all == ["old stale"])
        #expect(runs.count == 1)
    }

    // MARK: - R5: refetching

    @Test("R5") func refetchDeliversTheLastResultAsStaleThenTheNewOne() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let received = EventRecorder()
        client.watch(component, received.receive)
        await runs.next().finish("1")
        await received.waitForEvents(1)
        client.refetch()
        await runs.next().finish("2")
        await received.waitForEvents(3)
        #expect(received.all == ["1", "1 stale", "2"])
        #expect(runs.policies == [.networkFirst, .networkOnly])
    }

    @Test("R5: a refetch during a run doesn't start another run", arguments: 1...4)
    func refetchDuringARunStartsNoOther(times: Int) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let received = EventRecorder()
        client.watch(component, received.receive)
        let run = await runs.next()
        for _ in 1...times { client.refetch() }
        run.finish("1")
        await received.waitForEvents(1)
        #expect(runs.count == 1)
        #expect(received.all == ["1"])
    }

    @Test("R5: a response that would be outdated is followed by one more run", arguments: 1...3)
    func refetchAfterRunStartsOneMoreRun(times: Int) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let received = EventRecorder()
        client.watch(component, received.receive)
        let run = await runs.next()
        for _ in 1...times { client.refetch(afterRun: true) }
        run.finish("1")
        await runs.next().finish("2")
        await received.waitForEvents(3)
        #expect(received.all == ["1", "1 stale", "2"])
        #expect(runs.count == 2)
    }

    @Test("R5") func refetchRunsOnlyMatchingOperations() async {
        let runs = ScriptedRuns { operation, _ in .init(operation.kind.name) }
        let client = client(runs)
        let image = EventRecorder()
        client.watch(component) { _ in }
        client.watch(NetworkOperation(component.request, kind: .image), image.receive)
        client.refetch { $0.kind == .image }
        #expect(image.all == ["image", "image"])
        #expect(runs.count == 3)
    }

    @Test("R5: a watched operation keeps its subscriber's policy", arguments: [RequestPolicy.cacheFirst, .cacheOnly])
    func oneTimeRunDoesNotChangeASubscribersPolicy(policy: RequestPolicy) async throws {
        let client = client(ScriptedRuns { _, _ in .init("1") })
        let received = EventRecorder()
        client.watch(NetworkOperation(component.request, policy: policy), received.receive)
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

    @Test("R5") func subscriptionIsNotRefetched() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let received = EventRecorder()
        client.watch(subscription(), received.receive)
        let run = await runs.next()
        client.refetch(afterRun: true)
        run.finish("1")
        await received.waitForEvents(2)
        #expect(received.all == ["1", "end"])
        #expect(runs.count == 1)
    }

    // MARK: - Runs that may use the store, and subscribers that need the network

    @Test func shorterMaxAgeStartsAFollowUpRun() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let other = EventRecorder()
        var older = component
        older.policy = .cacheFirst
        client.watch(older) { _ in }
        let run = await runs.next()
        var younger = older
        younger.maxAge = .seconds(10)
        client.watch(younger, other.receive)
        run.finish("stored", from: .cache)
        let next = await runs.next()
        #expect(next.operation.maxAge == .seconds(10))
        next.finish("fresh")
        await other.waitForEvents(3)
        #expect(other.all == ["stored stale", "stored stale", "fresh"])
    }

    @Test func networkOnlyOperationFollowsAStoredResponse() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let one = EventRecorder()
        let other = EventRecorder()
        client.watch(component, one.receive)
        let run = await runs.next()
        client.watch(NetworkOperation(component.request, policy: .networkOnly), other.receive)
        run.finish("stored", from: .cache)
        await runs.next().finish("fresh")
        await one.waitForEvents(3)
        await other.waitForEvents(2)
        #expect(one.all == ["stored", "stored stale", "fresh"])
        #expect(other.all == ["stored stale", "stored stale", "fresh"])
        #expect(runs.policies == [.networkFirst, .networkOnly])
    }

    @Test(arguments: [RequestPolicy.networkOnly, .cacheAndNetwork])
    func networkOnlyOperationJoinsARunThatUsesTheNetwork(policy: RequestPolicy) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let other = EventRecorder()
        client.watch(NetworkOperation(component.request, policy: policy)) { _ in }
        let run = await runs.next()
        client.watch(NetworkOperation(component.request, policy: .networkOnly), other.receive)
        run.finish("fresh")
        await other.waitForEvents(1)
        #expect(other.all == ["fresh"])
        #expect(runs.count == 1)
    }

    @Test func networkOnlyOperationAcceptsTheNetworkResponseOfACacheFirstRun() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let other = EventRecorder()
        client.watch(component) { _ in }
        let run = await runs.next()
        client.watch(NetworkOperation(component.request, policy: .networkOnly), other.receive)
        run.finish("fresh")
        await other.waitForEvents(1)
        client.refetch(.cacheAndNetwork)
        #expect(await runs.next().operation.policy == .cacheAndNetwork, "no other run before it")
        #expect(other.all.first == "fresh")
    }

    @Test func storeFailureDoesNotReachANetworkOnlyOperation() async throws {
        let runs = ScriptedRuns()
        let client = client(runs)
        let received = EventRecorder()
        client.watch(component, received.receive)
        await runs.next().finish(.failure(.lost))
        await received.waitForEvents(1)
        client.refetch(.cacheOnly)
        let run = await runs.next()
        async let fresh = client.run(NetworkOperation(component.request, policy: .networkOnly))
        while client.activeSubscribers < 2 { await Task.yield() }
        run.finish(.failure(NetworkError(.notStored, during: .queue, "nothing is stored")))
        await runs.next().finish("fresh")
        #expect(try await fresh.shown == "fresh")
        await received.waitForEvents(3)
        #expect(received.all == ["failure: network", "failure: not_stored", "fresh"])
    }

    @Test func cacheOnlySubscriberJoinsOnlyCacheOnlyRuns() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let (one, stored, other) = (EventRecorder(), EventRecorder(), EventRecorder())
        client.watch(component, one.receive)
        let run = await runs.next()
        client.watch(NetworkOperation(component.request, policy: .cacheOnly), stored.receive)
        let look = await runs.next()
        #expect(look.operation.policy == .cacheOnly)
        client.watch(NetworkOperation(component.request, policy: .cacheOnly), other.receive)
        run.finish("fresh")
        await one.waitForEvents(1)
        look.finish("stored", from: .cache)
        await stored.waitForEvents(1)
        await other.waitForEvents(1)
        #expect(one.all == ["fresh"])
        #expect(stored.all == ["stored"])
        #expect(other.all == ["stored"])
        #expect(runs.count == 2)
    }

    @Test("R5: a refetch with any policy reads the store again for cache-only subscribers")
    func refetchReadsTheStoreForCacheOnlySubscribers() async {
        let runs = ScriptedRuns { operation, _ in .init("\(operation.policy)") }
        let client = client(runs)
        let (one, stored) = (EventRecorder(), EventRecorder())
        client.watch(component, one.receive)
        client.watch(NetworkOperation(component.request, policy: .cacheOnly), stored.receive)
        client.refetch()
        #expect(one.all == ["networkFirst", "networkOnly"])
        #expect(stored.all == ["cacheOnly", "cacheOnly"])
    }

    @Test func subscriptionWithAnyPolicyIsShared() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        client.watch(subscription()) { _ in }
        let other = EventRecorder()
        client.watch(NetworkOperation(component.request, kind: .subscription, policy: .cacheOnly), other.receive)
        await runs.next().finish("1")
        await other.waitForEvents(2)
        #expect(other.all == ["1", "end"])
        #expect(runs.count == 1)
    }

    // MARK: - R6: cancelling

    @Test("R6") func lastSubscriberToCancelEndsTheRunSynchronously() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let one = EventRecorder()
        let other = EventRecorder()
        let tokens = [client.watch(component, one.receive), client.watch(component, other.receive)]
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

    @Test("R7") func endedSubscriptionCanBeginAgain() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let received = EventRecorder()
        client.watch(subscription(), received.receive)
        await runs.next().finish("1")
        await received.waitForEvents(2)
        #expect(client.activeOperations == 0)
        client.watch(subscription(), received.receive)
        await runs.next().finish("2")
        await received.waitForEvents(4)
        #expect(received.all == ["1", "end", "2", "end"])
    }

    @Test("R7") func failureEndsASubscriptionButNotAWatchedQuery() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let failure = NetworkError(.network, during: .body, "lost")
        let query = EventRecorder()
        let token = client.watch(component, query.receive)
        await runs.next().finish(.failure(failure))
        await query.waitForEvents(1)
        #expect(query.all == ["failure: network"])
        #expect(client.activeOperations == 1)
        token?.cancel()
        let subscribed = EventRecorder()
        client.watch(subscription(), subscribed.receive)
        await runs.next().finish(.failure(failure))
        await subscribed.waitForEvents(2)
        #expect(subscribed.all == ["failure: network", "end"])
        #expect(client.activeOperations == 0)
    }

    @Test func failureFollowsTheEmittedResults() async {
        let runs = ScriptedRuns()
        let received = EventRecorder()
        client(runs).watch(form, received.receive)
        let run = await runs.next()
        run.emit(.init("1", hasNext: true))
        run.finish(.failure(NetworkError(.network, during: .body, "lost")))
        await received.waitForEvents(3)
        #expect(received.all == ["1 more", "failure: network", "end"])
    }

    @Test("a failure after a result is delivered once to each; a later operation begins a new run", arguments: shared)
    func failureAfterAResultIsDeliveredOnceToAll(kind: NetworkOperation.Kind) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let (one, late, next) = (EventRecorder(), EventRecorder(), EventRecorder())
        let first = client.watch(.of(kind), one.receive)
        let run = await runs.next()
        run.emit(.init("1", hasNext: true))
        let second = client.watch(.of(kind), late.receive)
        run.finish(.failure(.lost))
        let isSubscription = kind == .subscription
        let outcome = isSubscription ? ["failure: network", "end"] : ["failure: network"]
        let replayed: [String] = isSubscription ? [] : ["1 stale more"]
        await one.waitForEvents(1 + outcome.count)
        await late.waitForEvents(replayed.count + outcome.count)
        first?.cancel()
        second?.cancel()
        #expect(client.activeOperations == 0)
        client.watch(.of(kind), next.receive)
        await runs.next().finish("2")
        await next.waitForEvents(1)
        #expect(next.all.first == "2")
        #expect(one.all == ["1 more"] + outcome)
        #expect(late.all == replayed + outcome)
        #expect(runs.count == 2)
        withExtendedLifetime(client) {}
    }

    @Test("a subscriber that joins after a failure receives the earlier result, then the new one", arguments: shared)
    func failureAfterAResultKeepsTheResult(kind: NetworkOperation.Kind) async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let (one, late) = (EventRecorder(), EventRecorder())
        client.watch(.of(kind), one.receive)
        let run = await runs.next()
        run.emit(.init("1", hasNext: true))
        run.finish(.failure(.lost))
        let isSubscription = kind == .subscription
        let before = ["1 more", "failure: network"] + (isSubscription ? ["end"] : [])
        await one.waitForEvents(before.count)
        client.watch(.of(kind), late.receive)
        await runs.next().finish("2")
        // A failure ends a subscription, so the late subscriber has its own run.
        let after = isSubscription ? ["2", "end"] : ["1 stale more", "2"]
        await late.waitForEvents(after.count)
        if !isSubscription { await one.waitForEvents(before.count + after.count) }
        #expect(one.all == (isSubscription ? before : before + after))
        #expect(late.all == after)
        #expect(runs.count == 2)
        withExtendedLifetime(client) {}
    }

    // MARK: - R8: the first settled result

    @Test("R8") func runReturnsTheFirstSettledResult() async throws {
        let runs = ScriptedRuns { _, emit in
            emit(
                .init(
                    .progress(
                        TransferRequest.Progress(bytesSent: 0, bytesToSend: 0, bytesReceived: 5, bytesToReceive: 9)
                    )
                )
            )
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

    @Test("R8") func staleResultOfAnotherClientDoesNotEndTheRun() async throws {
        var old = try await client(ScriptedRuns { _, _ in .init("old") }).run(component)
        old.isStale = true
        let runs = ScriptedRuns { [old] _, emit in
            emit(old)
            return .init("new")
        }
        #expect(try await client(runs).run(component).shown == "new")
    }

    @Test("R8") func resultsEndWithTheSettledResult() async throws {
        let runs = ScriptedRuns { _, emit in
            emit(.init("old", from: .cache, isStale: true))
            return .init("new")
        }
        var received: [String] = []
        for try await result in client(runs).results(of: component) { received.append(result.shown) }
        #expect(received == ["old stale", "new"])
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

    @Test("R9") func cancellingADetachedOperationDoesNotStopIt() async {
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

    @Test("R9, for a shared operation and a released client") func detachedOperationOutlivesItsClient() async {
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

    // MARK: - R10: the coalescer owns the run

    @Test("R10") func firstSubscriberMayCancelWithoutAffectingOthers() async throws {
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

    // MARK: - Ending all operations

    @Test func endAllCancelsCallersAndEndsWatchers() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let received = EventRecorder()
        client.watch(component, received.receive)
        let waiting = Task { [component] in await Result { try await client.run(component) } }
        while client.activeSubscribers < 2 { await Task.yield() }
        client.endAll()
        #expect(await waiting.value.failure?.isCancelled == true)
        #expect(received.all == ["end"])
        #expect(runs.cancels == 1)
        #expect(client.activeOperations == 0)
    }

    @Test func releasingTheClientEndsWatchedOperations() async {
        let received = EventRecorder()
        let runs = ScriptedRuns { _, _ in .init("1") }
        do { client(runs).watch(component, received.receive) }
        await received.waitForEvents(2)
        #expect(received.all == ["1", "end"])
    }

    @Test func cancellingAgainInDeinitIsHarmless() {
        final class Model: Sendable {
            let token = Lock<(any RequestToken)?>(nil)

            func receive(_ event: NetworkOperation.Event) {}

            deinit {
                token.withLock { $0 }?.cancel()
            }
        }
        let client = client(ScriptedRuns { _, _ in .init("1") })
        var model: Model? = Model()
        let token = client.watch(component, model!.receive)
        model?.token.withLock { $0 = token }
        model = nil
        token?.cancel()
        #expect(client.activeOperations == 0)
    }

    // MARK: - Unsupported kinds

    @Test func unsupportedKindIsNamedInTheError() async throws {
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

    @Test func stubClientRunsSingleMessageOperations() async throws {
        let client = StubClient { request in NetworkResponse(text: request.url.path) }
        #expect(try await client.run(component).shown == "/screen")
        #expect(try await client.run(NetworkOperation(form.request, kind: .mutation)).shown == "/form")
    }
}
