import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct RetryInterceptorTests {
    /// Three attempts without waits.
    private let retry = RetryInterceptor(backoff: Backoff(base: .zero, limit: 3))

    @Test(arguments: NetworkOperation.Kind.known)
    func failureBeforeReachingTheServerIsRetried(kind: NetworkOperation.Kind) async throws {
        let answers = ScriptedResponses(.failure(.refused), .failure(.refused), .success(.init("1")))
        #expect(try await client(retry, answers).run(.of(kind)).shown == "1")
        #expect(answers.operations.withLock { $0.map(\.attempt) } == [1, 2, 3])
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func possiblyExecutedRequestIsRetriedOnlyIfSafe(kind: NetworkOperation.Kind) async {
        let answers = ScriptedResponses(.failure(.lost), .success(.init("1")))
        let result = await Result { try await client(retry, answers).run(.of(kind)) }
        let mayHarm = [.form, .mutation, .raw].contains(kind)
        #expect(answers.count == (mayHarm ? 1 : 2))
        #expect((result.failure == nil) == !mayHarm)
    }

    @Test(arguments: [NetworkOperation.Kind.form, .mutation, .raw])
    func idempotencyKeyMakesARetrySafe(kind: NetworkOperation.Kind) async throws {
        for failure in [NetworkError.lost, .status(503)] {
            let answers = ScriptedResponses(.failure(failure), .success(.init("1")))
            let operation = NetworkOperation.of(kind, headers: ["Idempotency-Key": "k1"])
            #expect(try await client(retry, answers).run(operation).shown == "1")
            #expect(answers.count == 2)
        }
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH"])
    func idempotentMethodsAreRetried(method: String) async {
        let answers = ScriptedResponses(.failure(.status(503)), .success(.init("1")))
        let data = Request.RequestData(method: method)
        let operation = NetworkOperation(Request(url: URL(string: "http://host/")!, type: .rawRequest(data)))
        _ = await Result { try await client(retry, answers).run(operation) }
        #expect(answers.count == (["POST", "PATCH"].contains(method) ? 1 : 2))
    }

    @Test(arguments: [400, 401, 403, 404, 408, 409, 422, 429, 500, 501, 502, 503, 504, 505])
    func transientStatusesAreRetried(code: Int) async {
        let answers = ScriptedResponses(.failure(.status(code)), .success(.init("1")))
        _ = await Result { try await client(retry, answers).run(.of(.component)) }
        #expect(answers.count == ([408, 429, 500, 502, 503, 504].contains(code) ? 2 : 1))
    }

    @Test func lastFailureIsThrown() async {
        let answers = ScriptedResponses(.failure(.refused), .failure(.lost), .failure(.status(503)))
        let result = await Result { try await client(retry, answers).run(.of(.component)) }
        #expect(answers.count == 3)
        #expect(result.failure?.response?.status.code == 503)
    }

    @Test func retryWaitsForRetryAfter() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let answers = ScriptedResponses(.failure(.status(429, [.retryAfter: "7"])), .success(.init("1")))
        async let result = client(retry, answers).run(.of(.component))
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(7))
        clock.advance(by: .seconds(7))
        #expect(try await result.shown == "1")
    }

    @Test func retryAfterDateIsRelativeToTheServersDate() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let fields: HTTPFields = [
            .date: "Sun, 06 Nov 1994 08:49:37 GMT", .retryAfter: "Sun, 06 Nov 1994 08:49:50 GMT",
        ]
        let answers = ScriptedResponses(.failure(.status(503, fields)), .success(.init("1")))
        async let result = client(retry, answers).run(.of(.component))
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(13))
        clock.advance(by: .seconds(13))
        _ = try await result
    }

    @Test(arguments: ["301", "99999999999999999999", "Sunday, 06-Nov-94 09:49:37 GMT", "Sun Nov  6 09:49:37 1994"])
    func tooLongRetryAfterPreventsTheRetry(_ wait: String) async {
        let fields: HTTPFields = [.date: "Sun, 06 Nov 1994 08:49:37 GMT", .retryAfter: wait]
        let answers = ScriptedResponses(.failure(.status(503, fields)), .success(.init("1")))
        let result = await Result { try await client(retry, answers).run(.of(.component)) }
        #expect(answers.count == 1)
        #expect(result.failure?.kind == .status)
    }

    @Test func backoffGrowsWithinItsCap() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let retry = RetryInterceptor(backoff: Backoff(base: .seconds(1), cap: .seconds(3), limit: 5))
        let client = client(retry, ScriptedResponses(.failure(.refused)))
        async let result = Result { try await client.run(.of(.component)) }
        for window in [1, 2, 3, 3] {
            await clock.waitForSleepers(1)
            #expect(clock.nextWait.map { $0 <= .seconds(window) } == true)
            clock.advance(by: .seconds(window))
        }
        #expect(await result.failure?.kind == .connect)
    }

    @Test func noAttemptStartsAfterTheMaxTime() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let retry = RetryInterceptor(backoff: Backoff(base: .zero), maxTime: .seconds(10))
        let answers = ScriptedResponses(.failure(.status(503, [.retryAfter: "4"])))
        let client = client(retry, answers)
        async let result = Result { try await client.run(.of(.component)) }
        for _ in 1...2 {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(4))
        }
        #expect(await result.failure?.kind == .status)
        #expect(answers.count == 3)
    }

    @Test func maxTimeBeginsWithTheFirstAttempt() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let runs = ScriptedRuns()
        let retry = RetryInterceptor(backoff: Backoff(base: .zero, limit: 5), maxTime: .seconds(10))
        let client = client(retry, runs)
        async let result = Result { try await client.run(.of(.component)) }
        for seconds in [6, 6] {
            let run = await runs.next()
            clock.advance(by: .seconds(seconds))
            run.finish(.failure(.lost))
        }
        #expect(await result.failure?.kind == .network)
        #expect(runs.count == 2)
    }

    @Test(
        "an idempotent method alone doesn't make it safe to retry a form",
        arguments: ["GET", "PUT", "DELETE"]
    )
    func possiblyExecutedFormIsNotRetried(method: String) async {
        let answers = ScriptedResponses(.failure(.lost), .success(.init("1")))
        let data = FormRemoteAction.Method(rawValue: method)!
        let request = Request(
            url: URL(string: "http://host/")!,
            type: .submitForm(.init(method: data, values: ["a": "1"]))
        )
        _ = await Result { try await client(retry, answers).run(NetworkOperation(request)) }
        #expect(answers.count == (method == "GET" ? 2 : 1))
    }

    @Test func cancellationAndPermanentFailureDoNotRefundTheBudget() async {
        let budget = RetryInterceptor.Budget(tokens: 2, refund: 1)
        let retry = RetryInterceptor(backoff: Backoff(base: .zero, limit: 2), budget: budget)
        let failures: [NetworkError] = [.lost, .lost, .cancelled, NetworkError(.badURL, during: .build, ""), .lost]
        let answers = ScriptedResponses(failures.map { .failure($0) } + [.success(.init("1"))])
        let client = client(retry, answers)
        for attempts in [2, 3, 4, 5] {
            _ = await Result { try await client.run(.of(.component)) }
            #expect(answers.count == attempts)
        }
    }

    @Test func cancellingEndsTheBackoff() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let answers = ScriptedResponses(.failure(.status(503, [.retryAfter: "60"])))
        let client = client(retry, answers)
        let task = Task { await Result { try await client.run(.of(.raw, method: "PUT")) } }
        await clock.waitForSleepers(1)
        task.cancel()
        #expect(await task.value.failure?.isCancelled == true)
        #expect(answers.count == 1)
    }

    @Test func laterFailureKeepsMayHaveReachedServer() async {
        let answers = ScriptedResponses(.failure(.lost), .failure(.refused))
        let operation = NetworkOperation.of(.form, headers: ["Idempotency-Key": "k1"])
        let result = await Result { try await client(retry, answers).run(operation) }
        #expect(result.failure?.kind == .connect)
        #expect(result.failure?.mayHaveReachedServer == true)
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let waiting = client(RetryInterceptor(), ScriptedResponses(.failure(.lost)))
        let task = Task { await Result { try await waiting.run(operation) } }
        await clock.waitForSleepers(1)
        task.cancel()
        #expect(await task.value.failure?.mayHaveReachedServer == true)
    }

    @Test func budgetLimitsRetriesToADeadServer() async {
        let retry = RetryInterceptor(
            backoff: Backoff(base: .zero, limit: 3),
            budget: RetryInterceptor.Budget(tokens: 10)
        )
        let answers = ScriptedResponses(.failure(.status(503)))
        let client = client(retry, answers)
        for _ in 0..<100 { _ = await Result { try await client.run(.of(.component)) } }
        #expect(answers.count == 105)
    }

    @Test func successesRefundTheBudget() async {
        let budget = RetryInterceptor.Budget(tokens: 2, refund: 1)
        let retry = RetryInterceptor(backoff: Backoff(base: .zero, limit: 2), budget: budget)
        let answers = ScriptedResponses(
            .failure(.lost),
            .failure(.lost),
            .failure(.lost),
            .success(.init("1")),
            .failure(.lost),
            .success(.init("2"))
        )
        let client = client(retry, answers)
        for attempts in [2, 3, 4, 6] {
            _ = await Result { try await client.run(.of(.component)) }
            #expect(answers.count == attempts)
        }
    }

    @Test func bodyThatCannotBeReadTwiceIsNotSentAgain() async {
        let answers = ScriptedResponses(.failure(.refused), .success(.init("1")))
        let body = HTTPBody.stream { AsyncStream<Data> { $0.finish() } }
        let data = Request.RequestData(method: "PUT", body: .stream(body))
        let operation = NetworkOperation(Request(url: URL(string: "http://host/")!, type: .rawRequest(data)))
        let result = await Result { try await client(retry, answers).run(operation) }
        #expect(answers.count == 1)
        #expect(result.failure?.kind == .connect)
    }

    @Test func attemptsAndWaitsAreLogged() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let answers = ScriptedResponses(.failure(.status(503)), .success(.init("1")))
        _ = try await client(LogInterceptor(), retry, answers).run(.of(.component))
        #expect(
            logger.messages.contains { $0.contains(": retrying in 0 ms (attempt 2), because the server returned 503") }
        )
    }

    @Test func streamedRequestIsRetried() async throws {
        let statuses = Lock([503, 200])
        let transport = ScriptedTransport { _ in
            let status = statuses.withLock { $0.removeFirst() }
            return .success(TransferResponse(head: HTTPResponse(status: .init(code: status)), url: ""))
        }
        Beagle.dependencies.interceptors = [retry, StatusInterceptor()]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let request = Request(url: URL(string: "http://host/")!, type: .fetchComponent)
        #expect(try await client.stream(request).response.status == .ok)
    }
}
