@testable import BeagleNet
import BeagleNetTesting
import Foundation
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct OutboxKeepingTests {
    private let folder = OutboxFolder()
    private let key = ["Idempotency-Key": "k"]

    /// Submits a form that gets no response.
    @discardableResult
    private func keep(
        _ number: Int,
        in outbox: Outbox,
        headers: [String: String] = [:],
        _ change: (inout NetworkOperation) -> Void = { _ in }
    ) async -> NetworkError? {
        var form = NetworkOperation.form(number, headers: headers)
        change(&form)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        return await Result { [form] in try await client.run(form) }.failure
    }

    private func flush(_ outbox: Outbox) async throws -> Outbox.Report {
        try await outbox.flush(with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok")))))
    }

    // MARK: - Files

    @Test func partiallyWrittenFileDoesNotBlockTheSameEntry() async throws {
        defer { folder.remove() }
        await keep(1, in: Outbox(directory: folder.path), headers: key)
        let path = "\(folder.path)/\(folder.files[0])"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".part")
        #expect(await keep(1, in: Outbox(directory: folder.path), headers: key)?.isStoredInOutbox == true)
        #expect(folder.files.count == 1)
    }

    @Test func firstEntryCreatesEverythingThatSendingNeeds() async throws {
        defer { folder.remove() }
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(Outbox(directory: "\(folder.path)/a/b/")), runs)
        async let answer = client.run(.form(1))
        let run = await runs.next()
        let names = folder.names("\(folder.path)/a/b").filter { !$0.hasSuffix(".entry") }
        #expect(names == ["damaged", "refused", "send.lock"])
        run.finish("ok")
        _ = try await answer
    }

    // MARK: - Invalid entries

    @Test func damageIsReportedByTheNextFlush() async throws {
        defer { folder.remove() }
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let first = Outbox(directory: folder.path)
        for number in 1...2 { await keep(number, in: first) }
        for name in folder.files { try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/\(name)")) }
        let outbox = Outbox(directory: folder.path)
        #expect(try outbox.look().damages.count == 2)
        #expect(folder.files.count == 2)
        let answering = client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        #expect(try await answering.run(.form(3)).shown == "ok")
        #expect(logger.messages.filter { $0.contains("is damaged") && $0.contains("/damaged/") }.count == 2)
        #expect(try outbox.entries() == [])
        #expect(try await flush(outbox).damages.map(\.kind) == [.decoding, .decoding])
        #expect(try await flush(outbox).damages.isEmpty)
        #expect(try outbox.look().damages.map(\.kind) == [.decoding, .decoding])
    }

    @Test func fileOfANewerFormatStaysInPlace() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1, in: outbox)
        let name = "00000000000000000000-ab.entry"
        try Data("beagle-outbox 2 abc\n{}\n".utf8).write(to: URL(filePath: "\(folder.path)/\(name)"))
        let report = try await flush(outbox)
        #expect(report.delivered.count == 1 && report.remaining == [])
        #expect(report.damages.map(\.kind) == [.unsupported])
        #expect(report.damages.first?.message.contains(name) == true)
        #expect(folder.files == [name])
        #expect(folder.names("\(folder.path)/damaged") == [])
        #expect(try await flush(outbox).damages.isEmpty)
    }

    @Test func unreadableFileBlocksNothing() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1, in: outbox)
        let files = FileManager.default
        try files.createDirectory(atPath: "\(folder.path)/x.entry", withIntermediateDirectories: false)
        try files.createSymbolicLink(atPath: "\(folder.path)/y.entry", withDestinationPath: "/nonexistent")
        let report = try await flush(outbox)
        #expect(report.delivered.count == 1)
        #expect(report.damages.map(\.kind) == [.file, .file])
        #expect(report.damages.allSatisfy { $0.advice?.contains("\(folder.path)/") == true })
        #expect(folder.files == ["x.entry", "y.entry"])
        #expect(await keep(2, in: outbox)?.isStoredInOutbox == true)
    }

    @Test func damagedEntryIsWrittenAgain() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1, in: outbox, headers: key)
        try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/\(folder.files[0])"))
        #expect(await keep(1, in: outbox, headers: key)?.isStoredInOutbox == true)
        #expect(folder.files.count == 1)
        #expect(folder.names("\(folder.path)/damaged").count == 1)
        let report = try await flush(outbox)
        #expect(report.delivered.count == 1 && report.damages.count == 1)
    }

    // MARK: - Duplicates

    @Test func sameKeyWithADifferentMessageIsRejected() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1, in: outbox, headers: key)
        #expect(await keep(1, in: outbox, headers: key)?.isStoredInOutbox == true)
        #expect(try outbox.entries().count == 1)
        #expect(await keep(1, in: outbox, headers: key) { $0.outbox = .queue("other") }?.kind == .badRequest)
        #expect(await keep(1, in: outbox, headers: ["Idempotency-Key": "k", "X-Trace": "7"])?.kind == .badRequest)
        #expect(await keep(1, in: outbox, headers: key) { $0.partition = "Eve" }?.isStoredInOutbox == true)
        #expect(try outbox.entries().count == 2)
    }

    // MARK: - Order

    /// A request whose body is complete when the test says so.
    private func slow(_ isRead: AsyncStream<Void>.Continuation, _ gate: AsyncStream<Void>) -> NetworkOperation {
        let body = HTTPBody.stream(isReplayable: true) {
            AsyncStream<Data> {
                isRead.yield()
                for await _ in gate {}
                return nil
            }
        }
        let data = Request.RequestData(method: "POST", body: Request.Body.stream(body))
        var operation = NetworkOperation(Request(url: URL(string: "http://host/slow")!, type: .rawRequest(data)))
        operation.outbox = .queue("q")
        return operation
    }

    @Test func entriesAreWrittenInOrder() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        let (reads, isRead) = AsyncStream.makeStream(of: Void.self)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let first = slow(isRead, gate)
        let older = Task { await Result { try await client.run(first) } }
        for await _ in reads { break }
        var second = NetworkOperation.form(2)
        second.outbox = .queue("q")
        let newer = Task { [second] in await Result { try await client.run(second) } }
        let left = Task { [second] in await Result { try await client.run(second) } }
        // Another queue does not wait.
        #expect(await keep(3, in: outbox)?.isStoredInOutbox == true)
        left.cancel()
        let error = await left.value.failure
        #expect(error?.kind == .cancelled && error?.isStoredInOutbox == false)
        opener.finish()
        #expect(await older.value.failure?.isStoredInOutbox == true)
        #expect(await newer.value.failure?.isStoredInOutbox == true)
        let paths = try outbox.entries().filter { $0.queue == "q" }.map(\.url)
        #expect(paths == ["http://host/slow", "http://host/2?…"])
    }

    // MARK: - Data that is not stored

    @Test func formWithASecretIsKeptOnlyOnRequest() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        func submit(_ password: String, _ choice: Outbox.Choice = .automatic) async -> NetworkError.Kind? {
            let form = Form([Form.Input("name", "Ana"), Form.Input("password", .text(password))], outbox: choice)
            return await Result { try await client.submit(form, to: "http://host/in") }.failure?.kind
        }
        #expect(await submit("s3cret") == .connect)
        #expect(folder.files == [])
        #expect(await submit("") == .kept)
        #expect(await submit("", .never) == .connect)
        #expect(await submit("s3cret", .queue("in")) == .kept)
        #expect(try outbox.entries().count == 2)
        let extra = Form([Form.Input("name", "Ana")])
        extra.additionalData = ["password": "s3cret"]
        #expect(await Result { try await client.submit(extra, to: "http://host/in") }.failure?.kind == .connect)
    }

    @Test func originScopedHeadersAreAddedWhenSending() async throws {
        defer { folder.remove() }
        Beagle.dependencies.httpRequestBuilder.origins = [Origin(scheme: "http", host: "host")]
        Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["X-Tenant": "old"]
        let outbox = Outbox(directory: folder.path)
        await keep(1, in: outbox)
        #expect(!folder.text.contains("X-Tenant"))
        Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["X-Tenant": "new"]
        let answers = ScriptedResponses(.success(.init("ok")))
        _ = try await outbox.flush(with: client(TwoCookies(), OutboxInterceptor(outbox), answers))
        let fields = try #require(answers.operations.withLock { $0.first }).transfer.head.headerFields
        #expect(fields[values: HTTPField.Name("X-Tenant")!] == ["new"])
        #expect(fields[values: .cookie] == ["a=1", "b=2"])
        #expect(answers.operations.withLock { $0.first?.transfer.options.timeouts.total } == .some(nil))
    }

    @Test func requestWithItsOwnGuardsIsNotKept() async throws {
        defer { folder.remove() }
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let outbox = Outbox(directory: folder.path)
        var guarded = TransferOptions()
        guarded.addressGuard = .publicOnly
        var deciding = TransferOptions()
        deciding.redirects = .follow.deciding { _ in .follow }
        for options in [guarded, deciding] {
            logger.removeAll()
            #expect(await keep(1, in: outbox) { $0.request.options = options }?.kind == .connect)
            #expect(logger.messages.contains { $0.contains("without being kept") && !$0.contains("s3cret") })
            let error = await keep(1, in: outbox) {
                $0.request.options = options
                $0.outbox = .queue("q")
            }
            #expect(error?.kind == .badRequest)
            #expect(folder.files == [])
            // The client applies its own options again.
            Beagle.dependencies.interceptors = [OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused))]
            let client = NetworkClientDefault(
                dependencies: Beagle.dependencies,
                transport: ScriptedTransport(),
                options: options
            )
            var form = NetworkOperation.form(1)
            form.request.options = options
            form.request.options?.timeouts.total = nil
            let kept = await Result { [form] in try await client.run(form) }.failure
            #expect(kept?.isStoredInOutbox == true)
            for entry in try outbox.entries() { try outbox.remove(entry.id) }
        }
    }

    // MARK: - Forms

    @Test func cancelledFormReportsWhetherItIsKept() async throws {
        defer { folder.remove() }
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), runs)
        for (choice, isKept) in [(Outbox.Choice.automatic, true), (.never, false)] {
            let form = Form([Form.Input("a", "1")], outbox: choice)
            let task = Task { await Result { try await client.submit(form, to: "http://host/form") } }
            let run = await runs.next()
            task.cancel()
            let error = await task.value.failure
            #expect(error?.kind == .cancelled && error?.isStoredInOutbox == isKept)
            run.finish("ok")
        }
    }

    @Test func keptFormClearsItsGroup() async throws {
        defer { folder.remove() }
        let store = Form.MemoryStore()
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), ScriptedResponses(.failure(.refused)))
        for (choice, count) in [(Outbox.Choice.automatic, 0), (.never, 1)] {
            let form = Form([Form.Input("a", "1")], group: "g", store: store, outbox: choice)
            _ = await Result { try await client.submit(form, to: "http://host/form") }
            #expect(store.fields(of: "g").count == count)
        }
    }
}

/// Adds two fields of the same name to each request.
private struct TwoCookies: Interceptor {
    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        for value in ["a=1", "b=2"] {
            operation.transfer.head.headerFields.append(HTTPField(name: .cookie, value: value))
        }
        return try await next(operation, emit)
    }
}
