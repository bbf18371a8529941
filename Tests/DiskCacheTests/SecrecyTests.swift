import BeagleNetCache
import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetDiskCache

@Suite(.timeLimit(.minutes(5))) struct SecrecyTests {
    private let folder = StoreFolder()
    private let encryptionKey = Data(repeating: 9, count: 32)

    /// Stores responses with secrets everywhere, small and large.
    private func insertSecrets(in store: DiskResponseStore) async {
        for (number, bytes) in [10, 100_000].enumerated() {
            let key = ResponseKey(
                method: "POST",
                scheme: "https",
                authority: "host",
                target: "/path\(number)?token=QUERYSECRET",
                body: Data("BODYSECRET".utf8),
                partition: "USERSECRET"
            )
            let response = StoredResponse(
                head: HTTPResponse(
                    status: .ok,
                    headerFields: [.setCookie: "id=COOKIESECRET", .eTag: "\"FIELDTEXT\"", .vary: "cookie"]
                ),
                body: Data("BODYTEXT".utf8) + Data(count: bytes),
                trailers: [.setCookie: "id=COOKIESECRET"],
                url: "https://user:PASSWORDSECRET@host/path?token=URLSECRET#FRAGMENTSECRET",
                selectingFields: [StoredResponse.SelectingField(name: "cookie", value: store.digest("FIELDSECRET"))],
                requestTime: Date(timeIntervalSince1970: 0),
                responseTime: Date(timeIntervalSince1970: 0)
            )
            await store.insert(response, for: key)
            let stored = await store.responses(for: key)
            #expect(stored.count == 1)
            #expect(stored.first?.head.headerFields.contains(.setCookie) == false)
            #expect(stored.first?.trailers.isEmpty == true)
            _ = await store.responses(for: key)
        }
        await store.removeAll(of: "ANOTHERSECRET")
    }

    private func found(_ texts: [String]) throws -> [String] {
        let bytes = try folder.everything()
        return texts.filter { bytes.range(of: Data($0.utf8)) != nil }
    }

    private let secrets = [
        "QUERYSECRET", "BODYSECRET", "USERSECRET", "COOKIESECRET", "FIELDSECRET", "PASSWORDSECRET", "URLSECRET",
        "FRAGMENTSECRET", "ANOTHERSECRET", "SECRET",
    ]

    @Test func noRequestIsInPlainText() async throws {
        let store = try folder.open()
        await insertSecrets(in: store)
        #expect(try folder.names.contains("responses.sqlite-wal"))
        #expect(try found(secrets) == [])
        #expect(try found(["FIELDTEXT", "BODYTEXT", "https://host/path"]).count == 3)
    }

    @Test func nothingIsInPlainTextWithAnEncryptionKey() async throws {
        let store = try folder.open(key: encryptionKey)
        await insertSecrets(in: store)
        #expect(try found(secrets + ["FIELDTEXT", "BODYTEXT", "https", "path"]) == [])
    }

    @Test func removedResponsesOfAUserLeaveTheDisk() async throws {
        let store = try folder.open()
        for number in 0..<100 {
            let key = ResponseKey.test("/\(number)", partition: number % 2 == 0 ? "A" : "B")
            let text = number % 2 == 0 ? "BODYOFA" : "BODYOFB"
            await store.insert(.test(String(repeating: text, count: 10 << (number % 13))), for: key)
        }
        await store.removeAll(of: "A")
        // Waits for work in the background.
        await store.remove(.test("/other"))
        #expect(store.statistics().count == 50)
        #expect(try found(["BODYOFA", "BODYOFB"]) == ["BODYOFB"])
    }

    @Test func selectingFieldsWithValuesArentStored() async throws {
        let store = try folder.open()
        let field = StoredResponse.SelectingField(name: "cookie", value: "FIELDSECRET")
        await store.insert(.test(selecting: [field]), for: .test())
        #expect(await store.responses(for: .test()).isEmpty)
        #expect(folder.problems.count == 1)
        #expect(try found(secrets) == [])
    }

    @Test func encryptedResponseOutlivesItsStore() async throws {
        let (small, large) = (ResponseKey.test("/small?a"), ResponseKey.test("/large?a"))
        for _ in 0..<2 {
            let store = try folder.open(key: encryptionKey)
            let response = StoredResponse(
                head: HTTPResponse(status: .ok, headerFields: [.eTag: "\"1\""]),
                body: Data("small".utf8),
                url: "https://host/elsewhere?token#fragment",
                requestTime: Date(timeIntervalSince1970: 0),
                responseTime: Date(timeIntervalSince1970: 0)
            )
            await store.insert(response, for: small)
            await store.insert(.test(bytes: 100_000), for: large)
        }
        let store = try folder.open(key: encryptionKey)
        let stored = try #require(await store.responses(for: small).first)
        #expect(stored.text == "small")
        #expect(stored.url == "https://host/elsewhere?token#fragment")
        #expect(stored.head.headerFields == [.eTag: "\"1\""])
        #expect(await store.responses(for: large).first?.body.count == 100_000)
        #expect(await store.entries().map(\.url).contains("https://host/elsewhere"))
        #expect(folder.problems == [])
    }

    @Test(arguments: [nil, Data(repeating: 8, count: 32)])
    func wrongKeyIsAMissAndReportedOnce(key: Data?) async throws {
        do {
            let store = try folder.open(key: encryptionKey)
            await store.insert(.test(), for: .test("/1"))
            await store.insert(.test(), for: .test("/2"))
        }
        do {
            let store = try folder.open(key: key)
            #expect(await store.texts(.test("/1")) == [])
            #expect(await store.texts(.test("/2")) == [])
            #expect(folder.problems.count == 1)
            #expect(folder.problems.first?.contains("another key") == true)
            #expect(await store.verify() == .init(checked: 2, removed: 0))
            await store.insert(.test("new"), for: .test("/1"))
            #expect(await store.texts(.test("/1")) == ["new"])
        }
        let store = try folder.open(key: encryptionKey)
        #expect(await store.texts(.test("/1")) == [])
        #expect(await store.texts(.test("/2")) == ["body"])
    }

    @Test func plainTextIsRemovedFromAnEncryptedStore() async throws {
        do {
            let store = try folder.open()
            await store.insert(.test(bytes: 100_000), for: .test("/1"))
        }
        let store = try folder.open(key: encryptionKey)
        #expect(store.statistics().count == 0)
        #expect(try folder.bodies == [])
    }

    @Test func sealedPartsCantBeExchanged() async throws {
        do {
            let store = try folder.open(key: encryptionKey)
            for number in 0..<2 { await store.insert(.test("\(number)"), for: .test("/\(number)")) }
        }
        try folder.execute(
            """
            UPDATE response SET (body, body_digest) = (SELECT body, body_digest FROM response WHERE id = 2) WHERE id = 1
            """
        )
        let store = try folder.open(key: encryptionKey)
        #expect(await store.texts(.test("/0")) == [])
        #expect(await store.texts(.test("/1")) == ["1"])
    }

    @Test(arguments: [0, 16, 33]) func keyOfAnotherLengthIsRejected(count: Int) {
        let error = #expect(throws: NetworkError.self) { try folder.open(key: Data(count: count)) }
        #expect(error?.kind == .badConfiguration)
    }

    @Test func onlyTheOwnerMayRead() async throws {
        let mask = umask(0)
        defer { umask(mask) }
        let store = try folder.open()
        await store.insert(.test(bytes: 100_000), for: .test())
        #expect(try folder.mode() == 0o700)
        let names = try folder.names
        #expect(names.contains("responses.sqlite-wal") && names.contains("responses.sqlite-shm"))
        for name in names { #expect(try folder.mode(name) == 0o600, "\(name)") }
    }

    @Test func modeOfAnExistingDatabaseIsCorrected() async throws {
        _ = try folder.open()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644],
            ofItemAtPath: "\(folder.path)/responses.sqlite"
        )
        let store = try folder.open()
        await store.insert(.test(), for: .test())
        for name in try folder.names { #expect(try folder.mode(name) == 0o600, "\(name)") }
    }
}
