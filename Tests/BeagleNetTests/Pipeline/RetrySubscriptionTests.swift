import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

/// Retries of subscriptions.
@Suite(.beagle(), .timeLimit(.minutes(5))) struct RetrySubscriptionTests {
    private let runs = ScriptedRuns()
    private let received = EventRecorder()

    /// Retries without a wait, and gives up at the second failure in a row.
    private func retry(limit: Int? = 2) -> RetryInterceptor {
        RetryInterceptor(
            backoff: Backoff(base: .zero, limit: 1),
            subscriptionBackoff: Backoff(base: .zero, limit: limit)
        )
    }

    @Test func resultResetsTheFailureCount() async {
        let client = client(retry(), runs)
        client.watch(.of(.subscription), received.receive)
        for number in 1...5 {
            let run = await runs.next()
            #expect(run.operation.attempt == number)
            run.emit(.init("\(number)", hasNext: true))
            run.finish(.failure(.lost))
        }
        await runs.next().finish(.failure(.lost))
        await received.waitForEvents(12)
        withExtendedLifetime(client) {}
        let expected = (1...5).flatMap { ["\($0) more", "lost: network, 0"] }
        #expect(received.all == expected + ["failure: network", "end"])
    }

    @Test func connectionWithoutAResultCountsAsAFailure() async {
        let client = client(retry(limit: 3), runs)
        client.watch(.of(.subscription), received.receive)
        for _ in 1...3 {
            let run = await runs.next()
            run.emit(NetworkOperation.Result(.connection(.open), hasNext: true))
            run.finish(.failure(.lost))
        }
        await received.waitForEvents(7)
        withExtendedLifetime(client) {}
        #expect(
            received.all == ["open", "lost: network, 0", "open", "lost: network, 0", "open", "failure: network", "end"]
        )
        #expect(runs.count == 3)
    }

    @Test func longQuietConnectionDoesNotCountAsAFailure() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let client = client(retry(), runs)
        client.watch(.of(.subscription), received.receive)
        for _ in 1...4 {
            let run = await runs.next()
            run.emit(NetworkOperation.Result(.connection(.open), hasNext: true))
            clock.advance(by: .seconds(30))
            run.finish(.failure(.lost))
        }
        await runs.next().finish(.failure(.lost))
        await received.waitForEvents(10)
        withExtendedLifetime(client) {}
        #expect(runs.count == 5)
        #expect(received.all.suffix(2) == ["failure: network", "end"])
    }

    @Test func lateSubscriberReceivesTheConnectionState() async {
        let client = client(retry(), runs)
        client.watch(.of(.subscription), received.receive)
        let run = await runs.next()
        run.emit(NetworkOperation.Result(.connection(.open), hasNext: true))
        await received.waitForEvents(1)
        let late = EventRecorder()
        client.watch(.of(.subscription), late.receive)
        run.emit(.init("1", hasNext: true))
        await late.waitForEvents(2)
        #expect(late.all == ["open", "1 more"])
        #expect(received.all == ["open", "1 more"])
        run.finish(.failure(.lost))
        await runs.next().finish(.failure(.lost))
        withExtendedLifetime(client) {}
    }

    @Test func lostSubscriptionDoesNotOpenTheCircuit() async throws {
        let breaker = CircuitBreakerInterceptor(after: 1, for: .seconds(30))
        let client = TestClients.client(retry(limit: 3), breaker, runs)
        client.watch(.of(.subscription), received.receive)
        for _ in 1...3 {
            let run = await runs.next()
            run.emit(.init("1", hasNext: true))
            run.finish(.failure(.lost))
        }
        await received.waitForEvents(6)
        #expect(received.all.allSatisfy { $0.hasPrefix("1 more") || $0.hasPrefix("lost: network") })
        await runs.next().finish(.success(.init("over")))
        withExtendedLifetime(client) {}
    }

    @Test func reportedWaitIsTheActualWait() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let retry = RetryInterceptor(subscriptionBackoff: Backoff(base: .seconds(1), cap: .seconds(4), limit: 6))
        let client = client(retry, runs)
        let waits = Lock<[Duration]>([])
        client.watch(.of(.subscription)) { event in
            if case .result(let result) = event, case .interrupted(_, let wait) = result.connection {
                waits.withLock { $0.append(wait) }
            }
        }
        for window in [1, 2, 4, 4, 4] {
            await runs.next().finish(.failure(.lost))
            await clock.waitForSleepers(1)
            let wait = try #require(waits.withLock { $0.last })
            #expect(wait <= .seconds(window))
            #expect(clock.nextWait == wait)
            clock.advance(by: wait)
        }
        // A run that emitted a result begins with the smallest window.
        let run = await runs.next()
        run.emit(.init("1", hasNext: true))
        run.finish(.failure(.lost))
        await clock.waitForSleepers(1)
        #expect(clock.nextWait.map { $0 <= .seconds(1) } == true)
        withExtendedLifetime(client) {}
    }

    @Test func eventEndsBackoffsButNotWaitsThatTheServerRequested() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let retry = RetryInterceptor(subscriptionBackoff: Backoff(base: .seconds(20), cap: .seconds(20)))
        let client = client(retry, runs)
        let events = AsyncStream.makeStream(of: Void.self)
        let listening = retry.retry(on: events.stream)
        var dropped = NetworkError.lost
        dropped.reconnectionTime = .seconds(30)
        for (name, failure) in [("asked", .status(503, [.retryAfter: "7"])), ("wished", dropped), ("lost", .lost)] {
            client.watch(.of(.subscription, headers: ["X-Name": name]), received.receive)
            await runs.next().finish(.failure(failure))
        }
        await clock.waitForSleepers(3)
        events.continuation.yield()
        let again = await runs.next()
        #expect(again.operation.transfer.head.headerFields[HTTPField.Name("X-Name")!] == "lost")
        #expect(runs.count == 4)
        await clock.waitForSleepers(2)
        #expect(clock.nextWait.map { $0 >= .seconds(7) } == true)
        listening.cancel()
        withExtendedLifetime(client) {}
    }

    @Test(arguments: [(4, 4), (900, 60)])
    func reconnectionTimeIsHonoredUpToTheMaximum(wish: Int, wait: Int) async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let backoff = Backoff(base: .zero, maxServerDelay: .seconds(60), limit: 2)
        let client = client(RetryInterceptor(subscriptionBackoff: backoff), runs)
        client.watch(.of(.subscription), received.receive)
        var lost = NetworkError.lost
        lost.reconnectionTime = .seconds(wish)
        await runs.next().finish(.failure(lost))
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(wait))
        withExtendedLifetime(client) {}
    }

    @Test func tooLongRetryAfterEndsTheSubscription() async {
        let client = client(retry(limit: nil), runs)
        client.watch(.of(.subscription), received.receive)
        await runs.next().finish(.failure(.status(503, [.retryAfter: "301"])))
        await received.waitForEvents(2)
        withExtendedLifetime(client) {}
        #expect(received.all == ["failure: status", "end"])
    }

    @Test func subscriptionIgnoresBudgetAndMaxTime() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let retry = RetryInterceptor(
            subscriptionBackoff: Backoff(base: .zero, limit: 50),
            maxTime: .seconds(1),
            budget: RetryInterceptor.Budget(tokens: 1)
        )
        let client = client(retry, runs)
        client.watch(.of(.subscription), received.receive)
        for _ in 1...50 {
            await runs.next().finish(.failure(.lost))
            clock.advance(by: .seconds(10))
        }
        await received.waitForEvents(51)
        withExtendedLifetime(client) {}
        #expect(received.all.suffix(2) == ["failure: network", "end"])
        #expect(runs.count == 50)
    }

    @Test func cancellingEndsTheWait() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let client = client(RetryInterceptor(), runs)
        let task = Task { await Result { try await client.run(.of(.subscription)) } }
        await runs.next().finish(.failure(.lost))
        await clock.waitForSleepers(1)
        task.cancel()
        #expect(await task.value.failure?.isCancelled == true)
        #expect(runs.count == 1)
        while clock.nextWait != nil { await Task.yield() }
    }

    @Test func subscriptionFailsAfterTenAttemptsByDefault() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let client = client(RetryInterceptor(), runs)
        client.watch(.of(.subscription), received.receive)
        for attempt in 1...10 {
            await runs.next().finish(.failure(.lost))
            if attempt == 10 { break }
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(30))
        }
        await received.waitForEvents(11)
        withExtendedLifetime(client) {}
        #expect(received.all.suffix(2) == ["failure: network", "end"])
    }

    @Test func permanentFailureEndsTheSubscription() async {
        let client = client(retry(limit: nil), runs)
        client.watch(.of(.subscription), received.receive)
        await runs.next().finish(.failure(NetworkError(.unsupported, during: .response, "no such way")))
        await received.waitForEvents(2)
        withExtendedLifetime(client) {}
        #expect(received.all == ["failure: unsupported", "end"])
    }
}
