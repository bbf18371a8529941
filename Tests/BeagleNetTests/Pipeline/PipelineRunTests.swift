import BeagleNetCurl
import BeagleNetTesting
import CurlPeers
import Foundation
import Synchronization
import Testing
import TestClients

@testable import BeagleNet

/// Operations of callers without a task, over a real socket: operations that share a run or have a completion.
@Suite(.leavesNothing, .beagle(.live) { $0.logger = .off }, .timeLimit(.minutes(5))) struct PipelineRunTests {
    private func client() -> NetworkClientDefault {
        NetworkClientDefault(dependencies: Beagle.dependencies)
    }

    private func operation(_ server: LoopbackServer) throws -> NetworkOperation {
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/screen"))
        return NetworkOperation(Request(url: url, type: .fetchComponent))
    }

    /// Records whether it runs in a task.
    private final class TaskObserver: RequestObserver, RequestObservation {
        let place: Pipeline.Place? = .recorder
        let tasks = Lock<[Bool]>([])

        func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
            note()
            return self
        }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) { note() }

        private func note() {
            tasks.withLock { $0.append(withUnsafeCurrentTask { $0 != nil }) }
        }
    }

    /// Adds a field, as an app's own observer does.
    private struct Header: RequestObserver {
        func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
            operation.transfer.head.headerFields[.userAgent] = "app"
            return nil
        }
    }

    private struct Waiting: Interceptor {
        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result { try await next(operation, emit) }
    }

    private static let auth = AuthInterceptor<String>.Rules(
        load: { "token" },
        attach: { token, head in head.headerFields[.authorization] = "Bearer \(token)" }
    )

    private static let configurations: [(String, hasTask: Bool, @Sendable () -> [any Interceptor])] = [
        ("no other", false, { [] }),
        ("header", false, { [Header(), HeadersInterceptor { _ in [.date: "now"] }] }),
        ("token", false, { [AuthInterceptor(auth)] }),
        ("limits", false, { [RateLimitInterceptor(100), CircuitBreakerInterceptor()] }),
        ("cache", false, { [CacheInterceptor(), RequestPolicyInterceptor()] }),
        (
            "asynchronous fields", true,
            {
                [
                    HeadersInterceptor { _ in
                        await Task.yield(); return [:]
                    }
                ]
            }
        ),
        ("interceptor", true, { [Waiting()] }),
    ]

    /// Checks the second request, because the first waits for the token.
    @Test(arguments: configurations.indices, [false, true])
    func aTaskIsMadeOnlyIfSomethingWaits(index: Int, isShared: Bool) async throws {
        let server = try LoopbackServer(.response(200))
        let (_, hasTask, interceptors) = Self.configurations[index]
        let observer = TaskObserver()
        let dependencies = Beagle.dependencies
        dependencies.environment = BeagleEnvironment(name: "test", baseURL: URL(string: server.url))
        for interceptor in interceptors() { dependencies.interceptors.add(interceptor) }
        dependencies.interceptors.add(observer)
        let client = NetworkClientDefault(dependencies: dependencies)
        for number in 1...2 {
            let url = try #require(URL(string: "\(server.url)/\(number)"))
            let request = Request(url: url, type: isShared ? .fetchComponent : .rawRequest(.init()))
            observer.tasks.withLock { $0 = [] }
            let result = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    client.executeRequest(request) { continuation.resume(returning: $0) }
                }
            }
            #expect(try result.get().status == 200)
        }
        #expect(observer.tasks.withLock { $0 } == [hasTask, hasTask], "\(Self.configurations[index].0)")
    }

    @Test(arguments: [false, true]) func aDeadlineNeedsNoTask(isShared: Bool) async throws {
        let server = try LoopbackServer(.response(200))
        let observer = TaskObserver()
        Beagle.dependencies.interceptors.add(observer)
        let client = client()
        var request = Request(
            url: try #require(URL(string: server.url)),
            type: isShared ? .fetchComponent : .rawRequest(.init())
        )
        request.timeout = .seconds(50)
        let result = await withCheckedContinuation { [request] continuation in
            DispatchQueue.global().async {
                client.executeRequest(request) { continuation.resume(returning: $0) }
            }
        }
        #expect(try result.get().status == 200)
        #expect(observer.tasks.withLock { $0 } == [false, false])
    }

    private enum Slow: CaseIterable {
        case server, wait, credential
    }

    /// A slow transfer, a wait before a retry, and a wait before the first attempt.
    @Test(arguments: Slow.allCases, [false, true])
    private func deadlineEndsAnyStageOfAnOperation(slow: Slow, hasTask: Bool) async throws {
        let server = try LoopbackServer(slow == .server ? .stall : .response(503, ["Retry-After": "50"]))
        let url = try #require(URL(string: server.url))
        Beagle.dependencies.environment = BeagleEnvironment(name: "test", baseURL: url)
        if slow == .credential {
            let rules = AuthInterceptor<String>.Rules(
                load: {
                    try await Task.sleep(for: .seconds(50))
                    return nil
                },
                attach: { _, _ in }
            )
            Beagle.dependencies.interceptors.add(AuthInterceptor(rules))
        }
        let client = client()
        var request = Request(url: url, type: .rawRequest(.init()))
        request.timeout = .milliseconds(100)
        let result: Result<NetworkResponse, NetworkError>
        if hasTask {
            result = await .catching { [request] () throws(NetworkError) in try await client.executeRequest(request) }
        } else {
            result = await withCheckedContinuation { [request] continuation in
                client.executeRequest(request) { continuation.resume(returning: $0) }
            }
        }
        guard case .failure(let error) = result else { return #expect(Bool(false), "no deadline") }
        #expect(error.kind == .timeout)
        #expect(error.message.contains("deadline of 0.1 seconds"), "\(error)")
        #expect(error.mayHaveReachedServer == (slow != .credential))
        #expect(server.requests.count == (slow == .credential ? 0 : 1))
    }

    /// Counts the ends of attempts.
    private final class EndCounter: RequestObserver, RequestObservation {
        let ends = Lock(0)

        func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? { self }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
            ends.withLock { $0 += 1 }
        }
    }

    /// Fails each attempt before it is sent.
    private struct Refusal: RequestObserver {
        let place: Pipeline.Place? = .recorder

        func willSend(_ operation: inout NetworkOperation) throws(NetworkError) -> (any RequestObservation)? {
            throw NetworkError(.connect, during: .connect, "not now")
        }
    }

    @Test func eachAttemptEndsOnce() async throws {
        let counter = EndCounter()
        let retry = RetryInterceptor(backoff: Backoff(base: .zero, limit: 2))
        Beagle.dependencies.interceptors.replace(with: retry)
        Beagle.dependencies.interceptors.add(counter)
        Beagle.dependencies.interceptors.add(Refusal())
        let client = client()
        let request = Request(url: try #require(URL(string: "http://host/")), type: .rawRequest(.init()))
        let result = await withCheckedContinuation { continuation in
            client.executeRequest(request) { continuation.resume(returning: $0) }
        }
        #expect(throws: NetworkError.self) { try result.get() }
        #expect(counter.ends.withLock { $0 } == 2)
    }

    /// Records each request and its outcome.
    private struct Spectator: RequestObserver {
        let place: Pipeline.Place? = .recorder
        let seen = Lock<[String]>([])

        final class CountedObservation: RequestObservation {
            let seen: @Sendable (String) -> Void

            init(_ seen: @escaping @Sendable (String) -> Void) {
                self.seen = seen
            }

            func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
                switch outcome {
                case .success(let result): seen("\(result.response?.response.status.code ?? 0)")
                case .failure(let error): seen(error.response.map { "\($0.status.code)" } ?? "\(error.kind)")
                }
            }
        }

        func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
            operation.transfer.head.headerFields[.userAgent] = "seen"
            let number = operation.run?.add() ?? -1
            seen.withLock { $0.append("sent \(number)") }
            return CountedObservation { [seen] what in seen.withLock { $0.append(what) } }
        }
    }

    private enum RequestForm: CaseIterable {
        case inATask, withOthers, withACompletion
    }

    /// The observer sees each request: the first one without a task, later ones in a task.
    @Test(arguments: RequestForm.allCases) private func observerReceivesEachOutcome(form: RequestForm) async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 1 ? .response(503) : .response(404, [:], "no")
        }
        let spectator = Spectator()
        Beagle.dependencies.interceptors.add(spectator)
        let url = try #require(URL(string: "\(server.url)/screen"))
        let type: Request.RequestType = form == .withOthers ? .fetchComponent : .rawRequest(.init())
        let request = Request(url: url, type: type)
        let failure: NetworkError?
        if form == .withACompletion {
            failure = try await Self.all(of: ask(server)).first.flatMap { outcome in
                if case .failure(let error) = outcome { error } else { nil }
            }
        } else {
            let client = client()
            failure = await Task { try await client.run(NetworkOperation(request)) }.result.failure
        }
        #expect(failure?.response?.status.code == 404)
        #expect(spectator.seen.withLock { $0 } == ["sent 0", "503", "sent 1", "404"])
        let agents = server.requests.map { $0.fields.first { $0.0.lowercased() == "user-agent" }?.1 }
        #expect(agents == ["seen", "seen"])
    }

    @Test func transientStatusIsRetried() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 1 ? .response(503) : .response(200, [:], "here")
        }
        let result = try await client().run(operation(server))
        #expect(result.response.map { String(decoding: $0.data, as: UTF8.self) } == "here")
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [404, 501]) func errorStatusFailsAllSubscribers(status: Int) async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer { _ in .sequence([.gate(gate), .response(status, [:], "no")]) }
        let (client, operation) = (client(), try operation(server))
        let tasks = (0..<2).map { _ in Task { try await client.run(operation) } }
        while client.activeSubscribers < 2 { await Task.yield() }
        gate.open()
        for task in tasks {
            let failure = await task.result.failure
            #expect(failure?.response?.status.code == status)
            #expect(failure?.data == Data("no".utf8))
        }
        #expect(server.requests.count == 1)
        #expect(client.activeOperations == 0)
    }

    @Test func lastCancelledSubscriberEndsTheOperation() async throws {
        let server = try LoopbackServer(.stall)
        let (client, operation) = (client(), try operation(server))
        let tasks = (0..<2).map { _ in Task { try await client.run(operation) } }
        while client.activeSubscribers < 2 || server.requests.isEmpty { await Task.yield() }
        tasks[0].cancel()
        #expect(await tasks[0].result.failure?.kind == .cancelled)
        #expect(client.activeOperations == 1)
        tasks[1].cancel()
        #expect(await tasks[1].result.failure?.kind == .cancelled)
        #expect(client.activeOperations == 0)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [false, true]) func cancellingEndsTheWaitForARetry(isForAll: Bool) async throws {
        let server = try LoopbackServer(.response(503, ["Retry-After": "50"]))
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let (client, operation) = (client(), try operation(server))
        let task = Task { try await client.run(operation) }
        await clock.waitForSleepers(1)
        if isForAll { client.endAll() } else { task.cancel() }
        #expect(await task.result.failure?.kind == .cancelled)
        #expect(client.activeOperations == 0)
        clock.advance(by: .seconds(60))
        #expect(server.requests.count == 1)
    }

    @Test func detachedOperationIsRetriedAfterItsCallerCancelled() async throws {
        let gate = try LoopbackServer.Gate()
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 1 ? .sequence([.gate(gate), .response(503)]) : .response(200)
        }
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let client = client()
        var operation = try operation(server)
        operation.isDetached = true
        let task = Task { [operation] in try await client.run(operation) }
        while server.requests.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.result.failure?.kind == .cancelled)
        gate.open()
        await clock.waitForSleepers(1)
        #expect(client.activeOperations == 1)
        clock.advance(by: .seconds(10))
        while client.activeOperations > 0 { await Task.yield() }
        #expect(server.requests.count == 2)
    }

    @Test func completionReceivesTheFinalOutcome() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 1 ? .response(503) : .response(200, [:], "here")
        }
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let outcomes = try await Self.all(
            of: ask(server) { _ in
                await clock.waitForSleepers(1)
                clock.advance(by: .seconds(10))
            }
        )
        #expect(try outcomes.map { String(decoding: try $0.get().data, as: UTF8.self) } == ["here"])
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [false, true]) func tokenCancelsATransferOrAWait(isAnswered: Bool) async throws {
        let server = try LoopbackServer { request in
            if request.target == "/after" { return .response(200) }
            return isAnswered ? .response(503, ["Retry-After": "50"]) : .stall
        }
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let outcomes = try await Self.all(
            of: ask(server) { token in
                if isAnswered { await clock.waitForSleepers(1) }
                while server.requests.isEmpty { await Task.yield() }
                token?.cancel()
            }
        )
        #expect(outcomes.count == 1)
        #expect { try outcomes.first?.get() } throws: { ($0 as? NetworkError)?.kind == .cancelled }
        clock.advance(by: .seconds(60))
        let after = try #require(URL(string: "http://127.0.0.1:\(server.port)/after"))
        _ = try await client().executeRequest(Request(url: after, type: .rawRequest(.init())))
        #expect(server.requests.count == 2)
    }

    @Test func endedOperationLeavesItsScope() async throws {
        let server = try LoopbackServer(.response(200))
        let scope = OperationScope()
        Beagle.dependencies.operationScope = scope
        let outcomes = try await Self.all(of: ask(server))
        #expect(try outcomes.map { try $0.get().response.status.code } == [200])
        #expect(!scope.ownsAny)
    }

    @Test("an app that keeps the token of an ended request doesn't keep its body")
    func keptTokenDoesNotKeepTheBody() async throws {
        let server = try LoopbackServer(.response(200))
        let url = try #require(URL(string: server.url))
        let (released, continuation) = AsyncStream.makeStream(of: Void.self)
        let client = client()
        func start() -> (any RequestToken)? {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1_000, alignment: 1)
            bytes.initializeMemory(as: UInt8.self, repeating: 0x20, count: 1_000)
            let body = Data(
                bytesNoCopy: bytes,
                count: 1_000,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    continuation.finish()
                }
            )
            let data = Request.RequestData(method: "POST", headers: [:], body: .data(body))
            return client.executeRequest(Request(url: url, type: .rawRequest(data))) { _ in }
        }
        let token = start()
        for await _ in released {}
        #expect(server.requests.map(\.body.count) == [1_000])
        token?.cancel()
    }

    private typealias Outcome = Result<NetworkResponse, NetworkError>

    /// Sends a request with a completion. The stream ends when the completion has been released.
    private func ask(
        _ server: LoopbackServer,
        _ act: ((any RequestToken)?) async -> Void = { _ in }
    ) async throws -> AsyncStream<Outcome> {
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/raw"))
        let (stream, continuation) = AsyncStream.makeStream(of: Outcome.self)
        let end = StreamEnd(continuation)
        await act(client().executeRequest(Request(url: url, type: .rawRequest(.init()))) { end.continuation.yield($0) })
        return stream
    }

    private static func all(of stream: AsyncStream<Outcome>) async -> [Outcome] {
        await stream.reduce(into: []) { $0.append($1) }
    }

    /// Ends a stream when it is released.
    private final class StreamEnd: Sendable {
        let continuation: AsyncStream<Outcome>.Continuation

        init(_ continuation: AsyncStream<Outcome>.Continuation) {
            self.continuation = continuation
        }

        deinit {
            continuation.finish()
        }
    }

    @Test func transportShutdownEndsTheOperation() async throws {
        let server = try LoopbackServer(.stall)
        let transport = CurlTransport()
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let operation = try operation(server)
        let task = Task { try await client.run(operation) }
        while server.requests.isEmpty { await Task.yield() }
        transport.shutDown()
        #expect(await task.result.failure?.kind == .shutdown)
        #expect(client.activeOperations == 0)
    }

    @Test func subscriberReceivesTheResultOfEachRun() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            .response(200, [:], "\(count.add(1, ordering: .relaxed).newValue)")
        }
        let client = client()
        let received = AsyncStream.makeStream(of: String.self)
        let token = client.watch(try operation(server)) { event in
            guard case .result(let result) = event, !result.isStale, let data = result.response?.data else { return }
            received.continuation.yield(String(decoding: data, as: UTF8.self))
        }
        var answers = received.stream.makeAsyncIterator()
        #expect(await answers.next() == "1")
        client.refetch()
        #expect(await answers.next() == "2")
        token?.cancel()
        #expect(client.activeOperations == 0)
    }

    @Test func transportProgressIsReported() async throws {
        let server = try LoopbackServer(.response(200, [:], String(repeating: "x", count: 1 << 20)))
        var operation = try operation(server)
        operation.reportsProgress = true
        let bytes = Lock(0)
        let result = try await client().run(operation) { result in
            if let progress = result.progress { bytes.withLock { $0 = max($0, Int(progress.bytesReceived)) } }
        }
        #expect(result.response?.data.count == 1 << 20)
        #expect(bytes.withLock { $0 } == 1 << 20)
    }

    @Test func progressOfALaterAttemptIsReported() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 1
                ? .response(503) : .response(200, [:], String(repeating: "x", count: 1 << 20))
        }
        var operation = try operation(server)
        operation.reportsProgress = true
        let bytes = Lock(0)
        _ = try await client().run(operation) { result in
            if let progress = result.progress { bytes.withLock { $0 = max($0, Int(progress.bytesReceived)) } }
        }
        #expect(server.requests.count == 2)
        #expect(bytes.withLock { $0 } == 1 << 20)
    }

    @Test func refetchAfterRunRunsOnceMore() async throws {
        let gate = try LoopbackServer.Gate()
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            let number = count.add(1, ordering: .relaxed).newValue
            return number == 1 ? .sequence([.gate(gate), .response(200, [:], "1")]) : .response(200, [:], "\(number)")
        }
        let client = client()
        let received = AsyncStream.makeStream(of: String.self)
        let token = client.watch(try operation(server)) { event in
            guard case .result(let result) = event, !result.isStale, let data = result.response?.data else { return }
            received.continuation.yield(String(decoding: data, as: UTF8.self))
        }
        while server.requests.isEmpty { await Task.yield() }
        client.refetch(afterRun: true)
        client.refetch(afterRun: true)
        gate.open()
        var answers = received.stream.makeAsyncIterator()
        #expect(await answers.next() == "1")
        #expect(await answers.next() == "2")
        token?.cancel()
        #expect(server.requests.count == 2)
        #expect(client.activeOperations == 0)
    }

    /// Many responses arrive at the same time: each caller receives its own, once.
    @Test func eachCallerReceivesItsOwnResponse() async throws {
        let server = try LoopbackServer { .response(200, [:], $0.target) }
        let client = client()
        let answers = try await withThrowingTaskGroup(of: (String, String).self) { group in
            for number in 0..<400 {
                let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/\(number)"))
                group.addTask {
                    let response = try await client.run(NetworkOperation(Request(url: url, type: .fetchImage))).response
                    return (url.path, String(decoding: response?.data ?? Data(), as: UTF8.self))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 400)
        #expect(answers.allSatisfy { $0 == $1 })
    }
}

extension Result where Failure == any Error {
    fileprivate var failure: NetworkError? {
        if case .failure(let error) = self { return error as? NetworkError }
        return nil
    }
}
