import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A zip archive that a test writes member by member, valid or invalid.
private struct ZipText {
    struct Member {
        var name: String
        var data: Data
        var isPacked = false
        var flags = 0
        /// Wrong values for the directory of the archive.
        var method: Int?
        var size: Int?
        var checksum: UInt32?
    }

    static func bytes(of members: [Member], comment: String = "") throws -> Data {
        var (file, directory) = (Data(), Data())
        for member in members {
            let packed = member.isPacked ? try deflated(member.data) : member.data
            let sum = member.checksum ?? crc(member.data)
            let method = member.method ?? (member.isPacked ? 8 : 0)
            let common =
                number(member.flags, 2) + number(method, 2) + number(0, 4) + number(Int(sum), 4)
                + number(packed.count, 4)
                + number(member.size ?? member.data.count, 4) + number(member.name.utf8.count, 2) + number(0, 2)
            directory += number(0x0201_4B50, 4) + number(20, 2) + number(20, 2) + common + number(0, 10)
            directory += number(file.count, 4) + Data(member.name.utf8)
            file += number(0x0403_4B50, 4) + number(20, 2) + common + Data(member.name.utf8) + packed
        }
        let end =
            number(0x0605_4B50, 4) + number(0, 4) + number(members.count, 2) + number(members.count, 2)
            + number(directory.count, 4) + number(file.count, 4) + number(comment.utf8.count, 2) + Data(comment.utf8)
        return file + directory + end
    }

