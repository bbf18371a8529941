import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct HARReaderTests {
    private func compressed(_ text: String, isGzip: Bool) throws -> Data {
        var data = Data()
        try Array(text.utf8).withUnsafeBytes { bytes in
            try Deflater(isGzip: isGzip).write(bytes, isLast: true) { data.append(contentsOf: $0) }
        }
        return data
    }

    @Test func archiveIsReadAsARecording() async throws {
        try await withFile(archive().utf8) { path in
            let recording = try Recording(contentsOf: path)
            #expect(recording.entries.map(\.request.url) == ["https://api.example.com/a"])
            #expect(recording.entries.first?.response?.body.content == .data(Data("ok".utf8)))
            #expect(recording.entries.first?.timings.total == .milliseconds(7))
            #expect(recording.warnings == [])
        }
    }

    @Test func entriesAreSortedByStartTime() async throws {
        let times = ["2026-11-22T08:15:31Z", "2026-11-22T08:15:30Z", "2026-11-22T09:15:30+01:00"]
        let entries = times.enumerated().map { index, time in
            entryText(["startedDateTime": "\"\(time)\"", "request.url": "\"http://h/\(index)\""])
        }
        let recording = try await recording(of: #"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#)
        #expect(recording.entries.map(\.request.url) == ["http://h/1", "http://h/2", "http://h/0"])
    }

    @Test func unchangedEntryKeepsItsJSON() async throws {
        let text = #"{"log":{"entries":[ {"a": 1.10, "request":{"url":"http://h/"}} ],"pages":[]}}"#
        try await withFile(text.utf8) { path in
            let reader = HARReader(contentsOf: path)
            var entry = try #require(try reader.next())
            #expect(entry.offset == 20)
            #expect(entry.json == Array(#"{"a": 1.10, "request":{"url":"http://h/"}}"#.utf8))
            entry.entry.kind = nil
            #expect(entry.json != nil)
            entry.entry.kind = "image"
            #expect(entry.json == nil)
            #expect(try reader.next() == nil)
            #expect(reader.members == [HARReader.Member(name: "pages", json: Array("[]".utf8))])
        }
    }

    @Test(arguments: [true, false])
    func compressedFileIsReadRegardlessOfItsName(_ isGzip: Bool) async throws {
        let text = archive(["response.content": #"{"text":"\#(String(repeating: "long ", count: 200_000))"}"#])
        let data = try compressed(text, isGzip: isGzip)
        #expect(data.count < 20_000)
        try await withFile(data) { path in
            let recording = try Recording(contentsOf: path)
            #expect(recording.entries.first?.response?.body.size == 1_000_000)
        }
        // Concatenated, as by `cat a.gz b.gz`.
        let half = text.index(text.startIndex, offsetBy: 300)
        let halves = try [String(text[..<half]), String(text[half...])].map { try compressed($0, isGzip: true) }
        let recording = try await withFile(halves[0] + halves[1]) { try Recording(contentsOf: $0) }
        #expect(recording.entries.count == 1)
        // Truncated, and with an extra byte after the end.
        for broken in [data.dropLast(20), data + Data("x".utf8)] {
            try await withFile(broken) { path in
                let error = #expect(throws: NetworkError.self) {
                    let reader = HARReader(contentsOf: path)
                    while try reader.next() != nil {}
                }
                #expect(error?.kind == .encoding)
            }
        }
    }

    @Test func decompressionBombIsRejected() async throws {
        let data = try compressed("{\"a\":\"" + String(repeating: " ", count: 5 << 20), isGzip: true)
        try await withFile(data) { path in
            let reader = HARReader(contentsOf: path, limits: HARReader.Limits(textBytes: 1 << 20))
            let error = #expect(throws: NetworkError.self) { try reader.next() }
            #expect(error?.kind == .tooLarge)
            #expect(error?.message.contains("larger than 1048576 bytes") == true)
        }
    }

    @Test func entriesBeforeAFaultAreRead() async throws {
        let text = #"{"log":{"entries":[\#(entryText()),{"request":{"url":"http"#
        try await withFile(text.utf8) { path in
            let recording = try Recording(contentsOf: path)
            #expect(recording.entries.count == 1)
            let warning = try #require(recording.warnings.first)
            #expect(warning.file == path)
            #expect(warning.offset == text.utf8.count)
            #expect(warning.path == "$.log.entries[1].request.url")
            #expect(
                warning.description.hasSuffix(
                    "\(path), byte \(text.utf8.count), \(warning.path): unexpected end of the text"
                )
            )
            let reader = HARReader(contentsOf: path)
            _ = try reader.next()
            for _ in 0..<2 { #expect(throws: NetworkError.self) { try reader.next() } }
        }
    }

    private static let invalidArchiveIsRejectedArguments: [(String, String)] = [
        ("", "it is empty"), ("{}", "it has no log.entries"), ("12", "it has no log.entries"),
        (#"{"log":{"entries":{}}}"#, "it has no log.entries"),
        ("<html>", "byte 0, $: expected a value"), (#"{"log":{"entries":["#, "byte 19, $.log.entries[0]"),
    ]

    @Test(arguments: Self.invalidArchiveIsRejectedArguments)
    func invalidArchiveIsRejected(_ text: String, _ reason: String) async throws {
        let error = await #expect(throws: NetworkError.self) { try await recording(of: text) }
        #expect(error?.kind == .decoding)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func missingFileAndDirectoryAreRejected() async throws {
        try await withFolder { folder in
            for path in ["\(folder)/none.har", folder] {
                let error = #expect(throws: NetworkError.self) { try Recording(contentsOf: path) }
                #expect(error?.kind == .file)
                #expect(error?.message.contains(path) == true)
            }
        }
    }
}
