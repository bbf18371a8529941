import BeagleNetCache
import BeagleNetHTTP
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct MemoryResponseStoreTests {
    private let keys = (0..<64).map { ResponseKey(scheme: "http", authority: "host", target: "/\($0)") }

    private func response(
        _ bytes: Int,
        fields: HTTPFields = [:],
        trailers: HTTPFields = [:],
        for language: String? = nil
    ) -> StoredResponse {
        StoredResponse(
            head: HTTPResponse(status: .ok, headerFields: fields),
            body: Data(count: bytes),
            trailers: trailers,
            selectingFields: language.map { [StoredResponse.SelectingField(name: "accept-language", value: $0)] } ?? [],
            requestTime: Date(),
            responseTime: Date()
        )
    }

    private func stored(_ store: MemoryResponseStore, of count: Int) -> [Int] {
        (0..<count).filter { !store.responses(for: keys[$0]).isEmpty }
    }

    @Test func leastRecentlyUsedResponseIsEvictedFirst() {
        let store = MemoryResponseStore(maxEntries: 3)
        for key in keys[0..<3] { store.insert(response(1), for: key) }
        _ = store.responses(for: keys[0])
        store.insert(response(1), for: keys[3])
        #expect(stored(store, of: 5) == [0, 2, 3])
        store.insert(response(1), for: keys[4])
        #expect(stored(store, of: 5) == [2, 3, 4])
        #expect(store.count == 3)
    }

    @Test func bytesAreLimited() {
        let store = MemoryResponseStore(maxBytes: 40_000)
        for key in keys[0..<4] { store.insert(response(8_976), for: key) }
        #expect(store.bytes == 40_000)
        store.insert(response(1), for: keys[4])
        #expect(stored(store, of: 6) == [1, 2, 3, 4])
        #expect(store.bytes == 3 * 10_000 + 1_025)
        store.insert(response(8_977), for: keys[5])
        #expect(stored(store, of: 6) == [1, 2, 3, 4], "more than a quarter")
        store.insert(response(8_977), for: keys[1])
        #expect(stored(store, of: 6) == [2, 3, 4], "an older one doesn't stay in its place")
        store.removeAll()
        #expect(store.bytes == 0)
        #expect(store.count == 0)
    }

    /// A head and trailers may be as long as bodies.
    @Test func fieldsCount() {
        let fields: HTTPFields = [.eTag: String(repeating: "a", count: 8_976)]
        for (head, trailers) in [(fields, HTTPFields()), (HTTPFields(), fields)] {
            let store = MemoryResponseStore(maxBytes: 4 * 10_004)
            store.insert(response(0, fields: head, trailers: trailers), for: keys[0])
            #expect(store.bytes == 10_004)
            store.insert(response(1, fields: head, trailers: trailers), for: keys[0])
            #expect(store.count == 0, "more than a quarter")
        }
    }

    @Test func newerResponseReplacesAnOlderOneWithTheSameSelectingFields() {
        let store = MemoryResponseStore()
        for bytes in [3, 1, 2] { store.insert(response(bytes, for: "de"), for: keys[0]) }
        #expect(store.responses(for: keys[0]).map(\.body.count) == [2])
        store.insert(response(5, for: "fr"), for: keys[0])
        #expect(store.responses(for: keys[0]).map(\.body.count) == [2, 5])
        #expect(store.bytes == 7 + 2 * 1_024)
        store.remove(keys[0])
        #expect(store.responses(for: keys[0]).isEmpty)
        #expect(store.bytes == 0)
    }

    @Test func oneURLHasEightVariantsAtMost() {
        let store = MemoryResponseStore()
        for number in 0..<20 { store.insert(response(1, for: "\(number)"), for: keys[0]) }
        #expect(store.responses(for: keys[0]).map(\.selectingFields[0].value) == (12..<20).map { "\($0)" })
    }

    @Test(arguments: [(0, 10), (1 << 20, 0), (-1, -1)]) func noRoomStoresNothing(maxBytes: Int, maxEntries: Int) {
        let store = MemoryResponseStore(maxBytes: maxBytes, maxEntries: maxEntries)
        store.insert(response(1), for: keys[0])
        #expect(store.count == 0)
        #expect(!store.accepts(keys[0], byteCount: 1))
    }

    @Test func usersAndOriginsAreRemovedSeparately() {
        func key(_ scheme: String, _ partition: String) -> ResponseKey {
            ResponseKey(scheme: scheme, authority: "host", target: "/", partition: partition)
        }
        let all = ["http", "https"].flatMap { scheme in ["", "A", "B"].map { key(scheme, $0) } }
        let store = MemoryResponseStore()
        for key in all { store.insert(response(1), for: key) }
        store.removeAll(of: "A")
        #expect(all.map { store.responses(for: $0).isEmpty } == all.map { $0.partition == "A" })
        store.removeAll(ofOriginOf: key("https", "B"))
        #expect(store.count == 3)
        #expect(store.responses(for: key("https", "B")).isEmpty)
        #expect(store.bytes == 3 * 1_025)
    }

    @Test func anyOrderOfCallsGivesTheResultOfAPlainList() {
        let store = MemoryResponseStore(maxEntries: 5)
        var model: [Int] = []
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let one = Int.random(in: 0..<12, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                store.remove(keys[one])
                model.removeAll { $0 == one }
            case 1...4:
                let isThere = !store.responses(for: keys[one]).isEmpty
                #expect(isThere == model.contains(one))
                if isThere { model = model.filter { $0 != one } + [one] }
            default:
                store.insert(response(1), for: keys[one])
                model = model.filter { $0 != one } + [one]
                model = model.suffix(5)
            }
            #expect(store.count == model.count)
        }
        #expect(stored(store, of: 12) == model.sorted())
    }

    @Test func concurrentUseKeepsTheLimits() async {
        let store = MemoryResponseStore(maxEntries: 16)
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<8 {
                group.addTask {
                    for round in 0..<500 {
                        store.insert(response(0), for: keys[(part * 7 + round) % 64])
                        _ = store.responses(for: keys[(part + round * 3) % 64])
                    }
                }
            }
        }
        #expect(store.count == 16)
        #expect(store.bytes == 16 * 1_024)
    }
}
