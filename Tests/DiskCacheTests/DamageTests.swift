import BeagleNetCache
import BeagleNetHTTP
import Foundation
import GRDB
import Testing

@testable import BeagleNetDiskCache

@Suite(.timeLimit(.minutes(5))) struct DamageTests {
    private let folder = StoreFolder()

    enum Change: CaseIterable {
        case missing, truncated, longer, altered, link
    }

    @Test(arguments: Change.allCases) func damagedFileIsAMissAndRemoved(change: Change) async throws {
        let store = try folder.open()
        await store.insert(.test(bytes: 70_000), for: .test())
        await store.insert(.test(), for: .test("/other"))
        let name = try #require(try folder.bodies.first)
        var body = try folder.contents(name)
        switch change {
        case .missing, .link: try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
        case .truncated: try folder.write(body.dropLast(), name)
        case .longer: try folder.write(body + [0], name)
        case .altered:
            body[35_000] ^= 1
            try folder.write(body, name)
        }
        if change == .link {
            try folder.write(body, "target")
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/\(name)",
                withDestinationPath: "\(folder.path)/target"
            )
        }
        #expect(await store.responses(for: .test()).isEmpty)
        await store.remove(.test("/another"))
        #expect(folder.problems.count == 1)
        #expect(folder.problems.allSatisfy { $0.contains("damaged") })
        #expect(try folder.bodies == [])
        #expect(store.statistics().count == 1)
        #expect(await store.responses(for: .test()).isEmpty)
        #expect(folder.problems.count == 1)
        await store.insert(.test("new"), for: .test())
        #expect(await store.texts(.test()) == ["new"])
    }

    private static let changes = ["body = x'00'", "body = NULL", "body_bytes = 5", "head = body", "selecting = '{'"]

    @Test(arguments: changes)
    func damagedRowIsAMissAndRemoved(change: String) async throws {
        do {
            let store = try folder.open()
            await store.insert(.test(), for: .test())
        }
        try folder.execute("UPDATE response SET \(change)")
        let store = try folder.open()
        #expect(await store.responses(for: .test()).isEmpty)
        await store.remove(.test("/another"))
        #expect(folder.problems.count == 1)
        #expect(store.statistics().count == 0)
    }

    /// It was removed together with its row.
    @Test func fileThatAnotherStoreRemovesIsNoProblem() async throws {
        let (one, two) = (try folder.open(), try folder.open())
        await one.insert(.test(bytes: 70_000), for: .test())
        let database = one.currentDatabase
        let rows = try await database.pool.read { try ResponseTable(db: $0).rows(after: 0, limit: 1) }
        await two.remove(.test())
        let row = try #require(rows.first)
        #expect(throws: NetworkError.self) { try one.contents(of: row) }
        #expect(!one.discard(row, .damagedResponse(""), database))
        #expect(folder.problems == [])
    }

    @Test func corruptDatabaseIsMovedAside() async throws {
        do {
            let store = try folder.open()
            await store.insert(.test(), for: .test())
        }
        for round in 1...2 {
            try folder.write(Data(repeating: 7, count: 20_000), "responses.sqlite")
            let store = try folder.open()
            #expect(await store.texts(.test()) == [])
            await store.insert(.test("new"), for: .test())
            #expect(await store.texts(.test()) == ["new"])
            #expect(folder.problems.count == round)
            #expect(folder.problems.allSatisfy { $0.contains("moved to") })
            #expect(try folder.names.count { $0.contains("corrupt") } == 1, "only the last one stays")
            #expect(try folder.mode("responses.sqlite") == 0o600)
        }
        try await folder.open().removeAll(of: "user")
        #expect(try folder.names.count { $0.contains("corrupt") } == 0, "it may have the user's responses")
    }

    @Test(arguments: ["PRAGMA user_version = 2", "PRAGMA user_version = 0", "DROP TABLE store", "DELETE FROM store"])
    func databaseOfAnotherKindIsMovedAside(change: String) async throws {
        do {
            let store = try folder.open()
            await store.insert(.test(), for: .test())
        }
        try folder.execute(change)
        let store = try folder.open()
        #expect(folder.problems.count == 1)
        #expect(try folder.names.count { $0.contains("corrupt") } == 1)
        await store.insert(.test("new"), for: .test())
        #expect(await store.texts(.test()) == ["new"])
    }

    @Test func databaseThatTurnsOutToBeCorruptIsReplaced() async throws {
        do {
            let store = try folder.open()
            for number in 0..<50 { await store.insert(.test(bytes: 10_000), for: .test("/\(number)")) }
            await store.finishWriting()
        }
        // The store may be released later; until then, the pages may be in the write-ahead log only.
        try folder.checkpoint()
        // The first page stays as it is.
        var bytes = try folder.contents("responses.sqlite")
        bytes.replaceSubrange(4_096..., with: Data(repeating: 7, count: bytes.count - 4_096))
        try folder.write(bytes, "responses.sqlite")
        let store = try folder.open()
        for number in 0..<50 {
            let responses = await store.responses(for: .test("/\(number)"))
            #expect(responses.isEmpty)
        }
        await store.insert(.test("first"), for: .test())
        await store.insert(.test("second"), for: .test())
        #expect(await store.texts(.test()) == ["second"])
        #expect(try folder.names.count { $0.contains("corrupt") && !$0.hasSuffix("l") && !$0.hasSuffix("m") } == 1)
        #expect(folder.problems.contains { $0.contains("moved to") })
    }

    @Test func folderThatWasRemovedIsCreatedAgain() async throws {
        let store = try folder.open()
        await store.insert(.test(), for: .test())
        try FileManager.default.removeItem(atPath: folder.path)
        await store.insert(.test("new"), for: .test())
        #expect(await store.texts(.test()) == ["new"])
        let other = try folder.open()
        #expect(await other.texts(.test()) == ["new"])
    }

    @Test func folderThatCantBeWrittenIsAnError() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "disk-cache-\(UUID().uuidString)").path
        try Data().write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        for path in [file, "\(file)/below"] {
            let error = #expect(throws: NetworkError.self) { try DiskResponseStore(folder: path) }
            #expect(error?.kind == .file)
            #expect(error?.message.contains(path) == true)
        }
    }

    @Test func folderThatCannotBeWrittenIsAnError() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
        // Root may write to a read-only folder, but not everywhere.
        let path = getuid() == 0 ? "/proc/self" : folder.path
        let error = #expect(throws: NetworkError.self) { try DiskResponseStore(folder: path) }
        #expect(error?.kind == .file)
        #expect(error?.message.contains(path) == true)
    }

    @Test func writeThatFailsIsReportedAndReadingGoesOn() async throws {
        let store = try folder.open(busyTimeout: 0.01)
        await store.insert(.test(), for: .test())
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: "\(folder.path)/responses.sqlite", configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        folder.advance(by: 100)
        #expect(await store.texts(.test()) == ["body"])
        await store.insert(.test("new"), for: .test("/small"))
        await store.insert(.test(bytes: 70_000), for: .test("/large"))
        #expect(folder.problems.count >= 3)
        #expect(folder.problems.allSatisfy { $0.contains("locked") })
        #expect(try folder.bodies == [])
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        await store.insert(.test("new"), for: .test("/small"))
        #expect(await store.texts(.test("/small")) == ["new"])
    }

    @Test func fullDiskIsReportedAndReadingGoesOn() async throws {
        let store = try folder.open()
        await store.insert(.test(), for: .test())
        try await store.currentDatabase.pool.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 1)")
        }
        await store.insert(.test(bytes: 60_000), for: .test("/large"))
        #expect(folder.problems.count == 1)
        #expect(folder.problems.allSatisfy { $0.contains("full") })
        #expect(await store.texts(.test()) == ["body"])
        #expect(await store.texts(.test("/large")) == [])
    }

    @Test func unusedFilesAreRemovedAtOpening() async throws {
        do {
            let store = try folder.open()
            await store.insert(.test(bytes: 70_000), for: .test())
        }
        let used = try #require(try folder.bodies.first)
        let unused = ["\(String(repeating: "a", count: 32)).body", "x.body.1.part"]
        for name in unused + ["notes.txt"] { try folder.write(Data([1]), name) }
        _ = try folder.open()
        #expect(try folder.names.filter { unused.contains($0) }.count == 2, "they may be being written")
        for name in try folder.names {
            let attributes: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSinceNow: -4_000)]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: "\(folder.path)/\(name)")
        }
        _ = try folder.open()
        #expect(try folder.names.filter { unused.contains($0) } == [])
        #expect(try folder.names.contains("notes.txt"))
        #expect(try folder.bodies == [used])
    }

    @Test func verifyRemovesDamagedResponses() async throws {
        let store = try folder.open()
        for number in 0..<150 { await store.insert(.test("\(number)"), for: .test("/\(number)")) }
        await store.insert(.test(bytes: 70_000), for: .test())
        try await store.currentDatabase.pool.write { db in
            try db.execute(sql: "UPDATE response SET body = 'x' WHERE id % 50 = 1 AND file IS NULL")
        }
        try folder.write(Data(count: 70_000), try #require(try folder.bodies.first))
        #expect(await store.verify() == .init(checked: 151, removed: 4))
        #expect(folder.problems.count == 4)
        #expect(await store.verify() == .init(checked: 147, removed: 0))
        #expect(try folder.bodies == [])
    }
}
