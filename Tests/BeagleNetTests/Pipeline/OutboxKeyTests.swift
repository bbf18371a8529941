import BeagleNet
import BeagleNetTesting
import Foundation
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct OutboxKeyTests {
    private let folder = OutboxFolder()

    private func key(_ byte: UInt8) throws -> Outbox.Key { try Outbox.Key(Data(repeating: byte, count: 32)) }

    private func keep(_ number: Int, in outbox: Outbox) async {
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        let result = await Result { try await client.run(.form(number)) }
        #expect(result.failure?.isStoredInOutbox == true)
    }

    private var bytes: Data {
        folder.files.map { FileManager.default.contents(atPath: "\(folder.path)/\($0)") ?? Data() }.reduce(Data(), +)
    }

    @Test func encryptedEntryIsSentWithItsKey() async throws {
        defer { folder.remove() }
        await keep(1, in: Outbox(directory: folder.path, key: try key(1)))
        let bytes = bytes
        #expect(bytes.range(of: Data("number".utf8)) == nil && bytes.range(of: Data("host".utf8)) == nil)
        // Another process.
        let outbox = Outbox(directory: folder.path, key: try key(1))
        #expect(try outbox.entries().map(\.url) == ["http://host/1?…"])
        let answers = ScriptedResponses(.success(.init("ok")))
        let report = try await outbox.flush(with: client(OutboxInterceptor(outbox), answers))
        #expect(report.delivered.count == 1)
        #expect(answers.operations.withLock { $0.compactMap(\.transfer.body?.data) } == [Data(#"{"number":"1"}"#.utf8)])
        #expect(folder.files == [])
    }

    @Test(arguments: [nil, 2] as [UInt8?])
    func wrongKeyIsReported(byte: UInt8?) async throws {
        defer { folder.remove() }
        await keep(1, in: Outbox(directory: folder.path, key: try key(1)))
        let outbox = Outbox(directory: folder.path, key: try byte.map { try key($0) })
        let report = try await outbox.flush(
            with: client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init("ok"))))
        )
        #expect(report.delivered.isEmpty)
        let damage = try #require(report.damages.first)
        #expect(damage.kind == .unsupported)
        #expect(damage.message.hasSuffix(byte == nil ? "the outbox has no key" : "the outbox has a different key"))
        // The entry stays in place.
        #expect(folder.files.count == 1)
        #expect(try Outbox(directory: folder.path, key: try key(1)).entries().count == 1)
    }

    @Test func tamperedEntryIsMovedAside() async throws {
        defer { folder.remove() }
        await keep(1, in: Outbox(directory: folder.path, key: try key(1)))
        let name = try #require(folder.files.first)
        var bytes = bytes
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
        let outbox = Outbox(directory: folder.path, key: try key(1))
        #expect(try outbox.entries() == [])
        #expect(folder.names("\(folder.path)/damaged") == [name])
    }

    @Test func unencryptedEntryIsReadWithAKey() async throws {
        defer { folder.remove() }
        await keep(1, in: Outbox(directory: folder.path))
        #expect(try Outbox(directory: folder.path, key: try key(1)).entries().count == 1)
    }

    @Test("an entry above this outbox's limit is read if its size is the one in its first line")
    func largeEncryptedEntryIsRead() async throws {
        defer { folder.remove() }
        await keep(1, in: Outbox(directory: folder.path, key: try key(1)))
        let limits = Outbox.Limits(maxEntryBytes: 10)
        #expect(try Outbox(directory: folder.path, limits: limits, key: try key(1)).entries().count == 1)
        let name = try #require(folder.files.first)
        try (bytes + Data([0])).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
        #expect(try Outbox(directory: folder.path, limits: limits, key: try key(1)).entries() == [])
    }

    @Test(arguments: [0, 16, 31, 33]) func keyOfTheWrongLengthIsRejected(count: Int) {
        let error = #expect(throws: NetworkError.self) { try Outbox.Key(Data(repeating: 1, count: count)) }
        #expect(error?.kind == .badConfiguration)
    }

    @Test func keyIsNotShown() throws {
        let key = try Outbox.Key(Data("0123456789abcdef0123456789abcdef".utf8))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains("bytes") && !text.contains("48") && text.contains("Outbox.Key"), "\(text)")
        }
        #expect("\(key)" != "\(try self.key(1))")
    }
}
