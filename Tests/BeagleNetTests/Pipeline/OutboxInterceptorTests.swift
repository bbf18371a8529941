import BeagleNet
import BeagleNetTesting
import Foundation
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct OutboxInterceptorTests {
    private let folder = OutboxFolder()
    private let keyName = HTTPField.Name("Idempotency-Key")!

    private func raw(_ body: Request.Body? = nil, method: String = "POST") -> NetworkOperation {
        let url = URL(string: "http://host/raw")!
        let data = body.map { Request.RequestData(method: method, body: $0) } ?? Request.RequestData(method: method)
        return NetworkOperation(Request(url: url, type: .rawRequest(data)))
    }

    // MARK: - Choosing what to keep

    @Test(arguments: NetworkOperation.Kind.known)
    func formsAndMutationsAreKept(kind: NetworkOperation.Kind) async throws {
        defer { folder.remove() }
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), ScriptedResponses(.failure(.refused)))
        let error = await Result { try await client.run(.of(kind)) }.failure
        #expect((error?.kind == .kept) == [.form, .mutation].contains(kind))
    }

    @Test func operationChoosesItsOutbox() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        var form = NetworkOperation.form(1)
        form.outbox = .never
        #expect(await Result { try await client.run(form) }.failure?.kind == .connect)
        var other = raw(method: "DELETE")
        other.outbox = .queue("mine")
        #expect(await Result { try await client.run(other) }.failure?.kind == .kept)
        #expect(try outbox.entries().map(\.queue) == ["mine"])
        // A form sent by GET changes nothing on the server.
        let query = Request.RequestType.submitForm(.init(method: .get, values: ["a": "1"]))
        let get = NetworkOperation(Request(url: URL(string: "http://host/")!, type: query))
        #expect(await Result { try await client.run(get) }.failure?.kind == .connect)
        let named = self.client(
            OutboxInterceptor(outbox, kinds: [.raw]) { "\($0.transfer.head.method)" },
            ScriptedResponses(.failure(.refused))
        )
        #expect(await Result { try await named.run(raw()) }.failure?.kind == .kept)
        #expect(await Result { try await named.run(.form(1)) }.failure?.kind == .connect)
        #expect(try outbox.entries().map(\.queue) == ["mine", "POST"])
    }

    @Test(arguments: [(true, "retry it"), (false, nil)] as [(Bool, String?)])
    func errorAndLogSayThatASecretFormIsNotKept(isRefused: Bool, advice: String?) async throws {
        defer { folder.remove() }
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let outbox = Outbox(directory: folder.path)
        var failure = isRefused ? NetworkError.refused : .status(503)
        failure.advice = advice
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(failure)))
        let form = Form([Form.Input("name", .text("Ana")), Form.Input("pin", .text("1234"))])
        let error = try #require(await Result { try await client.submit(form, to: "http://host/a") }.failure)
        #expect(error.kind == failure.kind && !error.isStoredInOutbox)
        let reason = #"its input "pin" is secret; set Form.outbox to store it"#
        #expect(error.advice == (advice.map { "\($0); " } ?? "") + "the outbox did not keep the request: \(reason)")
        let lines = logger.messages.filter { $0.contains(reason) }
        #expect(
            lines == [
                "POST http://host/a is sent without being kept in the outbox: \(reason)",
                "POST http://host/a was not delivered and is not kept in the outbox: \(reason)",
            ]
        )
        #expect(try outbox.entries().isEmpty)
        #expect(!logger.messages.joined().contains("1234"))
    }

    @Test func rejectedFormHasNoOutboxAdvice() async throws {
        defer { folder.remove() }
        let client = client(
            OutboxInterceptor(Outbox(directory: folder.path)),
            ScriptedResponses(.failure(.status(403)))
        )
        let form = Form([Form.Input("pin", .text("1234"))])
        let error = try #require(await Result { try await client.submit(form, to: "http://host/a") }.failure)
        #expect(error.advice?.contains("outbox") != true)
    }

    private func client(_ interceptors: any Interceptor...) -> NetworkClientDefault {
        Beagle.dependencies.interceptors = interceptors
        return NetworkClientDefault(dependencies: Beagle.dependencies, transport: ScriptedTransport())
    }

    @Test func retriesBelowTheOutboxSendTheSameKey() async throws {
        defer { folder.remove() }
        let answers = ScriptedResponses(.failure(.lost), .failure(.status(503)), .success(.init("ok")))
        let retry = RetryInterceptor(backoff: Backoff(base: .zero, limit: 3))
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), retry, answers)
        #expect(try await client.run(.form(1)).shown == "ok")
        let keys = answers.operations.withLock { $0.map(\.sentKey) }
        #expect(keys.count == 3 && Set(keys).count == 1 && keys[0]?.hasPrefix("\"") == true)
    }

    @Test func customKeyIsPreserved() async throws {
        defer { folder.remove() }
        let answers = ScriptedResponses(.failure(.refused), .success(.init("ok")))
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), answers)
        _ = await Result { try await client.run(.form(1, headers: ["Idempotency-Key": "own"])) }
        _ = try await outbox.flush(with: client)
        #expect(answers.operations.withLock { $0.map(\.sentKey) } == ["own", "own"])
    }

    // MARK: - Bodies

    @Test func filesAndFormsWithFilesAreCopied() async throws {
        defer { folder.remove() }
        let file = folder.path + ".txt"
        try Data("photo".utf8).write(to: URL(filePath: file))
        let outbox = Outbox(directory: folder.path)
        let first = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        var upload = raw(.file(path: file))
        upload.outbox = .queue("a")
        _ = await Result { try await first.run(upload) }
        let data = Request.FormData(
            method: .post,
            fields: [FormField("f", FormFile(path: file, contentType: "text/plain"))],
            encoding: .multipart
        )
        _ = await Result {
            try await first.run(NetworkOperation(Request(url: URL(string: "http://host/f")!, type: .submitForm(data))))
        }
        try FileManager.default.removeItem(atPath: file)
        let answers = ScriptedResponses(.success(.init("ok")))
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), answers))
        #expect(report.delivered.count == 2)
        let operations = answers.operations.withLock { $0 }
        let plain = try #require(operations.first { $0.path == "/raw" })
        #expect(plain.transfer.body?.data == Data("photo".utf8))
        let form = try #require(operations.first { $0.path == "/f" })
        let boundary = try #require(form.transfer.head.headerFields[.contentType]?.split(separator: "=").last)
        let text = String(decoding: form.transfer.body?.data ?? Data(), as: UTF8.self)
        #expect(text.contains("photo") && text.contains(boundary))
    }

    @Test func unstorableBodyIsRejectedAndNotSent() async throws {
        defer { folder.remove() }
        let answers = ScriptedResponses(.success(.init("ok")))
        let client = client(
            OutboxInterceptor(Outbox(directory: folder.path, limits: .init(maxEntryBytes: 900))),
            answers
        )
        let stream = HTTPBody.stream { AsyncStream<Data> { $0.finish() } }
        for (body, kind) in [
            (Request.Body.stream(stream), NetworkError.Kind.badRequest), (.file(path: "/nonexistent"), .file),
            (.data(Data(count: 901)), .tooLarge), (.data(Data(count: 700)), .tooLarge),
        ] {
            var operation = raw(body)
            operation.outbox = .queue("a")
            let error = await Result { try await client.run(operation) }.failure
            #expect(error?.kind == kind && error?.isStoredInOutbox == false && error?.mayHaveReachedServer == false)
        }
        #expect(answers.count == 0)
        #expect(folder.files == [])
    }

    @Test func streamedRequestBypassesTheOutbox() async throws {
        defer { folder.remove() }
        let client = client(
            OutboxInterceptor(Outbox(directory: folder.path), kinds: [.raw]),
            ScriptedResponses(.failure(.refused))
        )
        let request = raw().request
        let error = await Result { try await client.stream(request) }.failure
        #expect(error?.kind == .connect)
    }

    // MARK: - Duplicates

    @Test func sameMessageWithTheSameKeyIsOneEntry() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(outbox), runs)
        let key = ["Idempotency-Key": "k"]
        async let first = client.run(.form(1, headers: key))
        let run = await runs.next()
        async let second = client.run(.form(1, headers: key))
        let other = await Result {
            let url = URL(string: "http://host/1?token=s3cret")!
            let form = Request.RequestType.submitForm(.init(method: .post, values: ["number": "2"]))
            let data = HttpAdditionalData(headers: key)
            return try await client.run(NetworkOperation(Request(url: url, type: form, additionalData: data)))
        }
        #expect(other.failure?.kind == .badRequest)
        #expect(try outbox.entries().count == 1)
        run.finish("ok")
        #expect(try await first.shown == "ok")
        // The second has joined, or it came after the first had ended and is sent again.
        while runs.count == 1, folder.files.count > 0 { await Task.yield() }
        if runs.count == 2 { await runs.next().finish("ok") }
        #expect(try await second.shown == "ok")
        #expect(folder.files == [])
    }

    @Test func keptFormCannotBeRetriedButCanBeSubmittedAgain() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let answers = ScriptedResponses(.failure(.refused), .failure(.lost), .success(.init("ok")))
        let client = client(OutboxInterceptor(outbox), answers)
        let form = Form([Form.Input("a", "1")], sendsIdempotencyKey: true)
        let submission = client.submission(of: form, to: "http://host/form")
        for await state in submission.states {
            guard case .error(.network(let error)) = state else { continue }
            #expect(error.isStoredInOutbox)
            break
        }
        #expect(!submission.canRetry && !submission.retry())
        let error = await Result { try await client.submit(form, to: "http://host/form") }.failure
        #expect(error?.isStoredInOutbox == true)
        #expect(try outbox.entries().count == 2)
        #expect(try await outbox.flush(with: client).remaining.count == 2)
        #expect(try await outbox.flush(with: client).delivered.count == 2)
        #expect(Set(answers.operations.withLock { $0.map(\.sentKey) }).count == 2)
    }

    // MARK: - Two outboxes on one directory

    @Test func oneOutboxSendsTheEntriesOfBoth() async throws {
        defer { folder.remove() }
        let (one, two) = (Outbox(directory: folder.path), Outbox(directory: folder.path))
        let runs = ScriptedRuns()
        let first = client(OutboxInterceptor(one), runs)
        let sender = one.sendAutomatically(with: first)
        async let answer = first.run(.form(1))
        let run = await runs.next()
        let other = Beagle.Scope(Beagle.dependencies.scoped(.test) { _ in })
        let error = await other.run {
            let second = client(OutboxInterceptor(two), ScriptedRuns())
            let error = await Result { try await second.run(.form(2)) }.failure
            let flushed = await Result { try await two.flush(with: second) }.failure
            #expect(flushed?.message.contains("another process") == true)
            return error
        }
        #expect(error?.kind == .kept)
        #expect(error?.message.contains("another process") == true)
        #expect(try two.entries().count == 2)
        run.finish("1")
        #expect(try await answer.shown == "1")
        let theirs = await runs.next()
        #expect(theirs.operation.path == "/2")
        theirs.finish("2")
        for await entries in one.changes where entries.isEmpty { break }
        #expect(folder.files == [])
        sender.cancel()
    }

    @Test func waitEndsIfAnotherProcessRemovedTheEntry() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(outbox), runs)
        async let first = client.run(.form(1))
        let run = await runs.next()
        async let second = Result { try await client.run(.form(2)) }
        while folder.files.count < 2 { await Task.yield() }
        let newer = try #require(try outbox.entries().last)
        #expect(try outbox.remove(newer.id))
        run.finish("1")
        #expect(try await first.shown == "1")
        #expect(await second.failure?.message.contains("no longer in the outbox") == true)
    }

    // MARK: - Progress and watching

    @Test func progressReachesTheCallerUntilItIsCancelled() async throws {
        defer { folder.remove() }
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), runs)
        let received = Lock(0)
        let task = Task { await Result { try await client.run(.form(1)) { _ in received.withLock { $0 += 1 } } } }
        let run = await runs.next()
        run.emit(.init("early", isStale: true))
        #expect(received.withLock { $0 } == 1)
        task.cancel()
        _ = await task.value
        run.emit(.init("late", isStale: true))
        #expect(received.withLock { $0 } == 1)
        run.finish("ok")
    }

    @Test func changesListTheEntriesWithoutSecrets() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(outbox), runs)
        async let answer = client.run(.form(1))
        let run = await runs.next()
        var last: [Outbox.Entry] = []
        for await entries in outbox.changes {
            last = entries
            if entries.first?.state == .sending { break }
        }
        #expect(last.map(\.description) == ["POST http://host/1?… (sending)"])
        #expect(!"\(last)".contains("s3cret"))
        run.finish("ok")
        _ = try await answer
        for await entries in outbox.changes where entries.isEmpty { break }
    }
}
