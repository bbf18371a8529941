import BeagleNetCache
import BeagleNetHTTP
import Foundation
import GRDB
import Testing

@testable import BeagleNetDiskCache

@Suite(.timeLimit(.minutes(5))) struct DiskResponseStoreTests {
    private let folder = StoreFolder()

    @Test func responseOutlivesItsStore() async throws {
        let name = try #require(HTTPField.Name("x-bytes"))
        var fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=60, no-cache=\"a\"", .vary: "accept"]
        fields.append(HTTPField(name: .contentLanguage, value: "<a>"))
        fields.append(HTTPField(name: .contentLanguage, value: "<b>"))
        fields.append(HTTPField(name: name, value: [0x61, 0xFF, 0xC3]))
        let key = ResponseKey.test("/a?b")
        do {
            let store = try folder.open()
            let response = StoredResponse(
                head: HTTPResponse(status: .init(code: 203, reasonPhrase: "Gut"), headerFields: fields),
                body: Data([0, 1, 255]),
                trailers: [.date: "x"],
                url: "https://host/a?b",
                selectingFields: [
                    StoredResponse.SelectingField(name: "accept", value: store.digest("a")),
                    StoredResponse.SelectingField(name: "cookie", value: nil),
                ],
                isRedirected: true,
                requestTime: Date(timeIntervalSince1970: 1_700_000_000.123),
                responseTime: Date(timeIntervalSince1970: 1_700_000_000.456)
            )
            await store.insert(response, for: key)
        }
        let store = try folder.open()
        let responses = await store.responses(for: key)
        let response = try #require(responses.first)
        #expect(responses.count == 1)
        #expect(response.head.status.code == 203)
        #expect(response.head.status.reasonPhrase == "Gut")
        #expect(response.head.headerFields == fields)
        let value = response.head.headerFields[fields: name].first?.withUnsafeBytesOfValue { Array($0) }
        #expect(value == [0x61, 0xFF, 0xC3])
        #expect(response.body == Data([0, 1, 255]))
        #expect(response.trailers == [.date: "x"])
        #expect(response.url == "https://host/a?b")
        #expect(response.isRedirected)
        #expect(response.selectingFields.map(\.name) == ["accept", "cookie"])
        #expect(response.selectingFields.map(\.value) == [store.digest("a"), nil])
        #expect(response.requestTime.timeIntervalSince1970 == 1_700_000_000.123)
        #expect(response.responseTime.timeIntervalSince1970 == 1_700_000_000.456)
        #expect(folder.problems == [])
    }

    /// Large ones are in files.
    @Test(arguments: [0, 1, 64 << 10, (64 << 10) + 1, 3 << 20]) func bodiesOfAllSizes(bytes: Int) async throws {
        let store = try folder.open()
        await store.insert(.test(bytes: bytes), for: .test())
        #expect(try folder.bodies.count == (bytes > 64 << 10 ? 1 : 0))
        #expect(await store.responses(for: .test()).first?.body == Data(repeating: UInt8(ascii: "x"), count: bytes))
        await store.insert(.test("short"), for: .test())
        #expect(await store.texts(.test()) == ["short"])
        #expect(try folder.bodies == [])
        #expect(try folder.names.allSatisfy { !$0.hasSuffix(".part") })
    }

    @Test func everyPartOfAKeyCounts() async throws {
        let store = try folder.open()
        func key(_ parts: [String], body: Data? = nil) -> ResponseKey {
            ResponseKey(
                method: parts[0],
                scheme: parts[1],
                authority: parts[2],
                target: parts[3],
                body: body,
                partition: parts[4]
            )
        }
        var keys = [key(["GET", "https", "host", "/", ""]), key(["GET", "https", "host", "/", ""], body: Data())]
        keys.append(key(["GET", "https", "host", "/", ""], body: Data("a".utf8)))
        for place in 0..<5 {
            var parts = ["GET", "https", "host", "/", ""]
            parts[place] += "a"
            keys.append(key(parts))
        }
        keys.append(key(["GET", "https", "hos", "t/", ""]))
        for (number, key) in keys.enumerated() { await store.insert(.test("\(number)"), for: key) }
        for (number, key) in keys.enumerated() { #expect(await store.texts(key) == ["\(number)"]) }
    }

    @Test func newerResponseReplacesAnOlderOneWithTheSameSelectingFields() async throws {
        let store = try folder.open()
        func response(_ text: String, _ language: String?) -> StoredResponse {
            .test(
                text,
                selecting: [StoredResponse.SelectingField(name: "accept-language", value: language.map(store.digest))]
            )
        }
        for text in ["1", "2"] { await store.insert(response(text, "de"), for: .test()) }
        await store.insert(response("3", nil), for: .test())
        await store.insert(response("4", "fr"), for: .test())
        #expect(await store.texts(.test()) == ["2", "3", "4"])
        await store.insert(response("5", "de"), for: .test())
        #expect(await store.texts(.test()) == ["3", "4", "5"])
        await store.remove(.test())
        #expect(await store.texts(.test()) == [])
        #expect(store.statistics().bytes == 0)
    }

    @Test func oneURLHasEightVariantsAtMost() async throws {
        let store = try folder.open()
        for number in 0..<20 {
            let field = StoredResponse.SelectingField(name: "accept", value: store.digest("\(number)"))
            await store.insert(.test("\(number)", selecting: [field]), for: .test())
        }
        #expect(await store.texts(.test()) == (12..<20).map { "\($0)" })
    }

    @Test func digestsBelongToOneFolder() throws {
        let other = StoreFolder()
        let (store, again) = (try folder.open(), try folder.open())
        let foreign = try other.open()
        #expect(store.digest("a") == again.digest("a"))
        #expect(store.digest("a") != store.digest("b"))
        #expect(store.digest("a") != foreign.digest("a"))
        #expect(store.digest("a").count == 64)
    }

    @Test func usersAndOriginsAreRemovedSeparately() async throws {
        let store = try folder.open()
        let hosts = ["one", "two"]
        let all = hosts.flatMap { host in ["", "A", "B"].map { ResponseKey.test(host: host, partition: $0) } }
        func remaining() async -> [ResponseKey] {
            var keys: [ResponseKey] = []
            for key in all where await !store.texts(key).isEmpty { keys.append(key) }
            return keys
        }
        for key in all { await store.insert(.test(bytes: 70_000), for: key) }
        await store.removeAll(of: "A")
        #expect(await remaining() == all.filter { $0.partition != "A" })
        await store.removeAll(ofOriginOf: .test("/other", host: "two", partition: "B"))
        #expect(await remaining().count == 3)
        #expect(try folder.bodies.count == 3)
        await store.removeAll()
        #expect(await remaining() == [])
        #expect(try folder.bodies == [])
        #expect(store.statistics().bytes == 0)
    }

    @Test func keysThatArentPersistentAreNeitherStoredNorFound() async throws {
        let store = try folder.open()
        let key = ResponseKey.test(account: 1)
        #expect(!store.accepts(key, byteCount: 1))
        await store.insert(.test(), for: key)
        #expect(await store.texts(key) == [])
        #expect(store.statistics().count == 0)
        await store.insert(.test(), for: .test())
        await store.remove(key)
        await store.removeAll(ofOriginOf: key)
        #expect(await store.texts(.test()) == ["body"])
    }

    @Test func twoStoresShareAFolder() async throws {
        let (one, two) = (try folder.open(), try folder.open())
        await one.insert(.test("1"), for: .test("/1"))
        #expect(await two.texts(.test("/1")) == ["1"])
        await withTaskGroup(of: Void.self) { group in
            for (number, store) in [one, two, one, two].enumerated() {
                group.addTask {
                    for round in 0..<25 {
                        let key = ResponseKey.test("/\(number)/\(round)")
                        await store.insert(.test("\(number) \(round)", bytes: round % 5 == 0 ? 70_000 : nil), for: key)
                        _ = await store.responses(for: key)
                    }
                }
            }
        }
        #expect(one.statistics().count == 101)
        #expect(folder.problems == [])
        await two.removeAll()
        #expect(await one.texts(.test("/1")) == [])
    }

    @Test func pagesAndTimesAreSetUp() async throws {
        let store = try folder.open()
        let database = store.currentDatabase
        let values = try await database.pool.write { db in
            try ["journal_mode", "auto_vacuum", "synchronous", "user_version", "journal_size_limit"].map {
                try String.fetchOne(db, sql: "PRAGMA \($0)") ?? ""
            }
        }
        #expect(values == ["wal", "2", "1", "1", "1048576"])
    }

    @Test func cancelledTaskStillStoresAndRemoves() async throws {
        let store = try folder.open()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await store.insert(.test(), for: .test("/1"))
            await store.insert(.test(), for: .test("/2"))
            await store.remove(.test("/2"))
            return await store.texts(.test("/1"))
        }
        #expect(await task.value == ["body"])
        #expect(await store.texts(.test("/2")) == [])
        #expect(folder.problems == [])
    }
}
