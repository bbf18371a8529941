import BeagleNetCache
import BeagleNetHTTP
import Foundation
import GRDB
import Testing

@testable import BeagleNetDiskCache

@Suite(.timeLimit(.minutes(5))) struct InspectionTests {
    private let folder = StoreFolder()

    private func open(_ path: String? = nil) throws(NetworkError) -> DiskResponseStore {
        try DiskResponseStore(existing: path ?? folder.path)
    }

    @Test func storeThatDoesNotExistIsNotCreated() throws {
        let error = #expect(throws: NetworkError.self) { try open() }
        #expect(error?.kind == .file)
        #expect(error?.message.contains("there are no stored responses in \(folder.path)") == true)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        #expect(throws: NetworkError.self) { try open() }
        #expect(try folder.names == [])
    }

    @Test func nothingIsEvictedFromALargerStore() async throws {
        do {
            let store = try folder.open(maxBytes: 1 << 30)
            for number in 0..<5 { await store.insert(.test(bytes: 40 << 20), for: .test("/\(number)")) }
            #expect(store.statistics().count == 5)
        }
        let store = try open()
        #expect(store.statistics().count == 5)
        #expect(await store.entries().count == 5)
    }

    @Test func damagedDatabaseIsReportedAndStays() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        let bytes = Data(repeating: UInt8(ascii: "x"), count: 10_000)
        try folder.write(bytes, "responses.sqlite")
        let error = #expect(throws: NetworkError.self) { try open() }
        #expect(error?.kind == .decoding)
        #expect(try folder.contents("responses.sqlite") == bytes)
        #expect(try !folder.names.contains { $0.contains("corrupt") })
    }

    @Test func databaseOfANewerVersionIsNotSupported() throws {
        do { _ = try folder.open() }
        try folder.execute("PRAGMA user_version = 99")
        #expect(#expect(throws: NetworkError.self) { try open() }?.kind == .unsupported)
    }

    @Test func entriesAreCompleteOrNot() async throws {
        let store = try folder.open()
        await store.insert(.test("whole", fields: [.contentLength: "5"]), for: .test("/a"))
        await store.insert(.test("part", fields: [.contentLength: "5"]), for: .test("/b"))
        await store.insert(.test("coded", fields: [.contentLength: "9", .contentEncoding: "gzip"]), for: .test("/c"))
        await store.insert(.test("unknown"), for: .test("/d"))
        #expect(await store.entries().map(\.isComplete) == [true, false, true, true])
        #expect(await store.entries().first?.responseTime == Date(timeIntervalSince1970: 1_700_000_001))
    }

    @Test func spaceIsReturned() async throws {
        let store = try folder.open()
        for number in 0..<200 { await store.insert(.test(bytes: 60 << 10), for: .test("/\(number)")) }
        await store.finishWriting()
        let before = try #require(size)
        await store.removeAll()
        await store.finishReturningSpace()
        #expect(try #require(size) < before / 10)
    }

    /// The size of the database's file.
    private var size: Int? {
        get throws {
            let path = "\(folder.path)/responses.sqlite"
            return (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue
        }
    }
}
