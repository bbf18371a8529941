import BeagleNetCache
import BeagleNetHTTP
import Foundation
import Testing

/// A store that stands for a disk. Reading can be held up.
private final class SlowStore: ResponseStore {
    private let store = MemoryResponseStore(maxBytes: 1 << 20)
    private let onRead = Lock<(@Sendable () async -> Void)?>(nil)

    func accepts(_ key: ResponseKey, byteCount: Int) -> Bool { store.accepts(key, byteCount: byteCount) }

    func digest(_ value: String) -> String { "digest of \(value)" }

    /// Runs a closure after the next read, before its result is returned.
    func afterNextRead(_ work: @escaping @Sendable () async -> Void) { onRead.withLock { $0 = work } }

    func responses(for key: ResponseKey) async -> [StoredResponse] {
        let responses = store.responses(for: key)
        let work = onRead.withLock { work in
            defer { work = nil }
            return work
        }
        await work?()
        return responses
    }

    func insert(_ response: StoredResponse, for key: ResponseKey) async { store.insert(response, for: key) }
    func remove(_ key: ResponseKey) async { store.remove(key) }
    func removeAll(ofOriginOf key: ResponseKey) async { store.removeAll(ofOriginOf: key) }
    func removeAll(of partition: String) async { store.removeAll(of: partition) }
    func removeAll() async { store.removeAll() }
}

@Suite(.timeLimit(.minutes(5))) struct TieredResponseStoreTests {
    private let memory = MemoryResponseStore(maxBytes: 40_000)
    private let disk = SlowStore()
    private let store: TieredResponseStore
    private let key = ResponseKey(scheme: "https", authority: "host", target: "/", partition: "user")
    private let passing = ResponseKey(scheme: "https", authority: "host", target: "/", account: 1)

    init() {
        store = TieredResponseStore(memory: memory, disk: disk)
    }

    private func response(_ text: String, bytes: Int = 0, language: String? = nil, time: Double = 0) -> StoredResponse {
        StoredResponse(
            head: HTTPResponse(status: .ok),
            body: Data(text.utf8) + Data(count: bytes),
            selectingFields: language.map { [StoredResponse.SelectingField(name: "accept-language", value: $0)] } ?? [],
            requestTime: Date(timeIntervalSince1970: time),
            responseTime: Date(timeIntervalSince1970: time)
        )
    }

    private func texts(_ responses: [StoredResponse]) -> [String] {
        responses.map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test func newResponsesGoToBothTiers() async {
        await store.insert(response("a"), for: key)
        #expect(texts(memory.responses(for: key)) == ["a"])
        #expect(texts(await disk.responses(for: key)) == ["a"])
        #expect(store.memory === memory)
        #expect(store.digest("a") == "digest of a")
    }

    @Test func readingFillsTheMemory() async {
        await disk.insert(response("a"), for: key)
        #expect(texts(await store.responses(for: key)) == ["a"])
        #expect(texts(memory.responses(for: key)) == ["a"])
    }

    @Test func keysThatArentPersistentStayInMemory() async {
        await store.insert(response("a"), for: passing)
        #expect(texts(await store.responses(for: passing)) == ["a"])
        #expect(await disk.responses(for: passing).isEmpty)
        #expect(store.accepts(passing, byteCount: 8_000))
        #expect(!store.accepts(passing, byteCount: 100_000))
        #expect(store.accepts(key, byteCount: 100_000), "the disk does")
    }

    @Test func variantsOfBothTiersAreFound() async {
        await disk.insert(response("german", language: "de"), for: key)
        memory.insert(response("french", language: "fr"), for: key)
        #expect(Set(texts(await store.responses(for: key))) == ["german", "french"])
        await disk.insert(response("newer", language: "fr", time: 10), for: key)
        #expect(Set(texts(await store.responses(for: key))) == ["german", "newer"])
        #expect(Set(texts(memory.responses(for: key))) == ["german", "newer"])
    }

    @Test func responseThatIsTooLargeForTheMemoryIsOnTheDisk() async {
        await store.insert(response("a"), for: key)
        await store.insert(response("b", bytes: 20_000), for: key)
        #expect(memory.responses(for: key).isEmpty)
        #expect(await store.responses(for: key).map(\.body.count) == [20_001])
    }

    @Test func responseThatIsTooLargeForTheDiskReplacesAnOlderOne() async {
        await store.insert(response("a"), for: key)
        await store.insert(response("b", bytes: 500_000), for: key)
        #expect(await store.responses(for: key).isEmpty)
    }

    /// A signed-out user's response doesn't come back into memory.
    @Test(arguments: 0..<4) func responseThatIsRemovedWhileItIsReadStaysRemoved(removal: Int) async {
        await disk.insert(response("a"), for: key)
        disk.afterNextRead { [store, key] in
            switch removal {
            case 0: await store.remove(key)
            case 1: await store.removeAll(ofOriginOf: key)
            case 2: await store.removeAll(of: "user")
            default: await store.removeAll()
            }
        }
        _ = await store.responses(for: key)
        #expect(memory.responses(for: key).isEmpty)
        #expect(await store.responses(for: key).isEmpty)
    }
}
