@testable import BeagleNet
import BeagleNetTesting
import Foundation
import Testing

@Suite(.beagle(), .timeLimit(.minutes(1))) struct OutboxKeepingTests {
    private let folder = OutboxFolder()
    private let key = ["Idempotency-Key": "k"]

    /// Submits a form that nobody answers.
    @discardableResult
    private func keep(
        _ number: Int,
        in outbox: Outbox,
        headers: [String: String] = [:],
        _ change: (inout NetworkOperation) -> Void = { _ in }
    ) async -> NetworkError? {
        var form = NetworkOperation.form(number, headers: headers)
        change(&form)
        let client = client(OutboxInterceptor(outbox), Answers(.failure(.refused)))
        return await Result { [form] in try await client.run(form) }.failure
    }

    private func flush(_ outbox: Outbox) async throws -> Outbox.Report {
        try await outbox.flush(with: client(OutboxInterceptor(outbox), Answers(.success(.init("ok")))))
    }

    // MARK: - Files

    @Test func whatAKilledProcessLeftHalfWrittenIsNotInTheWayOfTheSame() async throws {
        defer { folder.remove() }
        await keep(1, in: Outbox(directory: folder.path), headers: key)
        let path = "\(folder.path)/\(folder.files[0])"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".part")
        #expect(await keep(1, in: Outbox(directory: folder.path), headers: key)?.isKept == true)
        #expect(folder.files.count == 1)
    }

    @Test func allThatSendingNeedsIsThereWithTheFirstEntry() async throws {
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

    // MARK: - What is no entry

    @Test func damageIsToldToTheNextFlushWhoeverFoundIt() async throws {
        defer { folder.remove() }
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let first = Outbox(directory: folder.path)
        for number in 1...2 { await keep(number, in: first) }
        for name in folder.files { try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/\(name)")) }
        let outbox = Outbox(directory: folder.path)
        #expect(try outbox.look().damages.count == 2)
        #expect(folder.files.count == 2)
        let answering = client(OutboxInterceptor(outbox), Answers(.success(.init("ok"))))
        #expect(try await answering.run(.form(3)).shown == "ok")
        #expect(logger.messages.filter { $0.contains("is damaged") && $0.contains("/damaged/") }.count == 2)
        #expect(try outbox.entries() == [])
        #expect(try await flush(outbox).damages.map(\.kind) == [.decoding, .decoding])
        #expect(try await flush(outbox).damages.isEmpty)
        #expect(try outbox.look().damages.map(\.kind) == [.decoding, .decoding])
    }

    @Test func aFileOfANewerFormatStaysWhereItIs() async throws {
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

    @Test func whatCannotBeReadHoldsUpNothing() async throws {
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
        #expect(try !outbox.files.hasNews())
        #expect(await keep(2, in: outbox)?.isKept == true)
    }

    @Test func theSameIsWrittenAnewWhereItWasDamaged() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1, in: outbox, headers: key)
        try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/\(folder.files[0])"))
        #expect(await keep(1, in: outbox, headers: key)?.isKept == true)
        #expect(folder.files.count == 1)
        #expect(folder.names("\(folder.path)/damaged").count == 1)
        let report = try await flush(outbox)
        #expect(report.delivered.count == 1 && report.damages.count == 1)
    }

    // MARK: - The same again

    @Test func whatIsToDifferFromTheSameMessageIsAnotherMessage() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        await keep(1, in: outbox, headers: key)
        #expect(await keep(1, in: outbox, headers: key)?.isKept == true)
        #expect(try outbox.entries().count == 1)
        #expect(await keep(1, in: outbox, headers: key) { $0.outbox = .queue("other") }?.kind == .badRequest)
        #expect(await keep(1, in: outbox, headers: ["Idempotency-Key": "k", "X-Trace": "7"])?.kind == .badRequest)
        #expect(await keep(1, in: outbox, headers: key) { $0.partition = "Eve" }?.isKept == true)
        #expect(try outbox.entries().count == 2)
    }
}
