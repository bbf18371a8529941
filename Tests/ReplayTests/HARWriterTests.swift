import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct HARWriterTests {
    private func entry(_ second: Double, _ body: LogEntry.Body = LogEntry.Body(.data(Data("ok".utf8)))) -> LogEntry {
        LogEntry(
            started: Date(timeIntervalSince1970: second),
            request: LogEntry.Request(method: "GET", url: "http://h/\(second)", httpVersion: "h2"),
            response: LogEntry.Response(status: 200, httpVersion: "http/1.1", body: body)
        )
    }

    /// Every entry and member of an archive as it is written.
    private func texts(_ path: String) throws -> (entries: [String], members: [String]) {
        let reader = HARReader(contentsOf: path)
        var entries: [String] = []
        while let next = try reader.next() { entries.append(String(decoding: next.json ?? [], as: UTF8.self)) }
        return (entries, reader.members.map { "\($0.name)=\(String(decoding: $0.json, as: UTF8.self))" })
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test func entriesAreWrittenInOrderOfStartTime() async throws {
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            try Recording([entry(3), entry(1)]).writeHAR(to: path)
            let writer = try HARWriter(to: path)
            for second in [3.0, 1, 2, 1] { try writer.write(HARWriter.Entry(entry(second))) }
            #expect(try texts(path).entries.count == 2)
            try writer.finish()
            let read = try Recording(contentsOf: path)
            #expect(read.entries.map(\.started.timeIntervalSince1970) == [1, 1, 2, 3])
            let first = try HARReader(contentsOf: path).next()
            #expect(first?.entry.started == Date(timeIntervalSince1970: 1))
            #expect(mode(path) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.har"])
        }
    }

    @Test func emptyRecordingIsWrittenAsAnArchive() async throws {
        try await withFolder { folder in
            try Recording([]).writeHAR(to: "\(folder)/a.har")
            let (entries, members) = try texts("\(folder)/a.har")
            #expect(entries == [])
            #expect(members.first == #"version="1.2""#)
            #expect(members.last?.hasPrefix(#"creator={"name":"BeagleNet","version":""#) == true)
        }
    }

    @Test func unchangedEntriesKeepTheirBytes() async throws {
        let odd = #"{ "request":{"url" : "http://h/\u0041", "_x":1.10},"startedDateTime":null, "z":[ ] }"#
        let text = """
            {"log":{"creator":{"name":"x", "a":1.0},"browser":null,"entries":[\(odd),\(entryText())],"pages":[ 1 ],"_q":2}}
            """
        try await withFile(text.utf8) { path in
            let reader = HARReader(contentsOf: path)
            let writer = try HARWriter(to: "\(path).gz")
            while let next = try reader.next() { try writer.write(next) }
            try writer.finish(members: reader.members)
            let written = try texts("\(path).gz")
            #expect(written.entries == [odd, entryText()])
            #expect(
                written.members == [
                    #"version="1.2""#, #"creator={"name":"x", "a":1.0}"#, "browser=null", "pages=[ 1 ]", "_q=2",
                ]
            )
        }
    }

    @Test func changedEntryIsRewritten() async throws {
        try await withFile(archive(["_mine": "1.0"]).utf8) { path in
            var next = try #require(try HARReader(contentsOf: path).next())
            next.entry.request.method = "PUT"
            let writer = try HARWriter(to: path)
            try writer.write(next)
            try writer.finish()
            let text = try #require(try texts(path).entries.first)
            #expect(text.contains(#""method":"PUT""#) && text.contains(#""_mine":1.0"#))
        }
    }

    private static let fileExtensionSelectsTheCompressionArguments: [(String, [UInt8])] = [
        ("a.har", [UInt8(ascii: "{")]), ("a.har.gz", [0x1F, 0x8B]), ("a.zhar", [0x78]), ("a.HAR.GZ", [0x1F, 0x8B]),
    ]

    @Test(arguments: Self.fileExtensionSelectsTheCompressionArguments)
    func fileExtensionSelectsTheCompression(_ name: String, _ start: [UInt8]) async throws {
        try await withFolder { folder in
            let path = "\(folder)/\(name)"
            // More than the buffers of the compressors hold.
            let entries = (0..<40).map { index in
                let noise = (0..<2_500).map { _ in UInt64.random(in: .min ... .max) }
                return entry(Double(index), LogEntry.Body(.data(noise.withUnsafeBytes { Data($0) })))
            }
            try Recording(entries).writeHAR(to: path)
            let bytes = try Data(contentsOf: URL(filePath: path))
            #expect(bytes.starts(with: start))
            let read = try Recording(contentsOf: path)
            #expect(read.entries.map(\.response?.body.content) == entries.map(\.response?.body.content))
        }
    }

    @Test func bodyFilesAreEmbeddedInTheArchive() async throws {
        try await withFolder { folder in
            try Data("text é".utf8).write(to: URL(filePath: "\(folder)/t"))
            try Data([0, 0xFF]).write(to: URL(filePath: "\(folder)/b"))
            var text = entry(1, LogEntry.Body(.file("t"), mediaType: "text/plain"))
            text.request.body = LogEntry.Body(.file("b"), mediaType: "application/x")
            var missing = entry(2, LogEntry.Body(.file("../x")))
            missing.request.body = LogEntry.Body(.file("none"))
            let path = "\(folder)/a.har"
            let warnings = try Recording([text, missing], directory: folder).writeHAR(to: path)
            #expect(warnings.map(\.path) == ["request.postData._file", "response.content._file"])
            let read = try Recording(contentsOf: path).entries
            #expect(read[0].response?.body.content == .data(Data("text é".utf8)))
            #expect(read[0].request.body?.content == .data(Data([0, 0xFF])))
            // Other programs fail if a request's body has no text.
            #expect(read[1].request.body?.content == .data(Data()))
            #expect(read[1].response?.body.content == .file("../x"))
        }
    }

    @Test func responseBodiesAreWrittenToAttachedFiles() async throws {
        try await withFolder { folder in
            let path = "\(folder)/my.har"
            let content = #"{"size":2,"_x":1.0,"text":"AP8=","encoding":"base64","mimeType":"image/png"}"#
            try Data(archive(["response.content": content, "request.postData": #"{"text":"q"}"#]).utf8)
                .write(to: URL(filePath: "\(folder)/in.har"))
            let reader = HARReader(contentsOf: "\(folder)/in.har")
            let writer = try HARWriter(to: path, bodies: .attached)
            while let next = try reader.next() { try writer.write(next) }
            try writer.write(HARWriter.Entry(entry(2e9, LogEntry.Body())))
            try writer.finish(members: reader.members)

            let name = "my_files/\(try SHA256Digest.hex(of: Data([0, 0xFF]))).png"
            #expect(try Data(contentsOf: URL(filePath: "\(folder)/\(name)")) == Data([0, 0xFF]))
            #expect(mode("\(folder)/\(name)") == 0o600 && mode("\(folder)/my_files") == 0o700)
            let recording = try Recording(contentsOf: path)
            let body = try #require(recording.entries.first?.response?.body)
            #expect(body.content == .file(name) && body.size == 2)
            let data = try recording.data(of: body)
            #expect(data == Data([0, 0xFF]))
            #expect(recording.entries.first?.request.body?.content == .data(Data("q".utf8)))
            // The rest of the entry is unchanged.
            let moved = #"{"size":2,"_x":1.0,"mimeType":"image/png","_file":"\#(name)"}"#
            #expect(
                try texts(path).entries.first
                    == entryText(["response.content": moved, "request.postData": #"{"text":"q"}"#])
            )
            // And embedded again.
            try recording.writeHAR(to: "\(folder)/back.har")
            let back = try Recording(contentsOf: "\(folder)/back.har")
            #expect(back.entries.first?.response?.body.content == .data(Data([0, 0xFF])))
        }
    }

    /// The file of a body, or the folder of all bodies, may be a link to a file that must not change.
    @Test(arguments: ["file", "folder"]) func bodyIsNotWrittenThroughASymbolicLink(_ link: String) async throws {
        try await withFolder { folder in
            let body = Data([0, 0xFF])
            let name = "\(try SHA256Digest.hex(of: body)).png"
            let files = FileManager.default
            try files.createDirectory(atPath: "\(folder)/outside", withIntermediateDirectories: false)
            try Data("precious".utf8).write(to: URL(filePath: "\(folder)/outside/\(name)"))
            if link == "folder" {
                try files.createSymbolicLink(atPath: "\(folder)/my_files", withDestinationPath: "outside")
            } else {
                try files.createDirectory(atPath: "\(folder)/my_files", withIntermediateDirectories: false)
                try files.createSymbolicLink(
                    atPath: "\(folder)/my_files/\(name)",
                    withDestinationPath: "../outside/\(name)"
                )
            }
            let writer = try HARWriter(to: "\(folder)/my.har", bodies: .attached)
            let exchange = HARWriter.Entry(entry(1, LogEntry.Body(.data(body), mediaType: "image/png")))
            if link == "folder" {
                #expect(throws: NetworkError.self) { try writer.write(exchange) }
            } else {
                try writer.write(exchange)
                #expect(try Data(contentsOf: URL(filePath: "\(folder)/my_files/\(name)")) == body)
            }
            #expect(try Data(contentsOf: URL(filePath: "\(folder)/outside/\(name)")) == Data("precious".utf8))
        }
    }

    @Test func membersThatReadersNeedAreWritten() async throws {
        try await withFolder { folder in
            var form = entry(1, LogEntry.Body(.omitted("too large")))
            form.request.body = LogEntry.Body(
                .parameters([LogEntry.Parameter(name: "a", value: "1 2")]),
                mediaType: "application/x-www-form-urlencoded"
            )
            form.connection = "7"
            try Recording([form]).writeHAR(to: "\(folder)/a.har")
            let text = try #require(try texts("\(folder)/a.har").entries.first)
            let root = try ParsedJSON(Data(text.utf8)).root
            #expect(root["request"]?["httpVersion"]?.string == "HTTP/2")
            #expect(root["response"]?["httpVersion"]?.string == "HTTP/1.1")
            #expect(root["request"]?["postData"]?["text"]?.string == "a=1%202")
            #expect(root["connection"]?.string == "7")
            #expect(!text.contains("null"))
        }
    }

    @Test func unfinishedArchiveLeavesTheOldFile() async throws {
        #expect(throws: NetworkError.self) { try HARWriter(to: "/dev/null/a.har") }
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            try Recording([entry(1)]).writeHAR(to: path)
            _ = try HARWriter(to: path).write(HARWriter.Entry(entry(2)))
            #expect(try texts(path).entries.count == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.har"])
        }
    }
}