    private static func number(_ number: Int, _ count: Int) -> Data {
        Data((0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> ($0 * 8)) : 0 })
    }

    /// A raw deflate stream: a zlib stream without its header and checksum.
    private static func deflated(_ data: Data) throws -> Data {
        var stream = Data()
        let deflater = try Deflater(isGzip: false)
        try Array(data).withRawBytes { bytes throws(NetworkError) in
            try deflater.write(bytes, isLast: true) { piece throws(NetworkError) in stream += Data(piece) }
        }
        return stream.dropFirst(2).dropLast(4)
    }

    private static func crc(_ data: Data) -> UInt32 {
        var sum = UInt32.max
        for byte in data {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}

@Suite(.timeLimit(.minutes(5))) struct ZipArchiveTests {
    /// Runs `body` with the path of a zip archive.
    private func withZip(_ bytes: Data, _ body: (_ path: String) async throws -> Void) async throws {
        try await withFolder { folder in
            let path = "\(folder)/trace.zip"
            try bytes.write(to: URL(filePath: path))
            try await body(path)
        }
    }

    private func withZip(_ members: [ZipText.Member], _ body: (_ path: String) async throws -> Void) async throws {
        try await withZip(try ZipText.bytes(of: members), body)
    }

    /// An archive of one entry whose body is in this file.
    private static func har(naming file: String, size: Int = -1) -> Data {
        let content = #"{"size":\#(size),"mimeType":"text/plain","_file":"\#(file)"}"#
        return Data(archive(["response.content": content]).utf8)
    }

    @Test(arguments: [true, false], ["", "a comment PK\u{5}\u{6}"])
    func playwrightArchiveIsReadWithItsBodies(_ isPacked: Bool, _ comment: String) async throws {
        let folder = "\(RealArchiveTests.folder)/attach"
        var members: [ZipText.Member] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            let data = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
            members.append(.init(name: name.hasSuffix(".har") ? "har.har" : name, data: data, isPacked: isPacked))
        }
        let plain = try Recording(contentsOf: "\(folder)/playwright-attach.har")
        try await withZip(try ZipText.bytes(of: members, comment: comment)) { path in
            let recording = try Recording(contentsOf: path)
            #expect(recording.warnings == [])
            #expect(recording.entries == plain.entries)
            for (entry, other) in zip(recording.entries, plain.entries) {
                let (one, two) = (
                    recording.readable(entry.response?.body ?? .init()), plain.readable(other.response?.body ?? .init())
                )
                #expect(one == two, "\(entry.request.url)")
            }
            // The recording is written as one archive.
            let target = "\(path).har"
            #expect(try recording.writeHAR(to: target) == [])
            let written = try Recording(contentsOf: target)
            for (entry, other) in zip(written.entries, plain.entries) {
                let (one, two) = (
                    written.readable(entry.response?.body ?? .init()), plain.readable(other.response?.body ?? .init())
                )
                #expect(one == two, "\(entry.request.url)")
            }
            let summary = try HARReader.Validator(contentsOf: path).validate { _ in }
            #expect(summary.entries == plain.entries.count && summary.bodies > 5)
        }
    }

    @Test func bodiesAreReadFromTheFolderOfTheArchive() async throws {
        try await withZip([
            .init(name: "__MACOSX/._a.har", data: Data("x".utf8)),
            .init(name: "run/a.har", data: Self.har(naming: "b.txt")),
            .init(name: "b.txt", data: Data("other".utf8)), .init(name: "run/b.txt", data: Data("body".utf8)),
        ]) { path in
            let recording = try Recording(contentsOf: path)
            let body = try #require(recording.entries.first?.response?.body)
            #expect(try recording.data(of: body) == Data("body".utf8))
            #expect(try await recording.body(of: body).collect() == Data("body".utf8))
        }
    }

    /// Reads have 256 KiB: one may end in the middle of a repetition, after all compressed bytes are consumed.
    @Test(arguments: [(256 << 10) - 1, 256 << 10, (256 << 10) + 100, (512 << 10) + 100])
    func repetitiveBodyIsReadCompletely(_ count: Int) async throws {
        let data = Data(repeating: UInt8(ascii: "a"), count: count)
        try await withZip([
            .init(name: "har.har", data: Self.har(naming: "b.txt")), .init(name: "b.txt", data: data, isPacked: true),
        ]) { path in
            let recording = try Recording(contentsOf: path)
            let body = try #require(recording.entries.first?.response?.body)
            #expect(try recording.data(of: body) == data)
        }
    }

    @Test(arguments: ["../secret.txt", "/etc/hostname", "none.txt", "..\\\\secret.txt"])
    func filesOutsideTheZipAreNotRead(_ name: String) async throws {
        try await withZip([.init(name: "har.har", data: Self.har(naming: name))]) { path in
            let outside = URL(filePath: Recording.directory(of: path)).deletingLastPathComponent()
            let secret = outside.appending(path: "secret.txt")
            #expect(!FileManager.default.fileExists(atPath: secret.path))
            let recording = try Recording(contentsOf: path)
            let body = try #require(recording.entries.first?.response?.body)
            let error = #expect(throws: NetworkError.self) { try recording.data(of: body) }
            #expect(error?.kind == .file && error?.message.contains("not in the zip archive") == true)
        }
    }

    @Test func memberIsNotExtractedToItsPath() async throws {
        let name = "../escaped-\(UUID().uuidString).txt"
        try await withZip([
            .init(name: "har.har", data: Self.har(naming: name)), .init(name: name, data: Data("body".utf8)),
        ]) { path in
            let recording = try Recording(contentsOf: path)
            let body = try #require(recording.entries.first?.response?.body)
            #expect(try recording.data(of: body) == Data("body".utf8))
            let folder = Recording.directory(of: path)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["trace.zip"])
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/\(name)"))
        }
    }

    private static let whole = Data(archive().utf8)

    private static let invalidArchiveIsRejectedArguments: [([ZipText.Member], String, NetworkError.Kind)] = [
        ([.init(name: "a.txt", data: Data())], "without a .har file", .decoding),
        ([.init(name: "a.har", data: Data())], "the .har file in it is empty", .decoding),
        ([.init(name: "a.har", data: whole, flags: 1)], "a.har is encrypted", .encoding),
        ([.init(name: "a.har", data: whole, method: 12)], "compressed with method 12", .encoding),
        ([.init(name: "a.har", data: whole, isPacked: true, size: 100)], "larger than the archive says", .encoding),
        ([.init(name: "a.har", data: whole, size: 1 << 31)], "is damaged", .encoding),
        ([.init(name: "a.har", data: whole, isPacked: true, checksum: 1)], "a.har is damaged", .encoding),
        ([], "without a .har file", .decoding),
    ]

    @Test(arguments: Self.invalidArchiveIsRejectedArguments)
    fileprivate func invalidArchiveIsRejected(_ members: [ZipText.Member], _ reason: String, _ kind: NetworkError.Kind)
        async throws
    {
        try await withZip(members) { path in
            let reader = HARReader(contentsOf: path)
            let error = #expect(throws: NetworkError.self) {
                while try reader.next() != nil {}
            }
            #expect(error?.kind == kind)
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        }
    }

    @Test func truncatedAndCorruptedArchivesDoNotCrash() async throws {
        let members: [ZipText.Member] = [
            .init(name: "har.har", data: Self.har(naming: "b.txt"), isPacked: true),
            .init(name: "b.txt", data: Data("body".utf8), isPacked: true),
        ]
        let bytes = try ZipText.bytes(of: members)
        /// Reads as much as possible; no input may crash the process.
        func read(_ bytes: Data) async throws -> Bool {
            var isWhole = false
            try await withZip(bytes) { path in
                do throws(NetworkError) {
                    let recording = try Recording(contentsOf: path)
                    let body = recording.entries.first?.response?.body ?? LogEntry.Body()
                    isWhole = try recording.data(of: body) == Data("body".utf8)
                } catch {}
            }
            return isWhole
        }
        #expect(try await read(bytes))
        for count in stride(from: 2, to: bytes.count, by: 7) { #expect(try await !read(bytes.prefix(count))) }
        for place in stride(from: 2, to: bytes.count, by: 3) {
            var changed = bytes
            changed[place] ^= 0xFF
            _ = try await read(changed)
        }
    }

    @Test func sizeLimitsApply() async throws {
        let large = Data(repeating: UInt8(ascii: " "), count: 1 << 20)
        try await withZip([.init(name: "har.har", data: Self.whole + large, isPacked: true)]) { path in
            let reader = HARReader(contentsOf: path, limits: .init(textBytes: 1 << 20))
            let error = #expect(throws: NetworkError.self) { try reader.next() }
            #expect(error?.kind == .tooLarge)
        }
        try await withZip([
            .init(name: "har.har", data: Self.har(naming: "b")), .init(name: "b", data: Data(), size: (256 << 20) + 1),
        ]) { path in
            let recording = try Recording(contentsOf: path)
            let body = try #require(recording.entries.first?.response?.body)
            #expect(#expect(throws: NetworkError.self) { try recording.data(of: body) }?.kind == .tooLarge)
        }
    }
}

