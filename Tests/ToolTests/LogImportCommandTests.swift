import BeagleNetHTTP
import BeagleNetReplay
import Foundation
import Testing

/// Output to a path that ends in `.bglog` is a log.
struct LogImportCommandTests {
    private static let secret = "tOpSeCrEt"
    private static let long = String(repeating: "long é ", count: 10_000)

    /// Runs `body` with an archive of a response in an attached file, a redirect hop and a WebSocket.
    private func withArchive(_ body: (_ directory: String, _ path: String) async throws -> Void) async throws {
        try await withDirectory { directory in
            let start = Date(timeIntervalSince1970: 1_795_335_330)
            func entry(_ url: String, _ second: Double, _ text: String) -> LogEntry {
                LogEntry(
                    id: url,
                    started: start + second,
                    request: LogEntry.Request(
                        method: "GET",
                        url: "https://h/\(url)",
                        fields: [LogEntry.Field("Authorization", "Bearer \(Self.secret)")]
                    ),
                    response: LogEntry.Response(
                        status: 200,
                        body: LogEntry.Body(.data(Data(text.utf8)), mediaType: "application/json")
                    )
                )
            }
            var entries = [
                entry("a", 0, #"{"password":"\#(Self.secret)","n":1.10}"#), entry("b", 1, #"["\#(Self.long)"]"#),
                entry("ws", 2, ""),
            ]
            entries[1].parent = "a"
            entries[2].response?.status = 101
            entries[2].messages = [
                LogEntry.Message(.send, at: start + 2.5, Data(#"{"token":"\#(Self.secret)"}"#.utf8)),
                LogEntry.Message(.receive, at: start + 3, opcode: 2, Data([0, 255])),
            ]
            let path = "\(directory)/a.har"
            try Recording(entries).writeHAR(to: path, bodies: .attached)
            try await body(directory, path)
        }
    }

    private func text(of directory: String) throws -> String {
        let files = try #require(FileManager.default.enumerator(atPath: directory))
        return files.compactMap { name -> String? in
            FileManager.default.contents(atPath: "\(directory)/\(name)").map { String(decoding: $0, as: UTF8.self) }
        }.joined()
    }

    @Test(arguments: [["har", "convert"], ["log", "export"], ["log", "scrub"]])
    func archiveIsConvertedToALog(_ command: [String]) async throws {
        try await withArchive { directory, path in
            let log = "\(directory)/new.bglog"
            let run = try await beagle(command + [path, "-o", "\(log)/"])
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.errors.contains("3 entries"))
            #expect(RequestLog.Reader.isLog(log))
            let recording = try Recording(contentsOf: log)
            #expect(recording.warnings == [])
            #expect(recording.entries.map(\.request.url) == ["https://h/a", "https://h/b", "https://h/ws"])
            #expect(recording.entries[1].parent == recording.entries[0].id)
            let short = Data(#"{"password":"REDACTED","n":1.10}"#.utf8)
            #expect(recording.entries[0].response?.body.content == .data(short))
            let body = try #require(recording.entries[1].response?.body)
            guard case .file(let name) = body.content else {
                Issue.record("a long body is not in a file")
                return
            }
            #expect(name.hasSuffix(try SHA256Digest.hex(of: Data(#"["\#(Self.long)"]"#.utf8))))
            let data = try recording.data(of: body)
            #expect(data == Data(#"["\#(Self.long)"]"#.utf8))
            let messages = [Data(#"{"token":"REDACTED"}"#.utf8), Data([0, 255])]
            #expect(recording.entries[2].messages.map(\.data) == messages)
            #expect(try !text(of: log).contains(Self.secret))
            let mode = try FileManager.default.attributesOfItem(atPath: log)[.posixPermissions] as? Int
            #expect(mode == 0o700)
            // A log is converted to a log as well.
            let again = try await beagle(command + [log, "-o", "\(directory)/copy.bglog"])
            #expect(again.exit == 0, "\(again.errors)")
            let copy = try Recording(contentsOf: "\(directory)/copy.bglog")
            #expect(copy.entries.map(\.started) == recording.entries.map(\.started))
            #expect(copy.entries.map(\.response?.body.content) == recording.entries.map(\.response?.body.content))
            #expect(try await beagle("log", "scrub", log, "--check").exit == 0)
        }
    }

    @Test func onlySelectedEntriesAreExported() async throws {
        try await withArchive { directory, path in
            let log = "\(directory)/new.bglog"
            let run = try await beagle("log", "export", path, "status==101", "-o", log, "--json")
            #expect(try run.json()["result"]?["entries"] == 1)
            #expect(try await beagle("log", "list", log).lines.count == 1)
        }
    }

    @Test func secretsMayBeHashedOrDropped() async throws {
        try await withArchive { directory, path in
            let (hashed, dropped) = ("\(directory)/h.bglog", "\(directory)/d.bglog")
            let hash = try await beagle("log", "scrub", path, "-o", hashed, "--hash")
            #expect(hash.exit == 0, "\(hash.errors)")
            #expect(try text(of: hashed).contains("REDACTED:h:"))
            #expect(try await beagle("log", "scrub", path, "-o", dropped, "--drop").exit == 0)
            #expect(try !text(of: dropped).contains("REDACTED"))
            #expect(try !(text(of: hashed) + text(of: dropped)).contains(Self.secret))
        }
    }

    @Test(arguments: [["har", "convert"], ["log", "export"], ["log", "scrub"]])
    func existingOutputIsNotOverwritten(_ command: [String]) async throws {
        try await withArchive { directory, path in
            let log = "\(directory)/new.bglog"
            try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
            #expect(
                try await beagle(command + [path, "-o", log]).exit == 0,
                "an empty directory is accepted"
            )
            let before = try text(of: log)
            let run = try await beagle(command + [path, "-o", log])
            #expect(run.exit == 23)
            #expect(run.errors.contains("already exists"))
            #expect(try text(of: log) == before)
            let file = "\(directory)/file.bglog"
            try Data("x".utf8).write(to: URL(filePath: file))
            #expect(try await beagle(command + [path, "-o", file]).exit == 23)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "x")
            #expect(try await beagle(command + [path, "-o", "/proc/no.bglog"]).exit == 23)
        }
    }

    @Test func brokenArchiveLeavesNoLog() async throws {
        try await withArchive { directory, path in
            let whole = try String(contentsOfFile: path, encoding: .utf8)
            let broken = whole.replacing("\n]}}\n", with: ",{\"time\":tru}]}}")
            try Data(broken.utf8).write(to: URL(filePath: path))
            let before = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            #expect(try await beagle("har", "convert", path, "-o", "\(directory)/new.bglog").exit == 101)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == before)
        }
    }

    @Test(arguments: [
        ["har", "convert", "--attach"], ["har", "convert", "--embed"], ["log", "export", "--attach"],
        ["log", "export", "--show-secrets"],
    ])
    func archiveOptionsAreRejectedForLogs(_ arguments: [String]) async throws {
        let run = try await beagle(arguments.prefix(2) + ["a.har", "-o", "b.bglog"] + arguments.dropFirst(2))
        #expect(run.exit == 64)
        #expect(run.errors.contains(" an archive"))
    }
}
