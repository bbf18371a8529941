import BeagleNet
import BeagleNetTesting
import CurlPeers
import Testing
import TestClients

@Suite(.leavesNothing, .beagle(), .timeLimit(.minutes(5))) struct OperationScopeTests {
    private typealias ResultTask = Task<Result<String, NetworkError>, Never>

    private func task(_ client: any NetworkClient, _ kind: NetworkOperation.Kind) -> ResultTask {
        Task { await Result { try await client.run(.of(kind)).shown } }
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func closingCancelsAllNestedOperations(kind: NetworkOperation.Kind) async {
        let runs = ScriptedRuns()
        let screen = OperationScope()
        let cell = OperationScope(in: OperationScope(in: screen))
        let client = client(runs)
        let tasks = [task(client.scoped(in: screen), kind), task(client.scoped(in: cell), .form)]
        _ = await runs.next()
        _ = await runs.next()
        screen.close()
        for task in tasks { #expect(await task.value.failure?.isCancelled == true) }
        #expect(runs.cancels == 2)
        #expect(cell.isClosed)
        #expect(screen.count == 0)
        let late = await task(client.scoped(in: cell), kind).value
        #expect(late.failure?.isCancelled == true)
        #expect(runs.count == 2)
    }

    @Test func aScopeUnderAClosedOneIsClosed() {
        let screen = OperationScope()
        screen.close()
        #expect(OperationScope(in: screen).isClosed)
    }

    @Test func closingDoesNotAffectTheParentScope() async throws {
        let runs = ScriptedRuns()
        let screen = OperationScope()
        let list = OperationScope(in: screen)
        let client = client(runs)
        let staying = task(client.scoped(in: screen), .raw)
        let run = await runs.next()
        let leaving = task(client.scoped(in: list), .form)
        _ = await runs.next()
        list.close()
        #expect(await leaving.value.failure?.isCancelled == true)
        run.finish("1")
        #expect(try await staying.value.get() == "1")
    }

    @Test(arguments: [NetworkOperation.Kind.component, .image, .form, .raw])
    func completionOfACancelledRequestIsCalledOnce(kind: NetworkOperation.Kind) async {
        for isScoped in [true, false] {
            let runs = ScriptedRuns()
            let screen = OperationScope()
            let client = client(runs)
            let completions = Lock(0)
            let (completed, continuation) = AsyncStream.makeStream(of: Void.self)
            let asker: any NetworkClient = isScoped ? client.scoped(in: screen) : client
            let token = asker.executeRequest(NetworkOperation.of(kind).request) { _ in
                completions.withLock { $0 += 1 }
                continuation.yield()
            }
            let run = await runs.next()
            if isScoped { screen.close() }
            for _ in 1...2 { token?.cancel() }
            run.finish("1")
            client.endAll()
            for await _ in completed { break }
            // Any other completion has the time of an exchange to arrive.
            let last = task(client, .form)
            await runs.next().finish("2")
            _ = await last.value
            #expect(completions.withLock { $0 } == 1)
            #expect(screen.count == 0)
        }
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func closingEndsWatchedOperations(kind: NetworkOperation.Kind) async {
        let runs = ScriptedRuns()
        let screen = OperationScope()
        let client = client(runs)
        let (received, other) = (EventRecorder(), EventRecorder())
        let token = client.watch(.of(kind), in: screen, received.receive)
        client.watch(.of(.raw), other.receive)
        _ = await runs.next()
        let staying = await runs.next()
        screen.close()
        #expect(received.all == ["failure: cancelled", "end"])
        #expect(runs.cancels == 1)
        token?.cancel()
        staying.finish("1")
        await other.waitForEvents(2)
        #expect(other.all == ["1", "end"])
        #expect(received.all.count == 2)
        let late = EventRecorder()
        #expect(client.watch(.of(kind), in: screen, late.receive) == nil)
        #expect(late.all == ["failure: cancelled"])
        client.watch(.of(kind), in: screen) { event in
            if case .failure(let error) = event {
                #expect(!error.mayHaveReachedServer)
            } else {
                Issue.record("the scope is not closed")
            }
        }
    }

    @Test func closingInACallbackEndsAllSubscribers() async {
        let runs = ScriptedRuns()
        let screen = OperationScope()
        let client = client(runs)
        let (first, second, cancels) = (EventRecorder(), EventRecorder(), Lock<Int?>(nil))
        client.watch(.of(.component), in: screen) { event in
            first.receive(event)
            guard case .result = event else { return }
            screen.close()
            cancels.withLock { $0 = runs.cancels }
        }
        client.watch(.of(.component), in: screen, second.receive)
        await runs.next().emit(.init("1", hasNext: true))
        await second.waitForEvents(2)
        #expect(cancels.withLock { $0 } == 1)
        #expect(first.all == ["1 more", "failure: cancelled", "end"])
        #expect(second.all.suffix(2) == ["failure: cancelled", "end"])
    }

    @Test func operationOwnedByTwoScopesEndsOnce() async {
        let runs = ScriptedRuns()
        let (screen, session) = (OperationScope(), OperationScope())
        let client = client(runs)
        Beagle.dependencies.operationScope = session
        let received = EventRecorder()
        client.watch(.of(.component), in: screen, received.receive)
        _ = await runs.next()
        session.close()
        screen.close()
        #expect(received.all == ["failure: cancelled", "end"])
        #expect(runs.cancels == 1)
    }

    @Test func closingAScopeDoesNotEndARunSharedWithAnother() async {
        let runs = ScriptedRuns()
        let (screen, cell) = (OperationScope(), OperationScope())
        let client = client(runs)
        let (first, second) = (EventRecorder(), EventRecorder())
        client.watch(.of(.component), in: screen, first.receive)
        client.watch(.of(.component), in: cell, second.receive)
        let run = await runs.next()
        screen.close()
        #expect(first.all == ["failure: cancelled", "end"])
        #expect(runs.cancels == 0)
        run.finish("1")
        await second.waitForEvents(1)
        cell.close()
        #expect(second.all == ["1", "failure: cancelled", "end"])
        #expect(client.activeOperations == 0)
    }

    @Test(arguments: [true, false])
    func endedOperationIsReleasedByItsScope(isByItself: Bool) async {
        final class Witness: Sendable {}
        let runs = ScriptedRuns()
        let screen = OperationScope()
        let client = client(runs)
        weak var held: Witness?
        do {
            let witness = Witness()
            held = witness
            let ended = AsyncStream.makeStream(of: Void.self)
            let token = client.watch(.of(.form), in: screen) { [witness] event in
                withExtendedLifetime(witness) {}
                if case .end = event { ended.continuation.finish() }
            }
            let run = await runs.next()
            if isByItself {
                run.finish("1")
                for await _ in ended.stream {}
            } else {
                token?.cancel()
            }
        }
        while held != nil { await Task.yield() }
        screen.close()
    }

    // MARK: - As a dependency

    @Test(arguments: NetworkOperation.Kind.known)
    func containerScopeOwnsAllOperationsOfItsClient(kind: NetworkOperation.Kind) async {
        let runs = ScriptedRuns()
        let screen = OperationScope()
        let client = client(runs)
        Beagle.dependencies.operationScope = screen
        let received = EventRecorder()
        client.watch(.of(kind), received.receive)
        let results = AsyncStream.makeStream(of: NetworkClient.NetworkResult.self)
        let request = Request(url: URL(string: "http://host/1")!, type: .fetchComponent)
        client.executeRequest(request) { results.continuation.yield($0) }
        let running = task(client, kind == .raw ? .form : .raw)
        for _ in 1...3 { _ = await runs.next() }
        screen.close()
        #expect(received.all == ["failure: cancelled", "end"])
        #expect(await running.value.failure?.isCancelled == true)
        for await result in results.stream {
            #expect(result.failure?.isCancelled == true)
            break
        }
        #expect(runs.cancels == 3)
        #expect(await task(client, kind).value.failure?.isCancelled == true)
        #expect(runs.count == 3)
    }

    @Test(
        "an operation's own requests, and entering a scope twice, don't wait for its end",
        arguments: OperationScope.Rule.allCases
    )
    func operationDoesNotWaitForItself(rule: OperationScope.Rule) async throws {
        let slot = Lock<NetworkClientDefault?>(nil)
        let rules = AuthInterceptor<String>.Rules(
            load: {
                let client = slot.withLock { $0 }
                return try await client?.run(.of(.raw)).shown
            },
            attach: { token, head in head.headerFields[.authorization] = token }
        )
        let answers = ScriptedResponses(.success(.init("token")))
        let auth = AuthInterceptor(rules, origins: [Origin(scheme: "http", host: "host")])
        let client = client(auth, answers)
        slot.withLock { $0 = client }
        let screen = OperationScope(rule)
        Beagle.dependencies.operationScope = screen
        #expect(try await client.run(.of(.form)).shown == "token")
        #expect(try await client.scoped(in: screen).run(.of(.form)).shown == "token")
        #expect(answers.count == 3)
        #expect(screen.count == 0)
        slot.withLock { $0 = nil }
    }

    @Test func replacedScopeAndPolicyReachTheClient() async throws {
        let runs = ScriptedRuns(immediate: { _, _ in .init("1") })
        let dependencies = BeagleDependencies()
        dependencies.interceptors = [runs]
        let (screen, url) = (OperationScope(), URL(string: "http://host/")!)
        screen.close()
        let swapped = dependencies.scoped {
            $0.operationScope = screen
            $0.policy = .networkOnly
        }
        let error = await Result {
            try await swapped.networkClient.executeRequest(Request(url: url, type: .fetchComponent))
        }
        #expect(error.failure?.isCancelled == true)
        swapped.operationScope = nil
        for client in [swapped.networkClient, dependencies.networkClient] {
            _ = try await client.executeRequest(Request(url: url, type: .fetchComponent))
            _ = try await client.run(NetworkOperation(Request(url: url, type: .fetchComponent), policy: .networkFirst))
        }
        #expect(runs.policies == [.networkOnly, .networkFirst, .networkFirst, .networkFirst])
    }

    // MARK: - Rules

    @Test func dropRuleCancelsTheNewOperation() async throws {
        let runs = ScriptedRuns()
        let client = client(runs).scoped(in: OperationScope(.drop))
        let old = task(client, .form)
        let run = await runs.next()
        #expect(await task(client, .form).value.failure?.isCancelled == true)
        run.finish("1")
        #expect(try await old.value.get() == "1")
        #expect(runs.count == 1)
        let next = task(client, .form)
        await runs.next().finish("2")
        #expect(try await next.value.get() == "2")
    }

    @Test func replaceRuleCancelsTheOldTransfer() async throws {
        let held = HeldCompletion()
        let transport = held.transport()
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
            .scoped(in: OperationScope(.replace))
        let old = task(client, .raw)
        await held.isHeld()
        let new = task(client, .raw)
        await held.isHeld()
        #expect(transport.cancels.withLock { $0 } == 1)
        held.complete(.success(TransferResponse(head: HTTPResponse(status: .ok), body: HTTPBody("2"), url: "")))
        #expect(try await new.value.get() == "2")
        _ = old
    }

    @Test func queueRuleRunsOperationsOneAfterAnother() async throws {
        let runs = ScriptedRuns()
        let scope = OperationScope(.queue)
        let client = client(runs).scoped(in: scope)
        var tasks: [ResultTask] = []
        for number in 1...4 {
            tasks.append(task(client, .form))
            while scope.count < number { await Task.yield() }
        }
        tasks[2].cancel()
        #expect(await tasks[2].value.failure?.isCancelled == true)
        for (number, index) in [0, 1, 3].enumerated() {
            let run = await runs.next()
            #expect(runs.count == number + 1)
            run.finish("\(index)")
            #expect(try await tasks[index].value.get() == "\(index)")
        }
        #expect(scope.count == 0)
    }

    // MARK: - Limits

    private static let defaultLimits: [(OperationScope, Int?)] = [
        (OperationScope(), nil), (OperationScope(.queue), 1), (OperationScope(.drop), 1), (OperationScope(.replace), 1),
        (OperationScope(limit: 3), 3), (OperationScope(.queue, limit: 3), 3), (OperationScope(.drop, limit: 0), 1),
        (OperationScope(limit: -1), 1),
    ]

    @Test(arguments: Self.defaultLimits) func ruleHasItsLimit(_ scope: OperationScope, _ limit: Int?) {
        #expect(scope.limit == limit)
    }

    @Test(arguments: [OperationScope.Rule.concurrent, .queue])
    func operationsBeyondTheLimitWait(rule: OperationScope.Rule) async throws {
        let runs = ScriptedRuns()
        let scope = OperationScope(rule, limit: 2)
        let client = client(runs).scoped(in: scope)
        var tasks: [ResultTask] = []
        for number in 1...5 {
            tasks.append(task(client, .form))
            while scope.count < number { await Task.yield() }
        }
        var running = [await runs.next(), await runs.next()]
        #expect(runs.count == 2)
        // A cancelled operation leaves the queue, and the next one keeps its place.
        tasks[2].cancel()
        #expect(await tasks[2].value.failure?.isCancelled == true)
        #expect(runs.count == 2)
        for number in 3...4 {
            running.removeFirst().finish("x")
            running.append(await runs.next())
            #expect(runs.count == number)
        }
        for run in running { run.finish("x") }
        for index in [0, 1, 3, 4] { #expect(try await tasks[index].value.get() == "x") }
        #expect(scope.count == 0)
    }

    @Test func closingEndsWaitingOperations() async {
        let runs = ScriptedRuns()
        let scope = OperationScope(limit: 1)
        let client = client(runs).scoped(in: scope)
        let tasks = [task(client, .form), task(client, .form), task(client, .form)]
        while scope.count < 3 { await Task.yield() }
        _ = await runs.next()
        scope.close()
        for task in tasks { #expect(await task.value.failure?.isCancelled == true) }
        #expect(runs.count == 1)
    }

    @Test func dropRuleCancelsOperationsBeyondTheLimit() async throws {
        let runs = ScriptedRuns()
        let client = client(runs).scoped(in: OperationScope(.drop, limit: 2))
        let first = task(client, .form)
        let run = await runs.next()
        let second = task(client, .form)
        _ = await runs.next()
        #expect(await task(client, .form).value.failure?.isCancelled == true)
        run.finish("1")
        #expect(try await first.value.get() == "1")
        let third = task(client, .form)
        await runs.next().finish("3")
        #expect(try await third.value.get() == "3")
        second.cancel()
        _ = await second.value
    }

    @Test func replaceRuleCancelsTheOldestBeyondTheLimit() async throws {
        let runs = ScriptedRuns()
        let client = client(runs).scoped(in: OperationScope(.replace, limit: 2))
        let first = task(client, .form)
        _ = await runs.next()
        let second = task(client, .form)
        let run2 = await runs.next()
        #expect(runs.cancels == 0)
        let third = task(client, .form)
        #expect(await first.value.failure?.isCancelled == true)
        let run3 = await runs.next()
        run2.finish("2")
        run3.finish("3")
        #expect(try await second.value.get() == "2")
        #expect(try await third.value.get() == "3")
        #expect(runs.cancels == 1)
    }

    // MARK: - Streams

    @Test func closingEndsABodyThatIsBeingRead() async throws {
        let server = try LoopbackServer { _ in
            .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .stall])
        }
        let screen = OperationScope()
        let client = NetworkClientDefault(dependencies: Beagle.dependencies).scoped(in: screen)
        let url = try #require(URL(string: server.url))
        let response = try await client.stream(Request(url: url, type: .fetchComponent))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("first".utf8))
        let reading = Task { try await NetworkError.catching { try await chunks.next() } }
        screen.close()
        let error = await #expect(throws: NetworkError.self) { try await reading.value }
        #expect(error?.isCancelled == true)
    }
}