/// Messages that Playwright attaches as a file.
struct AttachedMessageTests {
    private static let lines = """
        {"type":"send","time":1795739706488.5,"opcode":1,"data":"hi"}
        {"type":"receive","time":1795739706492.5,"opcode":2,"data":"AP8="}

        """

    private static let har = archive([
        "request.url": #""ws://h/ws""#, "response.status": "101",
        "response.content": #"{"size":-1,"mimeType":"x-unknown","_file":"0a.jsonl"}"#,
    ])

    private func check(_ recording: Recording) throws {
        let entry = try #require(recording.entries.first)
        #expect(entry.messages.map(\.direction) == [.send, .receive])
        #expect(entry.messages.map(\.data) == [Data("hi".utf8), Data([0, 255])])
        #expect(entry.messages.map(\.time.timeIntervalSince1970) == [1_795_739_706.4885, 1_795_739_706.4925])
        #expect(entry.response?.body.content == .data(Data()))
    }

    @Test func attachedMessagesBelongToTheWebSocket() async throws {
        try await withFolder { folder in
            try Data(Self.har.utf8).write(to: URL(filePath: "\(folder)/a.har"))
            try Data(Self.lines.utf8).write(to: URL(filePath: "\(folder)/0a.jsonl"))
            let recording = try Recording(contentsOf: "\(folder)/a.har")
            #expect(recording.warnings == [])
            try check(recording)
            // A written copy embeds the messages.
            let writer = try HARWriter(to: "\(folder)/c.har")
            let reader = HARReader(contentsOf: "\(folder)/a.har")
            while let entry = try reader.next() { try writer.write(entry) }
            try writer.finish(members: reader.members)
            try FileManager.default.removeItem(atPath: "\(folder)/0a.jsonl")
            try check(try Recording(contentsOf: "\(folder)/c.har"))
        }
    }

    @Test func attachedMessagesAreReadFromAZipArchive() async throws {
        try await withFolder { folder in
            let members: [ZipText.Member] = [
                .init(name: "har.har", data: Data(Self.har.utf8), isPacked: true),
                .init(name: "0a.jsonl", data: Data(Self.lines.utf8), isPacked: true),
            ]
            try ZipText.bytes(of: members).write(to: URL(filePath: "\(folder)/a.zip"))
            try check(try Recording(contentsOf: "\(folder)/a.zip"))
        }
    }

    @Test(arguments: [(nil, "cannot be read"), ("{\"type\":\"send\",\"data\":\"a\"}\n{", "message 2 is damaged")])
    func missingMessagesAreAWarning(_ lines: String?, _ reason: String) async throws {
        try await withFolder { folder in
            try Data(Self.har.utf8).write(to: URL(filePath: "\(folder)/a.har"))
            if let lines { try Data(lines.utf8).write(to: URL(filePath: "\(folder)/0a.jsonl")) }
            let recording = try Recording(contentsOf: "\(folder)/a.har")
            #expect(recording.warnings.map(\.path) == ["$.log.entries[0].response.content._file"])
            #expect(recording.warnings.first?.reason.contains(reason) == true)
            #expect(recording.entries.first?.messages.count == (lines == nil ? 0 : 1))
        }
    }
}
