import BeagleNet
import BeagleNetTesting
import Testing

@Suite(.beagle(), .timeLimit(.minutes(1))) struct OperationScopeTests {
    private typealias Asking = Task<Result<String, NetworkError>, Never>

    private func task(_ client: any NetworkClient, _ kind: NetworkOperation.Kind) -> Asking {
        Task { await Result { try await client.run(.of(kind)).shown } }
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func closingCancelsEverythingUnderIt(kind: NetworkOperation.Kind) async {
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

    @Test func theOthersGoOn() async throws {
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

    @Test func theCompletionOfWhatIsCancelledIsCalledOnce() async {
        let runs = ScriptedRuns()
        let screen = OperationScope()
        let results = AsyncStream.makeStream(of: NetworkClient.NetworkResult.self)
        let request = Request(url: URL(string: "http://host/")!, type: .fetchComponent)
        let token = client(runs).scoped(in: screen).executeRequest(request) { results.continuation.yield($0) }
        _ = await runs.next()
        screen.close()
        token?.cancel()
        var heard: [NetworkClient.NetworkResult] = []
        for await result in results.stream {
            heard.append(result)
            results.continuation.finish()
        }
        #expect(heard.count == 1)
        #expect(heard.first?.failure?.isCancelled == true)
    }

    // MARK: - Rules

    @Test func dropCancelsTheNewOne() async throws {
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

    @Test func replaceCancelsTheOldOneDownToTheTransport() async throws {
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

    @Test func queueRunsOneAfterAnother() async throws {
        let runs = ScriptedRuns()
        let scope = OperationScope(.queue)
        let client = client(runs).scoped(in: scope)
        var tasks: [Asking] = []
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
