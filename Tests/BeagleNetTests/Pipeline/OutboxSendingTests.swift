import BeagleNetTesting
import Foundation
import Testing
import TestClients

@testable import BeagleNet

/// The end of a pipeline that returns the outcome of a function for each operation.
private struct OutcomeInterceptor: Interceptor {
    let sentPaths = Lock<[String]>([])
    let answer: @Sendable (NetworkOperation) async -> Result<NetworkOperation.Result, NetworkError>

    var paths: [String] { sentPaths.withLock { $0 } }

    func count(_ path: String) -> Int { paths.count { $0 == path } }

    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        sentPaths.withLock { $0.append(operation.path) }
        return try await answer(operation).mapError { error in
            var error = error
            if error.request == nil { error.request = operation.transfer.head }
            return error
        }.get()
    }
}

/// Sends operations to an invalid authority.
private struct Unreadable: Interceptor {
    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        if operation.path == "/1" { operation.transfer.head.authority = "[::1" }
        return try await next(operation, emit)
    }
}

@Suite(.beagle(), .timeLimit(.minutes(5))) struct OutboxSendingTests {
    private let folder = OutboxFolder()
    private let key = ["Idempotency-Key": "k"]
    private let origins: Set<Origin> = [Origin(scheme: "http", host: "host")]

    /// Submits forms that get no response.
    private func keep(_ numbers: ClosedRange<Int>, in outbox: Outbox, host: String = "host") async {
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        for number in numbers {
            let result = await Result { try await client.run(.form(number, host: host)) }
            #expect(result.failure?.isStoredInOutbox == true)
        }
    }

    private func failure(_ outcome: NetworkError, in outbox: Outbox) async -> NetworkError? {
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(outcome)))
        return await Result { try await client.run(.form(1)) }.failure
    }

    /// The error status of a prerequisite request.
    private static func inner(_ code: Int) -> NetworkError {
        var error = NetworkError.status(code)
        error.request = HTTPRequest(method: .post, scheme: "http", authority: "host", path: "/token")
        return error
    }

    // MARK: - Meaning of a response

    @Test(arguments: [400, 401, 403, 404, 422])
    func errorOfAPrerequisiteRequestKeepsTheEntry(code: Int) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let rules = AuthInterceptor<String>.Rules(load: { throw Self.inner(code) }, attach: { _, _ in })
        let answers = ScriptedResponses(.success(.init("ok")))
        let client = client(OutboxInterceptor(outbox), AuthInterceptor(rules, origins: origins), answers)
        #expect(await Result { try await client.run(.form(1)) }.failure?.isStoredInOutbox == true)
        let fields = HeadersInterceptor(origins: origins) { _ in throw Self.inner(code) }
        let other = self.client(OutboxInterceptor(outbox), fields, answers)
        #expect(await Result { try await other.run(.form(2)) }.failure?.isStoredInOutbox == true)
        let report = try await outbox.flush(with: other)
        #expect(report.refused == [] && report.remaining.count == 2 && report.failures.count == 1)
        #expect(answers.count == 0)
    }

    private func client(_ interceptors: any Interceptor...) -> NetworkClientDefault {
        Beagle.dependencies.interceptors = interceptors
        return NetworkClientDefault(dependencies: Beagle.dependencies, transport: ScriptedTransport())
    }

    @Test(arguments: [401, 407, 409])
    func possiblySentEntryStaysAfterAnAmbiguousStatus(code: Int) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...2, in: outbox)
        let answers = ScriptedResponses(.failure(.status(code)))
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), answers))
        #expect(report.refused == [] && report.remaining.count == 2)
        #expect(report.failures.map(\.response?.status.code) == [code])
        #expect(answers.count == 1)
    }

    @Test(arguments: [401, 409])
    func resubmittedEntryCountsAsPossiblySent(code: Int) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.lost), .failure(.status(code))))
        for _ in 0..<2 {
            let error = await Result { try await client.run(.form(1, headers: key)) }.failure
            #expect(error?.isStoredInOutbox == true)
        }
        // The same from another process.
        let later = Outbox(directory: folder.path)
        let other = self.client(OutboxInterceptor(later), ScriptedResponses(.failure(.status(code))))
        #expect(await Result { try await other.run(.form(1, headers: key)) }.failure?.isStoredInOutbox == true)
    }

    @Test(arguments: [401, 409])
    func entrySentByAnEarlierAttemptStays(code: Int) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let retry = RetryInterceptor(backoff: Backoff(base: .zero, limit: 3))
        let lost = client(OutboxInterceptor(outbox), retry, ScriptedResponses(.failure(.lost), .failure(.status(code))))
        #expect(await Result { try await lost.run(.form(1)) }.failure?.isStoredInOutbox == true)
        // An attempt that never reached the server doesn't count as sent.
        let refused = ScriptedResponses(.failure(.refused), .failure(.status(code)))
        let other = client(OutboxInterceptor(outbox), retry, refused)
        let error = await Result { try await other.run(.form(2, host: "other")) }.failure
        #expect(error?.response?.status.code == code && error?.isStoredInOutbox == false)
    }

    @Test func entryForABlockedAddressIsKept() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        #expect(await failure(NetworkError(.blocked, during: .resolve, ""), in: outbox)?.isStoredInOutbox == true)
    }

    @Test(arguments: [NetworkError.Kind.badURL, .badRequest, .badConfiguration, .notConfigured])
    func buildErrorStopsTheQueue(kind: NetworkError.Kind) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...2, in: outbox)
        let answers = ScriptedResponses(.failure(NetworkError(kind, during: .build, "")))
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), answers))
        #expect(report.refused == [] && report.remaining.count == 2)
        #expect(answers.operations.withLock { $0.allSatisfy { $0.path == "/1" } })
    }

    @Test func entryWithAnInvalidURLIsMovedAside() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let first = client(
            Unreadable(),
            OutboxInterceptor(outbox) { _ in "all" },
            ScriptedResponses(.failure(.refused))
        )
        for number in 1...2 { _ = await Result { try await first.run(.form(number)) } }
        let answers = ScriptedResponses(.success(.init("ok")))
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), answers))
        #expect(report.refused.map(\.state) == [.refused("bad_url")])
        #expect(report.delivered.count == 1)
    }

    @Test(arguments: [NetworkError.Kind.tooLarge, .encoding, .decoding])
    func unreadableResponseBodyStillCountsAsDelivery(kind: NetworkError.Kind) async throws {
        defer { folder.remove() }
        var error = NetworkError(kind, during: .body, "")
        error.response = HTTPResponse(status: .created)
        let outbox = Outbox(directory: folder.path)
        let reported = await failure(error, in: outbox)
        #expect(reported?.kind == kind && reported?.isStoredInOutbox == false)
        #expect(try outbox.entries() == [])
        await keep(1...1, in: outbox)
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), ScriptedResponses(.failure(error))))
        #expect(report.delivered.map(\.status) == [201])
        error.response = HTTPResponse(status: .serviceUnavailable)
        #expect(await failure(error, in: outbox)?.isStoredInOutbox == true)
    }

    @Test(arguments: [NetworkError.Kind.tooManyRedirects, .insecureRedirect])
    func redirectErrorDoesNotBlockTheQueue(kind: NetworkError.Kind) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...2, in: outbox)
        let answers = ScriptedResponses(.failure(NetworkError(kind, during: .redirect, "")), .success(.init("ok")))
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), answers))
        #expect(report.refused.map(\.state) == [.refused(kind.rawValue)])
        #expect(report.delivered.map(\.entry.url) == ["http://host/2?…"])
    }

    private static let onlyAServerResponseCountsAsDeliveryArguments: [NetworkOperation.Result] = [
        NetworkOperation.Result("stored", from: .cache), NetworkOperation.Result("likely", from: .optimistic),
        NetworkOperation.Result(
            .progress(TransferRequest.Progress(bytesSent: 1, bytesToSend: 1, bytesReceived: 1, bytesToReceive: 1))
        ),
    ]

    @Test(arguments: Self.onlyAServerResponseCountsAsDeliveryArguments)
    func onlyAServerResponseCountsAsDelivery(result: NetworkOperation.Result) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.success(result)))
        let error = await Result { try await client.run(.form(1)) }.failure
        #expect(error?.isStoredInOutbox == true && error?.message.contains("came from a cache") == true)
    }

    // MARK: - Prerequisite requests

    @Test func tokenRenewalThroughTheSameClientIsNotKept() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let own = Lock<NetworkClientDefault?>(nil)
        let rules = AuthInterceptor<String>.Rules(
            load: { "old" },
            renew: { _ in
                _ = try await own.withLock { $0 }?.run(.form(9))
                return "new"
            },
            attach: { token, head in head.headerFields[.authorization] = token }
        )
        let end = OutcomeInterceptor { operation in
            if operation.transfer.head.headerFields[.authorization] == "old" { return .failure(.status(401)) }
            return .success(.init("ok"))
        }
        let client = client(OutboxInterceptor(outbox), AuthInterceptor(rules, origins: origins), end)
        own.withLock { $0 = client }
        defer { own.withLock { $0 = nil } }
        #expect(try await client.run(.form(1)).shown == "ok")
        #expect(end.paths == ["/1", "/9", "/1"])
    }

    @Test func prerequisiteRequestIsNotKeptButALaterOneIs() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let own = Lock<NetworkClientDefault?>(nil)
        let gate = AsyncStream.makeStream(of: Void.self)
        let later = Lock<Task<NetworkError?, Never>?>(nil)
        let fields = HeadersInterceptor(origins: origins) { operation in
            guard operation.path == "/1", let client = own.withLock({ $0 }) else { return [:] }
            var inner = NetworkOperation.form(9)
            inner.outbox = .queue("http://host:80")
            _ = try await client.run(inner)
            let task = Task {
                for await _ in gate.stream { break }
                return await Result { try await client.run(.form(3)) }.failure
            }
            later.withLock { $0 = task }
            return [:]
        }
        let end = OutcomeInterceptor { $0.path == "/3" ? .failure(.refused) : .success(.init("ok")) }
        let client = client(OutboxInterceptor(outbox), fields, end)
        own.withLock { $0 = client }
        defer { own.withLock { $0 = nil } }
        #expect(try await client.run(.form(1)).shown == "ok")
        #expect(end.paths == ["/9", "/1"])
        gate.continuation.yield()
        #expect(await later.withLock { $0 }?.value?.isStoredInOutbox == true)
    }

    @Test func formSubmittedInAProgressCallbackIsKept() async throws {
        defer { folder.remove() }
        let runs = ScriptedRuns { operation, emit in
            if operation.path == "/2" { return .init("2") }
            emit(.init("early", isStale: true))
            return nil
        }
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), runs)
        let second = Lock<Task<Void, Never>?>(nil)
        let first = Task {
            await Result {
                try await client.run(.form(1)) { _ in
                    second.withLock { $0 = Task { _ = await Result { try await client.run(.form(2)) } } }
                }
            }
        }
        let run = await runs.next()
        // The second waits for the first.
        while folder.files.count < 2, runs.count < 2 { await Task.yield() }
        #expect(runs.count == 1)
        run.finish("1")
        #expect(await first.value.failure == nil)
        await second.withLock { $0 }?.value
        #expect(runs.count == 2)
    }

    // MARK: - One outbox among others

    @Test func endOfOneQueueDoesNotDisturbAnother() async throws {
        defer { folder.remove() }
        let client = client(OutboxInterceptor(Outbox(directory: folder.path)), ScriptedResponses(.success(.init("ok"))))
        await withTaskGroup(of: NetworkError?.self) { group in
            for host in 0..<2 {
                group.addTask {
                    for number in 0..<150 {
                        let result = await Result { try await client.run(.form(number, host: "host\(host)")) }
                        if let failure = result.failure { return failure }
                    }
                    return nil
                }
            }
            for await failure in group { #expect(failure == nil) }
        }
    }

    @Test func entriesOfAnotherOutboxAreSent() async throws {
        defer { folder.remove() }
        let (one, two) = (Outbox(directory: folder.path), Outbox(directory: folder.path))
        let runs = ScriptedRuns()
        let first = client(OutboxInterceptor(one), runs)
        let answer = Task { await Result { try await first.run(.form(1)) } }
        let run = await runs.next()
        let other = Beagle.Scope(Beagle.dependencies.scoped(.test) { _ in })
        let error = await other.run {
            let second = client(OutboxInterceptor(two), ScriptedRuns())
            return await Result { try await second.run(.form(2, host: "other")) }.failure
        }
        #expect(error?.isStoredInOutbox == true)
        // The directory was read meanwhile, and there is a sender.
        #expect(try one.entries().count == 2)
        await one.sending(with: first) {
            run.finish("1")
            #expect(await answer.value.failure == nil)
            let theirs = await runs.next()
            #expect(theirs.operation.path == "/2")
            theirs.finish("2")
            for await entries in one.changes where entries.isEmpty { break }
        }
    }

    @Test func danglingLinkDoesNotTriggerASend() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...1, in: outbox)
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/x.entry",
            withDestinationPath: "\(folder.path)/nothing"
        )
        let end = OutcomeInterceptor { $0.path == "/1" ? .failure(.refused) : .success(.init("ok")) }
        let client = client(OutboxInterceptor(outbox), end)
        try await outbox.sending(with: client) {
            for number in 2...6 { _ = try await client.run(.form(number, host: "host\(number)")) }
            #expect(try await outbox.flush(with: client).remaining.count == 1)
            #expect(end.count("/1") <= 2)
        }
    }

    @Test func entryRemovedBeforeItIsReadBlocksNothing() async throws {
        defer { folder.remove() }
        let name = Lock<String?>(nil)
        let path = folder.path
        let outbox = Outbox(directory: path, limits: .init(maxAge: .seconds(60))) {
            // Called after the directory was listed.
            if let name = name.withLock({ $0 }) { unlink("\(path)/\(name)") }
            return 1_000
        }
        await keep(1...2, in: outbox)
        name.withLock { $0 = folder.files[0] }
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.delivered.map(\.entry.url) == ["http://host/2?…"])
        #expect(report.abortError == nil && report.failures.isEmpty)
    }

    @Test func entryRemovedWhileItIsRejectedBlocksNothing() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...2, in: outbox)
        let end = OutcomeInterceptor { operation in
            guard operation.path == "/1" else { return .success(.init("ok")) }
            let removal = Result { try outbox.remove(try outbox.entries()[0].id) }
            #expect(throws: Never.self) { try removal.get() }
            return .failure(.status(422))
        }
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), end))
        #expect(report.delivered.count == 1 && report.abortError == nil)
        #expect(try outbox.entries() == [])
    }

    // MARK: - Reports

    @Test func secondPassSendsOnlyEntriesThatLackedAClient() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...1, in: outbox)
        await keep(2...2, in: outbox, host: "other")
        let hasFailed = Lock(false)
        let end = OutcomeInterceptor { operation in
            if operation.path == "/2" { return .failure(.status(503)) }
            let isFirst = hasFailed.withLock { hasFailed in
                defer { hasFailed = true }
                return !hasFailed
            }
            return isFirst ? .failure(NetworkError(.notConfigured, during: .queue, "")) : .success(.init("ok"))
        }
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), end))
        #expect(end.count("/1") == 2 && end.count("/2") == 1)
        #expect(report.delivered.count == 1)
        #expect(report.failures.map(\.response?.status.code) == [503])
    }

    @Test func reportSurvivesAFileErrorAndSettledEntriesAreNotResent() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...2, in: outbox)
        let refused = "\(folder.path)/refused"
        let end = OutcomeInterceptor { operation in
            guard operation.path == "/2" else { return .success(.init("ok")) }
            // Nothing can be moved there now.
            try? FileManager.default.removeItem(atPath: refused)
            #expect(FileManager.default.createFile(atPath: refused, contents: nil))
            return .failure(.status(422))
        }
        let client = client(OutboxInterceptor(outbox), end)
        let report = try await outbox.flush(with: client)
        #expect(report.delivered.map(\.entry.url) == ["http://host/1?…"])
        #expect(report.refused.map(\.state) == [.refused("422")])
        #expect(report.abortError?.kind == .file)
        try FileManager.default.removeItem(atPath: refused)
        #expect(try await outbox.flush(with: client).remaining == [])
        #expect(end.paths == ["/1", "/2"])
        #expect(try outbox.entries().map(\.state) == [.refused("422")])
    }

    /// Replaces a file with a directory, which can't be removed like a file, or restores the file.
    private func protect(_ name: String, _ isProtected: Bool) throws {
        let (path, aside, files) = ("\(folder.path)/\(name)", "\(folder.path)/aside", FileManager.default)
        if isProtected {
            try files.moveItem(atPath: path, toPath: aside)
            try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        } else {
            try files.removeItem(atPath: path)
            try files.moveItem(atPath: aside, toPath: path)
        }
    }

    @Test(
        "a delivered entry that cannot be removed is sent again only after a restart, with the same key",
        arguments: [false, true]
    )
    func deliveredEntryThatCannotBeRemovedIsNotExecutedTwice(restarts: Bool) async throws {
        defer { folder.remove() }
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let name = Lock("")
        // A server that honors the key.
        let keys = Lock<Set<String>>([])
        let end = OutcomeInterceptor { operation in
            let isFirst = keys.withLock { keys in
                keys.insert(operation.sentKey ?? "")
                return keys.count == 1
            }
            if isFirst, name.withLock({ $0.isEmpty }) {
                name.withLock { [folder] in $0 = folder.files.first ?? "" }
                #expect(throws: Never.self) { try protect(name.withLock { $0 }, true) }
            }
            return .success(.init("ok"))
        }
        let outbox = Outbox(directory: folder.path)
        let first = client(OutboxInterceptor(outbox), end)
        #expect(try await first.run(.form(1)).shown == "ok")
        #expect(logger.messages.contains { $0.contains("could not be removed") && $0.contains("cannot remove") })
        #expect(await Result { try await first.run(.form(2)) }.failure?.isStoredInOutbox == true)
        #expect(end.paths == ["/1"])
        try protect(name.withLock { $0 }, false)
        let next = restarts ? Outbox(directory: folder.path) : outbox
        let report = try await next.flush(with: client(OutboxInterceptor(next), end))
        #expect(report.remaining == [])
        #expect(end.paths == (restarts ? ["/1", "/1", "/2"] : ["/1", "/2"]))
        #expect(keys.withLock { $0.count } == 2)
        #expect(folder.files == [])
    }

    @Test func expiredEntryIsSentAfterARetry() async throws {
        defer { folder.remove() }
        let now = Lock(1_000.0)
        let outbox = Outbox(directory: folder.path, limits: .init(maxAge: .seconds(60))) { now.withLock { $0 } }
        await keep(1...1, in: outbox)
        now.withLock { $0 += 61 }
        let answers = ScriptedResponses(.success(.init("ok")))
        let client = client(OutboxInterceptor(outbox), answers)
        let expired = try #require(try await outbox.flush(with: client).refused.first)
        #expect(try outbox.retry(expired.id))
        #expect(try outbox.entries().map(\.state) == [.waiting])
        #expect(try await outbox.flush(with: client).delivered.map(\.entry.id) == [expired.id])
        #expect(answers.count == 1)
        #expect(try outbox.entries() == [])
    }

    @Test func rejectionAfterTheCallerCancelledIsStored() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(outbox), runs)
        let task = Task { await Result { try await client.run(.form(1)) } }
        let run = await runs.next()
        task.cancel()
        #expect(await task.value.failure?.isStoredInOutbox == true)
        var error = NetworkError.status(422)
        error.request = run.operation.transfer.head
        run.finish(.failure(error))
        for await entries in outbox.changes where entries.first?.state == .refused("422") { break }
    }

    @Test func rejectionIsEitherReturnedOrStored() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let sent = AsyncStream.makeStream(of: Void.self)
        let end = OutcomeInterceptor { _ in
            sent.continuation.yield()
            return .failure(.status(422))
        }
        let client = client(OutboxInterceptor(outbox), end)
        for number in 0..<150 {
            let task = Task { await Result { try await client.run(.form(number)) } }
            for await _ in sent.stream { break }
            for _ in 0..<(number % 10) { await Task.yield() }
            task.cancel()
            let hasLeft = await task.value.failure?.isStoredInOutbox == true
            var entries = try outbox.entries()
            while entries.contains(where: { $0.state != .refused("422") }) {
                await Task.yield()
                entries = try outbox.entries()
            }
            #expect(entries.count == (hasLeft ? 1 : 0))
            for entry in entries { try outbox.remove(entry.id) }
        }
    }

    @Test func formSubmittedAfterACancelledFlushIsSent() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let runs = ScriptedRuns { operation, _ in operation.path == "/2" ? .init("second") : nil }
        let client = client(OutboxInterceptor(outbox), runs)
        let first = Task { await Result { try await client.run(.form(1)) } }
        let run = await runs.next()
        let flush = Task { try await outbox.flush(with: client) }
        while !outbox.state.withLock({ $0.runs.values.contains { $0.needsRecheck } }) { await Task.yield() }
        flush.cancel()
        let second = Task { await Result { try await client.run(.form(2)) } }
        while try outbox.entries().count < 2 { await Task.yield() }
        run.finish("first")
        #expect(await first.value.failure == nil)
        #expect(try await second.value.get().shown == "second")
        _ = await flush.result
    }

    // MARK: - The sender

    @Test func eachQueueHasItsOwnBackoff() async throws {
        defer { folder.remove() }
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let outbox = Outbox(directory: folder.path)
        let end = OutcomeInterceptor { operation in
            operation.path == "/1" ? .failure(.status(503, [.retryAfter: "60"])) : .failure(.refused)
        }
        let client = client(OutboxInterceptor(outbox), end)
        let backoff = Backoff(base: .seconds(4), cap: .seconds(4), maxServerDelay: .seconds(60))
        let sender = outbox.sendAutomatically(with: client, backoff: backoff)
        _ = await Result { try await client.run(.form(1)) }
        await clock.waitForSleepers(1)
        _ = await Result { try await client.run(.form(2, host: "other")) }
        await clock.waitForSleepers(2)
        let count = end.count("/1")
        // The backoff of one queue ends five times, that of the other never.
        for round in 1...5 {
            let before = end.count("/2")
            clock.advance(by: .seconds(4))
            while end.count("/2") == before { await Task.yield() }
            await clock.waitForSleepers(2)
            #expect(end.count("/1") == count, "\(round)")
        }
        withExtendedLifetime((sender, client)) {}
    }

    @Test func networkReturnDuringAFailingAttemptTriggersAnother() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(outbox), runs)
        let (returned, taken) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        let number = Lock(0)
        // A request for the second element shows that the first was handled.
        let network = AsyncStream<Void> {
            let isFirst = number.withLock { number in
                number += 1
                return number == 1
            }
            if !isFirst { taken.continuation.yield() }
            for await _ in returned.stream { return () }
            return nil
        }
        async let answer = client.run(.form(1))
        let doomed = await runs.next()
        let sender = outbox.sendAutomatically(with: client, whenNetworkReturns: network)
        returned.continuation.yield()
        for await _ in taken.stream { break }
        doomed.finish(.failure(.lost))
        let next = await runs.next()
        #expect(next.operation.sentKey == doomed.operation.sentKey)
        next.finish("ok")
        #expect(try await answer.shown == "ok")
        withExtendedLifetime((sender, client)) {}
    }

    @Test func releasingTheSenderCancelsASend() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1...1, in: outbox)
        let runs = ScriptedRuns()
        let client = client(OutboxInterceptor(outbox), runs)
        var sender: Outbox.Sender? = outbox.sendAutomatically(with: client)
        _ = await runs.next()
        withExtendedLifetime(sender) {}
        sender = nil
        while runs.cancels == 0 { await Task.yield() }
        #expect(folder.files.count == 1)
        withExtendedLifetime(client) {}
    }
}
