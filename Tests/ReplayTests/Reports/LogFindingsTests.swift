import BeagleNet
import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Parts of a log that are unreadable or easily overlooked must not be reported as free of secrets.
struct LogFindingsTests {
    /// Runs `body` with a log of one entry with a body file.
    static func withLog(_ body: (_ path: String, _ file: String) async throws -> Void) async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.maxInlineBytes = 0
            let log = try RequestLog(directory: path, options: options)
            var entry = LogEntry.sample()
            entry.request.body = LogEntry.sample(body: Data("sent".utf8)).response?.body
            log.append(entry)
            log.note("password=c4n4ry")
            await log.close()
            let content = try RequestLog.Reader.read(path).entries.first?.response?.body.content
            guard case .file(let file)? = content else {
                Issue.record("\(String(describing: content))")
                return
            }
            try await body(path, "\(path)/\(file)")
        }
    }

    private func findings(_ path: String) throws -> [String] {
        try RequestLog.Reader(directory: path).findings(by: Redactor())
    }

    static func append(_ text: String, _ path: String) throws {
        let segment = LogDirectory(path: path).segment(1)
        try (try contents(segment) + Data(text.utf8)).write(to: URL(fileURLWithPath: segment))
    }

    private static let missing = "$.log.entries[0].response.content._file:[unreadable]"

    @Test func intactLogHasNoFindings() async throws {
        try await Self.withLog { path, _ in
            let found = try findings(path)
            #expect(found == [])
        }
    }

    @Test func missingBodyFileIsAFinding() async throws {
        try await Self.withLog { path, file in
            try FileManager.default.removeItem(atPath: file)
            #expect(try findings(path) == [Self.missing])
            try Data("hullo".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try findings(path) == [Self.missing])
            try FileManager.default.removeItem(atPath: "\(path)/bodies")
            #expect(try findings(path) == ["$.log.entries[0].request.postData._file:[unreadable]", Self.missing])
        }
    }

    @Test(arguments: ["../secret", "none", "/etc/passwd"])
    func unreadableFileOfAnArchiveIsAFinding(_ name: String) {
        var entry = LogEntry.sample()
        entry.response?.body.content = .file(name)
        #expect(HARWriter.Entry(entry, directory: "/nowhere").findings() == ["response.content._file:[unreadable]"])
    }

    private static let recordsThatAreNotEntriesAreCheckedArguments: [String] = [
        #"{"k":"note","text":"x","token":"s3cret-1"}"#, #"{"k":"later","token":"s3cret-1"}"#,
        #"{"k":"end","entry":{"token":"s3cret-1","request":{"url":"https"#, "[https://h/?token=s3cret-1",
        #"{"k":"start","entry":{"_beagle":{"id":"s-9"},"request":{"url":"https://h/?token=s3cret-1"}}}"#,
    ]

    @Test(arguments: Self.recordsThatAreNotEntriesAreCheckedArguments)
    func recordsThatAreNotEntriesAreChecked(_ record: String) async throws {
        for end in ["\n", ""] {
            try await Self.withLog { path, _ in
                try Self.append("\n\(record)\(end)", path)
                let found = try findings(path)
                #expect(!found.isEmpty)
                #expect(found.allSatisfy { $0.contains("token") }, "\(found)")
                #expect(!"\(found)".contains("s3cret"))
            }
        }
    }

    /// The entry itself is read from its end record.
    @Test func startRecordOfAnEntryIsChecked() async throws {
        try await Self.withLog { path, _ in
            let request = #""request":{"method":"GET","url":"https://h/?token=s3cret-1"}"#
            try Self.append(
                """

                {"k":"start","entry":{"_beagle":{"id":"s-9"},\(request)}}
                {"k":"end","entry":{"_beagle":{"id":"s-9"},\(request.replacing("s3cret-1", with: "REDACTED"))}}

                """,
                path
            )
            let found = try findings(path)
            #expect(found.map { $0.hasPrefix("000001.jsonl, byte ") && $0.hasSuffix(": request.url:?token") } == [true])
        }
    }

    @Test func otherFilesOfTheLogAreChecked() async throws {
        try await Self.withLog { path, _ in
            let secret = Data(#"{"token":"s3cret-1","format":1}"#.utf8)
            for name in ["meta.json", "bodies/s-1.request.part"] {
                try secret.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            }
            #expect(try findings(path) == ["meta.json:$.token", "bodies/s-1.request.part:$.token"])
        }
    }
}
