import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct PipelineTests {
    private let transport = ScriptedTransport("answer")

    // MARK: - Order

    @Test func twoRetryInterceptorsAreRejected() {
        let error = #expect(throws: NetworkError.self) {
            try Pipeline([RetryInterceptor(), RetryInterceptor()], transport: transport)
        }
        #expect(error?.kind == .badConfiguration)
        #expect(error?.message.contains("RetryInterceptor and RetryInterceptor") == true)
    }

    @Test func wrongOrderIsRejectedWithTheNames() {
        let error = #expect(throws: NetworkError.self) {
            try Pipeline(
                [StatusInterceptor(), ScriptedResponses(.failure(.lost)), RetryInterceptor()],
                transport: transport
            )
        }
        #expect(error?.message.contains("StatusInterceptor (status) before RetryInterceptor (retry)") == true)
    }

    @Test func wrongOrderFailsEachRequest() async {
        Beagle.dependencies.interceptors.append(RetryInterceptor())
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let result = await Result { try await client.run(.of(.component)) }
        #expect(result.failure?.kind == .badConfiguration)
        #expect(transport.requests.withLock(\.isEmpty))
    }

    @Test func addInsertsAnInterceptorAtItsPlace() throws {
        Beagle.dependencies.interceptors.add(RateLimitInterceptor(1))
        Beagle.dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(limit: 9)))
        let places = Beagle.dependencies.interceptors.compactMap(\.place)
        #expect(places == places.sorted())
        #expect(places.contains(.rateLimit))
        let retries = Beagle.dependencies.interceptors.compactMap { $0 as? RetryInterceptor }
        #expect(retries.map(\.backoff.limit) == [9])
        _ = try Pipeline(Beagle.dependencies.interceptors, transport: transport)
    }

    @Test func interceptorsOfAScopeReachItsClient() async throws {
        let dependencies = Beagle.dependencies.scoped {
            $0.interceptors = [ScriptedResponses(.success(.init("scoped")))]
        }
        let client = NetworkClientDefault(dependencies: dependencies, transport: transport)
        #expect(try await client.run(.of(.component)).shown == "scoped")
        dependencies.interceptors = [ScriptedResponses(.success(.init("changed")))]
        #expect(try await client.run(.of(.component)).shown == "changed")
    }

    // MARK: - Calling next

    @Test func interceptorThatDoesNotCallNextReplacesTheNetwork() async throws {
        #expect(try await client(ScriptedResponses(.success(.init("mine")))).run(.of(.form)).shown == "mine")
    }

    @Test func interceptorThatCallsNextTwiceSendsTwice() async throws {
        struct Twice: Interceptor {
            func intercept(
                _ operation: NetworkOperation,
                next: Next,
                emit: @escaping Emit
            ) async throws(NetworkError) -> NetworkOperation.Result {
                _ = try await next(operation, emit)
                return try await next(operation, emit)
            }
        }
        Beagle.dependencies.interceptors = [Twice(), StatusInterceptor()]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        #expect(try await client.run(.of(.component)).shown == "answer")
        #expect(transport.requests.withLock { $0.count } == 2)
    }

    /// At the end, `intercept` isn't called. Above another interceptor, it is.
    @Test(arguments: [true, false]) func statusIsCheckedAtTheInterceptorsPosition(isInnermost: Bool) async throws {
        struct SucceedingInterceptor: Interceptor {
            let seen: Lock<[String]>

            func intercept(
                _ operation: NetworkOperation,
                next: Next,
                emit: @escaping Emit
            ) async throws(NetworkError) -> NetworkOperation.Result {
                do throws(NetworkError) {
                    let result = try await next(operation, emit)
                    seen.withLock { $0.append("result \(result.status?.code ?? 0)") }
                } catch {
                    seen.withLock { $0.append("failure \(error.response?.status.code ?? 0)") }
                }
                return NetworkOperation.Result(NetworkResponse(text: "mended"))
            }
        }
        let seen = Lock<[String]>([])
        let two: [any Interceptor] = [SucceedingInterceptor(seen: seen), StatusInterceptor()]
        Beagle.dependencies.interceptors = isInnermost ? two : two.reversed()
        let refusing = ScriptedTransport(status: .forbidden)
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: refusing)
        #expect(try await client.run(.of(.raw)).response?.text() == "mended")
        #expect(seen.withLock { $0 } == [isInnermost ? "failure 403" : "result 403"])
    }

    @Test func interceptorThatDoesNotApplyIsSkipped() async throws {
        struct OnlyImages: Interceptor {
            func applies(to operation: NetworkOperation) -> Bool { operation.kind == .image }

            func intercept(
                _ operation: NetworkOperation,
                next: Next,
                emit: @escaping Emit
            ) async throws(NetworkError) -> NetworkOperation.Result { .init("image") }
        }
        let client = client(OnlyImages(), ScriptedResponses(.success(.init("other"))))
        #expect(try await client.run(.of(.image)).shown == "image")
        #expect(try await client.run(.of(.component)).shown == "other")
    }

    // MARK: - Progress

    @Test func progressIsReportedIfRequested() async throws {
        let transport = ScriptedTransport { request, completion in
            let progress = TransferRequest.Progress(bytesSent: 0, bytesToSend: 0, bytesReceived: 3, bytesToReceive: 9)
            request.onProgress?(progress)
            completion(.success(TransferResponse(head: HTTPResponse(status: .ok), url: "")))
        }
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        for kind in [NetworkOperation.Kind.component, .form] {
            var operation = NetworkOperation.of(kind)
            for isReported in [false, true] {
                operation.reportsProgress = isReported
                let received = Lock<[String]>([])
                _ = try await client.run(operation) { result in received.withLock { $0.append(result.shown) } }
                #expect(received.withLock { $0 } == (isReported ? ["3 bytes"] : []))
            }
        }
    }

    // MARK: - Deadline

    @Test(arguments: NetworkOperation.Kind.known) func deadlineEndsEverythingBelowIt(kind: NetworkOperation.Kind) async
    {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let runs = ScriptedRuns()
        let client = client(DeadlineInterceptor(limit: .seconds(5)), runs)
        async let result = Result { try await client.run(.of(kind)) }
        _ = await runs.next()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = await result.failure
        #expect(error?.isTimeout == true)
        #expect(error?.message.contains("deadline of 5.0 seconds") == true)
        #expect(runs.cancels == 1)
    }

    @Test func deadlineDoesNotWaitForUncancellableWork() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let gate = AsyncStream.makeStream(of: Void.self)
        let stuck = HeadersInterceptor { _ in
            await Task.detached { for await _ in gate.stream {} }.value
            return [:]
        }
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://host")
        let answers = ScriptedResponses(.success(.init("1")))
        let client = client(DeadlineInterceptor(limit: .seconds(5)), stuck, answers)
        async let result = Result { try await client.run(.of(.form)) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await result.failure?.isTimeout == true)
        #expect(answers.count == 0)
        gate.continuation.finish()
    }

    @Test func operationCancelledAboveADeadlineIsNotSent() async {
        let gate = AsyncStream.makeStream(of: Void.self)
        let heedless = TransformInterceptor { _ in await Task.detached { for await _ in gate.stream {} }.value }
        let answers = ScriptedResponses(.success(.init("1")))
        let client = client(heedless, DeadlineInterceptor(limit: .seconds(60)), answers)
        let submission = Task { await Result { try await client.run(.of(.form)) } }
        submission.cancel()
        gate.continuation.finish()
        #expect(await submission.value.failure?.isCancelled == true)
        #expect(answers.count == 0)
    }

    @Test(
        "timeout limits a call with all its attempts, also without a DeadlineInterceptor",
        arguments: [true, false]
    )
    func timeoutLimitsAllAttempts(hasInterceptor: Bool) async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        Beagle.dependencies.environment = .example
        if !hasInterceptor { Beagle.dependencies.interceptors.removeAll { $0 is DeadlineInterceptor } }
        let transport = ScriptedTransport { _ in .failure(.refused) }
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        async let result = Result { try await client.image("/logo.png", timeout: .milliseconds(300)) }
        // The limit, and the wait before the second attempt.
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(300))
        let error = await result.failure
        #expect(error?.kind == .timeout)
        #expect(error?.message.contains("deadline of 0.3 seconds") == true)
        #expect(transport.requests.withLock { $0.first?.options.timeouts.total } == TransferOptions().timeouts.total)
    }

    @Test("a timeout above the limit of one attempt raises that limit", arguments: [nil, 5, 600])
    func timeoutRaisesLimitOfAttempt(seconds: Int?) async throws {
        Beagle.dependencies.environment = .example
        let transport = ScriptedTransport("1")
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let timeout = seconds.map { Duration.seconds($0) }
        _ = try await client.submit(.init(method: .post, values: [:]), to: "/", timeout: timeout)
        let usual = try #require(TransferOptions().timeouts.total)
        let limits = transport.requests.withLock { $0.map(\.options.timeouts.total) }
        #expect(limits == [max(usual, timeout ?? usual)])
    }

    @Test func operationDeadlineTakesPrecedence() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let runs = ScriptedRuns()
        let client = client(DeadlineInterceptor(limit: .seconds(5)), runs)
        var operation = NetworkOperation.of(.form)
        operation.deadline = .seconds(9)
        async let result = client.run(operation)
        let run = await runs.next()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(8))
        run.finish("1")
        #expect(try await result.shown == "1")
        #expect(clock.nextWait == nil)
    }

    // MARK: - Origins, fields, rates

    @Test func interceptorFieldsAreSentToDeclaredOriginsOnly() async throws {
        let language = HTTPField.Name("X-Language")!
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://host")
        Beagle.dependencies.interceptors = [
            Changing.adding(.authorization, "hunter2"), HeadersInterceptor { _ in [language: "pt"] },
            OriginPolicyInterceptor(), StatusInterceptor(),
        ]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        for url in ["http://host/a", "http://elsewhere/a"] { _ = try await client.image(url) }
        let heads = transport.requests.withLock { $0.map(\.head.headerFields) }
        #expect(heads.map { $0[.authorization] } == ["hunter2", nil])
        #expect(heads.map { $0[language] } == ["pt", nil])
    }

    @Test("an interceptor's secret field is sent to declared origins only, unlike one that the request sets")
    func secretInterceptorFieldIsSentToDeclaredOriginsOnly() async throws {
        let name = HTTPField.Name("X-Mine")!
        Beagle.dependencies.redactor.secrets = ["X-Mine"]
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://host")
        Beagle.dependencies.interceptors = [
            Changing.adding(name, "hunter2"), OriginPolicyInterceptor(), StatusInterceptor(),
        ]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        for url in ["http://host/a", "http://elsewhere/a"] {
            _ = try await client.image(url)
            _ = try await client.image(url, headers: ["X-Mine": "own"])
        }
        let values = transport.requests.withLock { $0.map { $0.head.headerFields[values: name] } }
        #expect(values == [["hunter2"], ["own", "hunter2"], [], ["own"]])
    }

    @Test func allValuesOfAFieldAreAdded() async throws {
        let name = HTTPField.Name("X-A")!
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://host")
        let answers = ScriptedResponses(.success(.init("1")))
        let two: HTTPFields = [name: "1", name: "2"]
        _ = try await client(HeadersInterceptor { _ in two }, answers).run(.of(.raw))
        #expect(answers.operations.withLock { $0.first?.transfer.head.headerFields[values: name] } == ["1", "2"])
    }

    @Test func fieldSetByTheRequestIsSentToItsTarget() async throws {
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://own")
        Beagle.dependencies.redactor.secrets = ["X-Partner"]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        _ = try await client.image("http://partner/a", headers: ["X-Partner": "1"])
        #expect(transport.requests.withLock { $0.first?.head.headerFields[.init("X-Partner")!] } == "1")
    }

    @Test func originsOfTheClientsOwnBuilderAreUsed() async throws {
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://old")
        Beagle.dependencies.interceptors.add(HeadersInterceptor { _ in [.acceptLanguage: "pt"] })
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        client.httpRequestBuilder.baseURL = URL(string: "http://new")
        for url in ["http://new/a", "http://old/a"] { _ = try await client.image(url) }
        #expect(transport.requests.withLock { $0.map { $0.head.headerFields[.acceptLanguage] } } == ["pt", nil])
    }

    @Test func interceptorWithoutAPlaceIsAddedAboveTheOriginPolicy() throws {
        Beagle.dependencies.interceptors.add(ScriptedResponses(.failure(.lost)))
        let index = try #require(Beagle.dependencies.interceptors.firstIndex { $0 is ScriptedResponses })
        #expect(Beagle.dependencies.interceptors[index + 1] is OriginPolicyInterceptor)
    }

    @Test func eachOriginHasItsOwnRateLimit() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let answers = ScriptedResponses(.success(.init("1")))
        let client = client(RateLimitInterceptor(2, per: .seconds(1)), answers)
        for _ in 1...2 { _ = try await client.run(.of(.form)) }
        let elsewhere = Request(url: URL(string: "http://elsewhere/")!, type: .rawRequest(.init()))
        _ = try await client.run(NetworkOperation(elsewhere))
        let waiting = Task { try await client.run(.of(.form)) }
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .milliseconds(500))
        #expect(answers.count == 3)
        clock.advance(by: .milliseconds(500))
        _ = try await waiting.value
        #expect(answers.count == 4)
    }

    @Test("a cancelled operation doesn't consume a token, and the others keep their order")
    func cancelledOperationDoesNotConsumeAToken() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let answers = ScriptedResponses(.success(.init("1")))
        let client = client(RateLimitInterceptor(1, per: .seconds(1)), answers)
        _ = try await client.run(.of(.form))
        let ended = Lock<[Int]>([])
        var tasks: [Task<Void, Never>] = []
        for number in 1...4 {
            tasks.append(
                Task.immediate {
                    let result = await Result { try await client.run(.of(.form)) }
                    if case .success = result { ended.withLock { $0.append(number) } }
                }
            )
        }
        await clock.waitForSleepers(1)
        // The first, which waits for the clock, and one that waits for others.
        for index in [0, 2] {
            tasks[index].cancel()
            await tasks[index].value
        }
        for index in [1, 3] {
            await clock.waitForSleepers(1)
            #expect(clock.nextWait == .seconds(1))
            clock.advance(by: .seconds(1))
            await tasks[index].value
        }
        #expect(ended.withLock { $0 } == [2, 4])
        #expect(answers.count == 3)
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func repeatedFailuresOpenTheCircuit(kind: NetworkOperation.Kind) async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let failures: [NetworkError] = [.refused, .status(503), .lost, .status(500)]
        let answers = ScriptedResponses(failures.map { .failure($0) } + [.success(.init("1"))])
        let client = client(CircuitBreakerInterceptor(after: 3, for: .seconds(30)), answers)
        for _ in 1...3 { _ = await Result { try await client.run(.of(kind)) } }
        let error = await #expect(throws: NetworkError.self) { try await client.run(.of(kind)) }
        #expect(error?.kind == .circuitOpen)
        #expect(error?.mayHaveReachedServer == false)
        #expect(answers.count == 3)
        let elsewhere = Request(url: URL(string: "http://elsewhere/")!, type: .rawRequest(.init()))
        _ = await Result { try await client.run(NetworkOperation(elsewhere)) }
        #expect(answers.count == 4)
        clock.advance(by: .seconds(30))
        #expect(try await client.run(.of(kind)).shown == "1")
        #expect(try await client.run(.of(kind)).shown == "1")
    }

    private typealias ResultTask = Task<Result<NetworkOperation.Result, NetworkError>, Never>

    private func form(_ client: NetworkClientDefault) -> ResultTask {
        Task { await Result { try await client.run(.of(.form)) } }
    }

    @Test("one trial request is sent, and its failure opens the circuit again")
    func trialRequestTestsAnOpenCircuit() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let runs = ScriptedRuns()
        let client = client(CircuitBreakerInterceptor(after: 1, for: .seconds(30)), runs)
        func ask() -> ResultTask { form(client) }
        func fail() async {
            let task = ask()
            await runs.next().finish(.failure(.lost))
            #expect(await task.value.failure?.kind == .network)
        }
        await fail()
        clock.advance(by: .seconds(30))
        let trial = ask()
        let run = await runs.next()
        #expect(await ask().value.failure?.kind == .circuitOpen)
        trial.cancel()
        run.finish(.failure(.cancelled))
        #expect(await trial.value.failure?.isCancelled == true)
        await fail()
        #expect(await ask().value.failure?.kind == .circuitOpen)
        #expect(runs.count == 3)
    }

    /// Counts the calls to `next` that have ended.
    private struct NextCounter: Interceptor {
        let ends = Lock(0)

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            defer { ends.withLock { $0 += 1 } }
            return try await next(operation, emit)
        }
    }

    @Test(
        "a server that is silent until the deadline opens the circuit, unless the deadline is short",
        arguments: [(Duration.seconds(5), true), (.milliseconds(500), false)]
    ) func deadlineOpensTheCircuit(limit: Duration, opens: Bool) async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let attempts = Lock(0)
        let runs = ScriptedRuns { _, _ in
            attempts.withLock { attempts in
                attempts += 1
                return attempts > 1 ? .init("1") : nil
            }
        }
        let noting = NextCounter()
        let breaker = CircuitBreakerInterceptor(after: 1, for: .seconds(30))
        let client = client(DeadlineInterceptor(limit: limit), noting, breaker, runs)
        let silent = form(client)
        _ = await runs.next()
        await clock.waitForSleepers(1)
        clock.advance(by: limit)
        #expect(await silent.value.failure?.isTimeout == true)
        while noting.ends.withLock({ $0 }) == 0 { await Task.yield() }
        let isOpen = await form(client).value.failure?.kind == .circuitOpen
        #expect(isOpen == opens)
        #expect(runs.count == (opens ? 1 : 2))
    }

    @Test func olderRequestDoesNotEndATrial() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let runs = ScriptedRuns()
        let client = client(CircuitBreakerInterceptor(after: 1, for: .seconds(30)), runs)
        func ask() -> ResultTask { form(client) }
        let old = ask()
        let oldRun = await runs.next()
        let failing = ask()
        await runs.next().finish(.failure(.lost))
        _ = await failing.value
        clock.advance(by: .seconds(30))
        let trial = ask()
        let run = await runs.next()
        oldRun.finish(.failure(.cancelled))
        #expect(await old.value.failure?.isCancelled == true)
        #expect(await ask().value.failure?.kind == .circuitOpen)
        run.finish("1")
        #expect(await trial.value.failure == nil)
        #expect(runs.count == 3)
    }

    @Test func failureBeforeSendingDoesNotOpenTheCircuit() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://host")
        let failure = Lock<NetworkError?>(.lost)
        let stamp = HeadersInterceptor { _ in
            if let failure = failure.withLock({ $0 }) { throw failure }
            return [:]
        }
        let answers = ScriptedResponses(.failure(.lost))
        let client = client(CircuitBreakerInterceptor(after: 1, for: .seconds(30)), stamp, answers)
        for _ in 1...2 { #expect(await form(client).value.failure?.kind == .network) }
        failure.withLock { $0 = nil }
        #expect(await form(client).value.failure?.kind == .network)
        clock.advance(by: .seconds(30))
        failure.withLock { $0 = NetworkError(.other, during: .queue, "") }
        #expect(await form(client).value.failure?.kind == .other)
        failure.withLock { $0 = nil }
        #expect(await form(client).value.failure?.kind == .network)
        #expect(await form(client).value.failure?.kind == .circuitOpen)
        #expect(answers.count == 2)
    }

    @Test func openCircuitEndsRetries() async {
        let answers = ScriptedResponses(.failure(.status(503)))
        let retry = RetryInterceptor(backoff: Backoff(base: .zero, limit: 10))
        let client = client(retry, CircuitBreakerInterceptor(after: 2), answers)
        let result = await Result { try await client.run(.of(.component)) }
        #expect(result.failure?.kind == .circuitOpen)
        #expect(answers.count == 2)
    }

    // MARK: - ResponseInterceptor

    @Test(arguments: NetworkOperation.Kind.known)
    func responseInterceptorChangesRequestAndResponse(kind: NetworkOperation.Kind) async throws {
        let cipher = ResponseInterceptor { message, next in
            var message = message
            message.body = HTTPBody("sealed")
            var response = try await next(message)
            response.data = Data(response.data.reversed())
            return response
        }
        let answers = ScriptedResponses(.success(.init("abc", from: .cache)))
        let result = try await client(cipher, answers).run(.of(kind))
        #expect(result.shown == "cba")
        #expect(result.source == .cache)
        #expect(answers.operations.withLock { $0.first?.transfer.body?.data } == Data("sealed".utf8))
    }

    @Test func responseInterceptorSeesTheEndOfASubscription() async throws {
        let seen = Lock<[Int]>([])
        let function = ResponseInterceptor { message, next in
            let response = try await next(message)
            seen.withLock { $0.append(response.status.code) }
            return response
        }
        let answers = ScriptedResponses(.success(.init(.connection(.ended))))
        #expect(try await client(function, answers).run(.of(.subscription)).shown == "ended")
        #expect(seen.withLock { $0 } == [204])
    }

    @Test func errorOfAResponseInterceptorFailsTheOperation() async {
        struct Mine: Error {}
        let result = await Result {
            try await client(ResponseInterceptor { _, _ in throw Mine() }, ScriptedResponses(.success(.init("1")))).run(
                .of(.raw)
            )
        }
        #expect(result.failure?.underlying is Mine)
    }
}
