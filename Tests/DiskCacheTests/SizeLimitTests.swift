import BeagleNetCache
import BeagleNetHTTP
import Foundation
import GRDB
import Testing

@testable import BeagleNetDiskCache

@Suite(.timeLimit(.minutes(5))) struct SizeLimitTests {
    private let folder = StoreFolder()

    private func stored(_ store: DiskResponseStore, of count: Int) async throws -> [Int] {
        let entries = await store.entries().map(\.url)
        return (0..<count).filter { entries.contains("https://host/\($0)") }
    }

    private func insert(_ number: Int, bytes: Int, in store: DiskResponseStore) async {
        let response = StoredResponse(
            head: HTTPResponse(status: .ok),
            body: Data(count: bytes),
            url: "https://host/\(number)",
            requestTime: Date(timeIntervalSince1970: 1_700_000_000),
            responseTime: Date(timeIntervalSince1970: 1_700_000_000)
        )
        await store.insert(response, for: .test("/\(number)"))
        folder.advance(by: 1)
    }

    @Test(arguments: [false, true]) func leastRecentlyUsedResponsesAreEvicted(areLarge: Bool) async throws {
        let bytes = areLarge ? 101_000 : 3_000
        let store = try folder.open(maxBytes: areLarge ? 20 * 102_400 : 20 * 4_096)
        for number in 0..<20 { await insert(number, bytes: bytes, in: store) }
        #expect(store.statistics().bytes == store.maxBytes)
        folder.advance(by: 60)
        #expect(await store.responses(for: .test("/0")).count == 1)
        await insert(20, bytes: bytes, in: store)
        #expect(try await stored(store, of: 21) == [0] + Array(4...20), "nine tenths of the limit")
        #expect(store.statistics().bytes == store.maxBytes / 10 * 9)
        #expect(try folder.bodies.count == (areLarge ? 18 : 0))
    }

    @Test func useIsNotedOnceInAMinute() async throws {
        let store = try folder.open()
        await insert(0, bytes: 1, in: store)
        func used() async throws -> Int64? {
            // Waits for earlier writes.
            await store.remove(.test("/other"))
            return try await store.currentDatabase.pool.read { try ResponseTable(db: $0).row(1)?.used }
        }
        let first = try await used()
        folder.advance(by: 58)
        _ = await store.responses(for: .test("/0"))
        #expect(try await used() == first)
        folder.advance(by: 1)
        _ = await store.responses(for: .test("/0"))
        #expect(try await used() == first.map { $0 + 60_000 })
    }

    @Test func limitHoldsAfterEachInsertion() async throws {
        let store = try folder.open(maxBytes: 2 << 20)
        var generator = SystemRandomNumberGenerator()
        for number in 0..<150 {
            let isLarge = Int.random(in: 0..<4, using: &generator) == 0
            let bytes = Int.random(in: isLarge ? 70_000..<500_000 : 0..<60_000, using: &generator)
            await insert(number, bytes: bytes, in: store)
            let files = try folder.bodies.reduce(0) { try $0 + folder.contents($1).count }
            #expect(store.statistics().bytes <= store.maxBytes)
            #expect(files <= store.maxBytes)
        }
        #expect(folder.problems == [])
        let counts = await store.verify()
        #expect(counts.removed == 0)
        #expect(counts.checked == store.statistics().count)
    }

    /// Space that one kind of body has used is available for the other.
    @Test func diskSpaceIsReused() async throws {
        let store = try folder.open(maxBytes: 8 << 20)
        for number in 0..<200 { await insert(number, bytes: 60_000, in: store) }
        for number in 200..<300 { await insert(number, bytes: 200_000, in: store) }
        let pages = try await store.currentDatabase.pool.write { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        let files = try folder.bodies.reduce(0) { try $0 + folder.contents($1).count }
        #expect(pages * 4_096 + files <= store.maxBytes / 100 * 105)
    }

    @Test func responseOfMoreThanAQuarterIsRemoved() async throws {
        let store = try folder.open(maxBytes: 100_000)
        #expect(store.accepts(.test(), byteCount: 25_000))
        #expect(!store.accepts(.test(), byteCount: 25_001))
        await store.insert(.test(bytes: 20_000), for: .test())
        await store.insert(.test(bytes: 25_001), for: .test())
        #expect(await store.responses(for: .test()).isEmpty, "an older one doesn't stay in its place")
    }

    @Test(arguments: [0, -1, 4_096]) func noRoomStoresNothing(maxBytes: Int) async throws {
        let store = try folder.open(maxBytes: maxBytes)
        await store.insert(.test(bytes: 2_000), for: .test())
        #expect(store.statistics().count == 0)
    }

    @Test func smallerLimitEvictsAtOpening() async throws {
        do {
            let store = try folder.open()
            for number in 0..<10 { await insert(number, bytes: 100_000, in: store) }
        }
        let store = try folder.open(maxBytes: 500_000)
        #expect(try await stored(store, of: 10) == [6, 7, 8, 9])
        #expect(try folder.bodies.count == 4)
    }
}
