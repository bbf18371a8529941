import BeagleNet
import BeagleNetTesting
import Foundation
import Testing
import TestClients

/// A temporary directory for an outbox.
struct OutboxFolder {
    let path = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path

    /// The files of waiting entries.
    var files: [String] { names(path).filter { $0.hasSuffix(".entry") } }

    func names(_ path: String) -> [String] {
        // A missing directory has no files.
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// The contents of the files, as text.
    var text: String {
        files.map { String(decoding: FileManager.default.contents(atPath: "\(path)/\($0)") ?? Data(), as: UTF8.self) }
            .joined()
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

extension NetworkOperation {
    /// A form's submission to `/NUMBER`.
    static func form(_ number: Int, host: String = "host", headers: [String: String] = [:]) -> NetworkOperation {
        NetworkOperation(
            Request(
                url: URL(string: "http://\(host)/\(number)?token=s3cret")!,
                type: .submitForm(.init(method: .post, values: ["number": "\(number)"])),
                additionalData: headers.isEmpty ? nil : HttpAdditionalData(headers: headers)
            )
        )
    }

    var path: String { String((transfer.head.path ?? "").prefix { $0 != "?" }) }
    var sentKey: String? { transfer.head.headerFields[HTTPField.Name("Idempotency-Key")!] }
}

@Suite(.beagle(), .timeLimit(.minutes(5))) struct OutboxTests {
    private let folder = OutboxFolder()

    private func paths(_ answers: ScriptedResponses) -> [String] { answers.operations.withLock { $0.map(\.path) } }

    /// Submits forms that get no response.
    private func keep(_ numbers: ClosedRange<Int>, in outbox: Outbox, host: String = "host") async {
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        for number in numbers {
            let result = await Result { try await client.run(.form(number, host: host)) }
            #expect(result.failure?.isStoredInOutbox == true)
        }
    }

    // MARK: - Responses

    @Test func entryIsOnDiskWhileBeingSentAndThenRemoved() async throws {
        defer { folder.remove() }
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), runs)
        async let answer = client.run(.form(1))
        let run = await runs.next()
        #expect(folder.files.count == 1)
        #expect(folder.text.hasSuffix(#"{"number":"1"}"#))
        #expect(try folder.text.contains(#require(run.operation.sentKey).dropFirst().dropLast()))
        run.finish("done")
        #expect(try await answer.shown == "done")
        #expect(folder.files == [])
    }

    @Test(arguments: [200, 201, 204, 299])
    func successIsReturned(code: Int) async throws {
        defer { folder.remove() }
        let response = NetworkResponse(response: HTTPResponse(status: .init(code: code)))
        let client = client(
            OutboxInterceptor(Outbox(directory: folder.path)),
            ScriptedResponses(.success(.init(response)))
        )
        #expect(try await client.run(.form(1)).status?.code == code)
        #expect(folder.files == [])
    }

    @Test(arguments: [301, 304, 400, 401, 403, 404, 407, 409, 410, 422, 451, 501])
    func waitingCallerReceivesTheRejection(code: Int) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.status(code))))
        let error = await Result { try await client.run(.form(1)) }.failure
        #expect(error?.response?.status.code == code && error?.isStoredInOutbox == false)
        #expect(try outbox.entries() == [])
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func transientStatusKeepsTheEntry(code: Int) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.status(code))))
        let error = await Result { try await client.run(.form(1)) }.failure
        #expect(error?.kind == .kept && error?.isStoredInOutbox == true)
        #expect((error?.underlying as? NetworkError)?.response?.status.code == code)
        #expect(try outbox.entries().map(\.state) == [.waiting])
    }

    private static let failureKeepsTheEntryAndReportsItArguments: [NetworkError] = [
        NetworkError.refused, .lost, NetworkError(.timeout, during: .firstByte, ""),
        NetworkError(.tls, during: .tls, ""),
        NetworkError(.shutdown, during: .queue, ""), NetworkError(.other, during: .response, ""),
        NetworkError(.tooLarge, during: .body, ""), NetworkError(.cancelled, during: .body, ""),
        // A network with a sign-in page responds for every host, from its own address.
        NetworkError(.blocked, during: .connect, ""),
    ]

    @Test(arguments: Self.failureKeepsTheEntryAndReportsItArguments)
    func failureKeepsTheEntryAndReportsIt(failure: NetworkError) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(failure)))
        let error = try #require(await Result { try await client.run(.form(1)) }.failure)
        #expect(error.kind == .kept)
        #expect(error.mayHaveReachedServer && !error.isRetryable)
        #expect(error.outboxEntry == (try outbox.entries().first?.id))
        #expect(!error.description.contains("s3cret"))
    }

    @Test func invalidRequestIsAnErrorAndNotKept() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let bad = NetworkError(.badRequest, during: .build, "")
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(bad)))
        #expect(await Result { try await client.run(.form(1)) }.failure?.kind == .badRequest)
        #expect(try outbox.entries() == [])
    }

    // MARK: - After a restart

    @Test func entriesAreSentUnchangedAndInOrderAfterARestart() async throws {
        defer { folder.remove() }
        let answers = ScriptedResponses(.failure(.refused))
        let before = client(OutboxInterceptor(Outbox(directory: folder.path)), answers)
        for number in 1...3 { _ = await Result { try await before.run(.form(number, headers: ["X-Trace": "7"])) } }
        let outbox = Outbox(directory: folder.path)
        let later = ScriptedResponses(.success(.init("ok")))
        let after = client(OutboxInterceptor(outbox), later)
        let report = try await outbox.flush(with: after)
        #expect(report.delivered.map(\.entry.url) == (1...3).map { "http://host/\($0)?…" })
        #expect(report.delivered.map(\.status) == [200, 200, 200])
        #expect(report.remaining == [] && report.failures.isEmpty && report.refused == [])
        #expect(folder.files == [])
        later.operations.withLock { received in
            #expect(received.map { $0.transfer.head.path } == (1...3).map { "/\($0)?token=s3cret" })
            #expect(received.map { $0.transfer.body?.data } == (1...3).map { Data(#"{"number":"\#($0)"}"#.utf8) })
            #expect(received.allSatisfy { $0.transfer.head.headerFields[.contentType] == "application/json" })
            #expect(received.allSatisfy { $0.transfer.head.headerFields[HTTPField.Name("X-Trace")!] == "7" })
            #expect(received.allSatisfy { $0.kind == .form && $0.sentKey != nil })
            let keys = Set(received.map(\.sentKey))
            #expect(keys.count == 3)
        }
        // The first was already sent with the same key before; the others weren't sent.
        let tried = answers.operations.withLock { $0.map(\.sentKey) }
        #expect(tried.first == later.operations.withLock { $0.first?.sentKey })
    }

    @Test func credentialsAreNotStoredButAddedWhenSending() async throws {
        defer { folder.remove() }
        let origins: Set<Origin> = [Origin(scheme: "http", host: "host")]
        func rules(_ token: String) -> AuthInterceptor<String>.Rules {
            .init(load: { token }, attach: { token, head in head.headerFields[.authorization] = token })
        }
        Beagle.dependencies.redactor = Redactor(secrets: ["X-Device"])
        Beagle.dependencies.httpRequestBuilder.origins = origins
        Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["X-Api-Key": "old-k3y", "X-Device": "d3vice"]
        let outbox = Outbox(directory: folder.path)
        let first = client(
            OutboxInterceptor(outbox),
            AuthInterceptor(rules("t0ken"), origins: origins),
            ScriptedResponses(.failure(.refused))
        )
        _ = await Result { try await first.run(.form(1, headers: ["Cookie": "c00kie"])) }
        for secret in ["t0ken", "old-k3y", "d3vice", "c00kie"] { #expect(!folder.text.contains(secret)) }

        Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["X-Api-Key": "new-k3y", "X-Device": "d3vice"]
        let answers = ScriptedResponses(.success(.init("ok")))
        let second = client(OutboxInterceptor(outbox), AuthInterceptor(rules("t1ken"), origins: origins), answers)
        #expect(try await outbox.flush(with: second).delivered.count == 1)
        let fields = answers.operations.withLock { $0[0].transfer.head.headerFields }
        #expect(fields[.authorization] == "t1ken")
        #expect(fields[HTTPField.Name("X-Api-Key")!] == "new-k3y")
        #expect(fields[HTTPField.Name("X-Device")!] == "d3vice")
        #expect(fields[.cookie] == nil)
    }

    @Test func directoryIsAccessibleToItsOwnerOnly() async throws {
        defer { folder.remove() }
        await keep(1...1, in: Outbox(directory: folder.path))
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder.path) == 0o700)
        #expect(try mode("\(folder.path)/\(folder.files[0])") == 0o600)
        #expect(try mode("\(folder.path)/send.lock") == 0o600)
    }

    // MARK: - Order

    @Test func newerEntryWaitsForTheOlderOne() async throws {
        defer { folder.remove() }
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), runs)
        async let first = client.run(.form(1))
        let older = await runs.next()
        async let second = client.run(.form(2))
        while folder.files.count < 2 { await Task.yield() }
        #expect(runs.count == 1)
        older.finish("1")
        #expect(try await first.shown == "1")
        let newer = await runs.next()
        #expect(newer.operation.path == "/2")
        newer.finish("2")
        #expect(try await second.shown == "2")
    }

    @Test func olderEntriesAreSentFirstAndQueuesAreIndependent() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...2, in: outbox)
        await keep(3...3, in: outbox, host: "other")
        let answers = ScriptedResponses(.success(.init("ok")))
        let client = client(OutboxInterceptor(outbox), answers)
        let error = await Result { try await client.run(.form(4)) }.failure
        #expect(error?.kind == .kept)
        #expect(error?.message.contains("older entries must be sent first") == true)
        #expect(answers.count == 0)
        #expect(try await client.run(.form(5, host: "third")).shown == "ok")
    }

    @Test func failureDuringAFlushStopsOnlyItsQueue() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...3, in: outbox)
        await keep(4...5, in: outbox, host: "other")
        let received = Lock<[String]>([])
        let runs = ScriptedRuns { operation, _ in
            received.withLock { $0.append(operation.path) }
            return operation.path == "/2" ? .init(NetworkResponse(text: "", status: .serviceUnavailable)) : .init("ok")
        }
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), runs))
        #expect(
            Set(report.delivered.map(\.entry.url))
                == Set([1, 4, 5].map { "http://\($0 == 1 ? "host" : "other")/\($0)?…" })
        )
        #expect(report.remaining.map(\.url) == ["http://host/2?…", "http://host/3?…"])
        #expect(report.failures.map(\.response?.status.code) == [503])
        #expect(received.withLock { $0.filter { ["/1", "/2", "/3"].contains($0) } } == ["/1", "/2"])
    }

    @Test func failureIsReportedToAllCallersInTheQueue() async throws {
        defer { folder.remove() }
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), runs)
        async let first = Result { try await client.run(.form(1)) }
        let run = await runs.next()
        async let second = Result { try await client.run(.form(2)) }
        while folder.files.count < 2 { await Task.yield() }
        run.finish(.failure(.lost))
        #expect(await first.failure?.kind == .kept)
        #expect(await second.failure?.kind == .kept)
        #expect(runs.count <= 2)
        #expect(folder.files.count == 2)
    }

    // MARK: - Cancelling

    @Test func operationCancelledBeforeWritingIsNotKept() async {
        defer { folder.remove() }
        let answers = ScriptedResponses(.success(.init("ok")))
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), answers)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Result { try await client.run(.form(1)) }
        }
        let error = await task.value.failure
        #expect(error?.kind == .cancelled && error?.isStoredInOutbox == false)
        #expect(answers.count == 0)
        #expect(folder.files == [])
    }

    @Test func operationCancelledWhileBeingSentIsCompleted() async throws {
        defer { folder.remove() }
        let runs = ScriptedRuns()
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), runs)
        let task = Task { await Result { try await client.run(.form(1)) } }
        let run = await runs.next()
        task.cancel()
        let error = await task.value.failure
        #expect(error?.kind == .cancelled && error?.isStoredInOutbox == true && error?.mayHaveReachedServer == true)
        #expect(try outbox.entries().map(\.state) == [.sending])
        #expect(runs.cancels == 0)
        run.finish("ok")
        for await entries in outbox.changes where entries.isEmpty { break }
        #expect(folder.files == [])
    }

    @Test func deadlineEndsOnlyTheWait() async throws {
        defer { folder.remove() }
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let runs = ScriptedRuns()
        let client = client(
            DeadlineInterceptor(limit: .seconds(5)),
            OutboxInterceptor(Outbox(directory: folder.path)),
            runs
        )
        async let result = Result { try await client.run(.form(1)) }
        let run = await runs.next()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = await result.failure
        #expect(error?.kind == .timeout && error?.isStoredInOutbox == true && error?.mayHaveReachedServer == true)
        #expect(folder.files.count == 1)
        run.finish("ok")
    }

    @Test("a deadline by the system's clock, which limits other transfers, doesn't cut off a sending")
    func deadlineDoesNotCutOffTheSending() async throws {
        defer { folder.remove() }
        let isTimedOut = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _ in
            isTimedOut.wait()
            return .response(200)
        }
        let outbox = Outbox(directory: folder.path)
        Beagle.dependencies.interceptors = [DeadlineInterceptor(limit: .milliseconds(50)), OutboxInterceptor(outbox)]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        let url = try #require(URL(string: server.url))
        let form = NetworkOperation(Request(url: url, type: .submitForm(.init(method: .post, values: ["a": "b"]))))
        let error = await Result { try await client.run(form) }.failure
        isTimedOut.signal()
        #expect(error?.kind == .timeout && error?.isStoredInOutbox == true)
        for await entries in outbox.changes where entries.isEmpty { break }
        #expect(server.requests.count == 1)
    }

    // MARK: - Rejections

    @Test func unreportedRejectionStaysUntilRetriedOrRemoved() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...2, in: outbox)
        let refusing = client(
            OutboxInterceptor(outbox),
            ScriptedResponses(.failure(.status(422)), .success(.init("ok")))
        )
        let report = try await outbox.flush(with: refusing)
        #expect(report.refused.map(\.state) == [.refused("422")])
        #expect(report.delivered.map(\.entry.url) == ["http://host/2?…"])
        // Another process sees it too.
        let other = Outbox(directory: folder.path)
        let refused = try #require(try other.entries().first)
        #expect(refused.state == .refused("422"))
        #expect(try await other.flush(with: refusing).delivered.isEmpty)

        #expect(try other.retry(refused.id))
        #expect(try !other.retry(refused.id))
        #expect(try other.entries().map(\.state) == [.waiting])
        #expect(try await other.flush(with: refusing).delivered.map(\.entry.id) == [refused.id])
        #expect(try other.entries() == [])
        #expect(try !other.remove(refused.id))
    }

    @Test func expiredEntryIsMovedAside() async throws {
        defer { folder.remove() }
        let now = Lock(1_000.0)
        let limits = Outbox.Limits(maxAge: .seconds(60))
        let outbox = Outbox(directory: folder.path, limits: limits, now: { now.withLock { $0 } })
        await keep(1...1, in: outbox)
        now.withLock { $0 += 50 }
        await keep(2...2, in: outbox)
        now.withLock { $0 += 20 }
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.refused.map(\.state) == [.refused("expired")])
        #expect(report.delivered.map(\.entry.url) == ["http://host/2?…"])
    }

    @Test func removedEntryIsNotSent() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...2, in: outbox)
        let first = try #require(try outbox.entries().first)
        #expect(try outbox.remove(first.id))
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.delivered.map(\.entry.url) == ["http://host/2?…"])
    }

    // MARK: - Bad input

    @Test func truncatedFileIsMovedAsideAndOthersAreSent() async throws {
        defer { folder.remove() }
        await keep(1...2, in: Outbox(directory: folder.path))
        let name = folder.files[0]
        let path = "\(folder.path)/\(name)"
        let whole = try #require(FileManager.default.contents(atPath: path))
        for end in stride(from: 0, to: whole.count, by: 7) {
            try whole.prefix(end).write(to: URL(filePath: path))
            let outbox = Outbox(directory: folder.path)
            #expect(try outbox.entries().map(\.url) == ["http://host/2?…"])
            #expect(folder.names("\(folder.path)/damaged") == [name])
        }
        try whole.prefix(30).write(to: URL(filePath: path))
        let outbox = Outbox(directory: folder.path)
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.delivered.map(\.entry.url) == ["http://host/2?…"])
        #expect(report.damages.map(\.kind) == [.decoding])
        #expect(report.damages.first?.message.contains(path) == true)
        #expect(report.damages.first?.advice?.contains("damaged/\(name)") == true)
    }

    @Test(arguments: [
        "", "x", "beagle-outbox 0 abc\n{}\n", "beagle-outbox 1 \n{}\n", String(repeating: "\n", count: 9),
    ])
    func garbageIsMovedAside(_ text: String) async throws {
        defer { folder.remove() }
        await keep(1...1, in: Outbox(directory: folder.path))
        let names = ["00000000000000000000-ab.entry", "x.entry", "18446744073709551615-a.entry", "-.entry"]
        for name in names { try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(name)")) }
        let outbox = Outbox(directory: folder.path)
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.delivered.count == 1)
        #expect(report.damages.count == names.count)
        #expect(folder.names("\(folder.path)/damaged") == names.sorted())
    }

    private static let oversizedFileIsMovedAsideUnreadArguments: [String?] = [
        nil, "", "beagle-outbox 1 abc\n", "beagle-outbox 1 abc\n{\"length\":4}\nabcd",
        "beagle-outbox 2 aes-256-gcm abc 4\nabcd", "beagle-outbox 2 aes-256-gcm abc -9223372036854775808\nabcd",
    ]

    /// Sparse files of 4 TiB in place of an entry, with different first lines.
    @Test(arguments: Self.oversizedFileIsMovedAsideUnreadArguments)
    func oversizedFileIsMovedAsideUnread(_ text: String?) async throws {
        defer { folder.remove() }
        await keep(1...2, in: Outbox(directory: folder.path))
        let path = "\(folder.path)/\(folder.files[0])"
        if let text { try Data(text.utf8).write(to: URL(filePath: path)) }
        try #require(truncate(path, 1 << 42) == 0)
        let outbox = Outbox(directory: folder.path)
        #expect(try outbox.look().entries.map(\.url) == ["http://host/2?…"])
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.delivered.map(\.entry.url) == ["http://host/2?…"])
        #expect(report.damages.map(\.kind) == [.decoding])
        #expect(folder.names("\(folder.path)/damaged").count == 1)
    }

    /// An entry that declares such a size itself is left in place.
    @Test func entryThatIsTooLargeToReadStays() async throws {
        defer { folder.remove() }
        await keep(1...2, in: Outbox(directory: folder.path))
        let path = "\(folder.path)/\(folder.files[0])"
        let head = "beagle-outbox 1 abc\n{\"length\":4398046511104}\n"
        try Data(head.utf8).write(to: URL(filePath: path))
        try #require(truncate(path, 1 << 42 + off_t(head.utf8.count)) == 0)
        let outbox = Outbox(directory: folder.path)
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.delivered.map(\.entry.url) == ["http://host/2?…"])
        #expect(report.damages.map(\.kind) == [.tooLarge])
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// The outbox has a lower limit than the one that wrote the entry.
    @Test func entryAboveTheLimitIsStillSent() async throws {
        defer { folder.remove() }
        await keep(1...1, in: Outbox(directory: folder.path))
        let outbox = Outbox(directory: folder.path, limits: Outbox.Limits(maxEntryBytes: 10))
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.delivered.count == 1)
    }

    @Test(arguments: ["damaged", "refused", "entry"])
    func linksInAnOutboxAreNotFollowed(_ link: String) async throws {
        defer { folder.remove() }
        let outside = OutboxFolder()
        defer { outside.remove() }
        await keep(1...2, in: Outbox(directory: folder.path))
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        let name = folder.files[0]
        let path = "\(folder.path)/\(name)"
        if link == "entry" {
            try FileManager.default.moveItem(atPath: path, toPath: "\(outside.path)/\(name)")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(outside.path)/\(name)")
        } else {
            try FileManager.default.removeItem(atPath: "\(folder.path)/\(link)")
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/\(link)",
                withDestinationPath: outside.path
            )
            try Data("x".utf8).write(to: URL(filePath: path))
        }
        let before = outside.names(outside.path)
        let outbox = Outbox(directory: folder.path)
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.delivered.map(\.entry.url) == ["http://host/2?…"])
        #expect(report.damages.count == 1)
        #expect(outside.names(outside.path) == before)
    }

    @Test func fileDamagedAfterItWasReadIsNotSent() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...2, in: outbox)
        let path = "\(folder.path)/\(folder.files[0])"
        var data = try #require(FileManager.default.contents(atPath: path))
        data[data.count - 3] ^= 1
        try data.write(to: URL(filePath: path))
        let answers = ScriptedResponses(.success(.init("ok")))
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), answers))
        #expect(paths(answers) == ["/2"])
        #expect(report.damages.count == 1)
    }

    @Test func operationThatCannotBeWrittenIsNotSent() async throws {
        defer { folder.remove() }
        try Data().write(to: URL(filePath: folder.path))
        let answers = ScriptedResponses(.success(.init("ok")))
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), answers)
        let error = await Result { try await client.run(.form(1)) }.failure
        #expect(error?.kind == .file && error?.isStoredInOutbox == false && error?.mayHaveReachedServer == false)
        #expect(answers.count == 0)
    }

    @Test func fullOutboxRejectsOperationsBeforeSending() async throws {
        defer { folder.remove() }
        let answers = ScriptedResponses(.failure(.refused))
        for (limits, kind) in [
            (Outbox.Limits(maxEntries: 1), NetworkError.Kind.file), (Outbox.Limits(maxBytes: 700), .file),
            (Outbox.Limits(maxEntryBytes: 5), .tooLarge),
        ] {
            folder.remove()
            let client = client(OutboxInterceptor(Outbox(directory: folder.path, limits: limits)), answers)
            for number in 1...9 { _ = await Result { try await client.run(.form(number)) } }
            let (before, files) = (answers.count, folder.files.count)
            let error = await Result { try await client.run(.form(10)) }.failure
            #expect(error?.kind == kind && error?.isStoredInOutbox == false && error?.mayHaveReachedServer == false)
            #expect(answers.count == before)
            #expect(folder.files.count == files)
            #expect(folder.names(folder.path).allSatisfy { !$0.hasSuffix(".part") })
        }
    }

    @Test func partiallyWrittenFileIsNotAnEntry() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...1, in: outbox)
        let path = "\(folder.path)/00000000000000000009-ab.entry.part"
        try Data("x".utf8).write(to: URL(filePath: path))
        #expect(try outbox.entries().count == 1)
        let old = Date(timeIntervalSinceNow: -7_200)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path)
        _ = try await outbox.flush(with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok")))))
        #expect(folder.names(folder.path) == ["damaged", "refused", "send.lock"])
    }
}
