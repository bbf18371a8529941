import BeagleNetHTTP
import BeagleNetReplay
import Foundation
import Testing

@testable import beagle

struct LogCommandTests {
    private static let secret = "tOpSeCrEt"

    /// An archive of four entries.
    private static let archive = """
        {"log":{"version":"1.2","creator":{"name":"t","version":"1"},"entries":[
        \(entry("08:15:30", "GET", "https://api.example.com/home?token=\(secret)", 200, 20, #"{"a":1.10,"password":"\#(secret)"}"#)),
        \(entry("08:15:31", "GET", "https://api.example.com/home?token=\(secret)", 200, 40, "[]")),
        \(entry("08:15:32", "POST", "https://api.example.com/sign-up", 422, 250, "{}", sent: #"{"password":"\#(secret)"}"#)),
        \(entry("08:15:33", "GET", "https://cdn.example.com/hero.png\\u001b[31m", 0, 1, ""))
        ]}}
        """

    private static func entry(
        _ time: String,
        _ method: String,
        _ url: String,
        _ status: Int,
        _ wait: Int,
        _ body: String,
        sent: String? = nil
    ) -> String {
        let sent = sent.map { #""postData":{"mimeType":"application/json","text":\#(JSONValue.string($0))},"# } ?? ""
        return """
            {"startedDateTime":"2026-11-22T\(time)Z","time":\(wait),"request":{"method":"\(method)","url":"\(url)",\(sent)\
            "httpVersion":"HTTP/1.1","cookies":[],"headers":[{"name":"Authorization","value":"Bearer \(secret)"}],\
            "queryString":[],"headersSize":-1,"bodySize":0},"response":{"status":\(status),"statusText":"",\
            "httpVersion":"HTTP/1.1","cookies":[],"headers":[],"content":{"size":\(body.utf8.count),\
            "mimeType":"application/json","text":\(JSONValue.string(body))},"redirectURL":"","headersSize":-1,\
            "bodySize":-1},"cache":{},"timings":{"send":0,"wait":\(wait),"receive":0}}
            """
    }

    private func withArchive(_ body: (_ path: String) async throws -> Void) async throws {
        try await withDirectory { directory in
            let path = "\(directory)/s.har"
            try Data(Self.archive.utf8).write(to: URL(fileURLWithPath: path))
            try await body(path)
        }
    }

    @Test func listHasALineForEachEntry() async throws {
        try await withArchive { path in
            let list = try await beagle("log", "list", path)
            #expect(list.exit == 0, "\(list.errors)")
            #expect(list.lines.count == 4)
            #expect(list.lines[0].hasPrefix("1  08:15:30.000  GET     200"))
            #expect(list.lines[0].hasSuffix("https://api.example.com/home?token=REDACTED"))
            #expect(list.lines[3].contains("failed") && !list.text.contains("\u{1B}"))
            #expect(!list.text.contains(Self.secret))
            #expect(try await beagle("log", "list", path, "--show-secrets").text.contains(Self.secret))

            let some = try await beagle("log", "list", path, "status>=400 || error || time<2ms", "--json").json()
            let entries = try #require(some["result"]?.array)
            #expect(entries.map { $0["number"] } == [3, 4])
            #expect(entries.map { $0["status"] } == [422, 0])
        }
    }

    @Test func showPrintsTheWholeEntry() async throws {
        try await withArchive { path in
            let show = try await beagle("log", "show", path, "1")
            #expect(show.exit == 0, "\(show.errors)")
            #expect(show.text.contains("\n> Authorization: Bearer REDACTED\n"))
            #expect(show.text.contains("\n{\n  \"a\": 1.10,\n  \"password\": \"REDACTED\"\n}\n"))
            #expect(show.text.contains("\n  wait         20 ms  ████████████████████████████████████████\n"))
            #expect(show.text.contains("\nredacted secrets:\n  request.url:?token\n"))
            #expect(!show.text.contains(Self.secret))
            #expect(try await beagle("log", "show", path, "1", "--body").text == #"{"a":1.10,"password":"REDACTED"}"#)
            let sent = try await beagle("log", "show", path, "3", "--sent-body", "--show-secrets")
            #expect(sent.text == #"{"password":"tOpSeCrEt"}"#)
            let json = try await beagle("log", "show", path, "3", "--json").json()
            #expect(json["result"]?["response"]?["status"] == 422)
        }
    }

    @Test func statsAreCompared() async throws {
        try await withArchive { path in
            let stats = try await beagle("log", "stats", path)
            #expect(stats.exit == 0, "\(stats.errors)")
            #expect(stats.text.contains("api.example.com          3      40 ms     250 ms     250 ms"), "\(stats.text)")
            #expect(stats.text.contains("with a status of 400 or above  1\n"))
            let compared = try await beagle("log", "stats", path, "status==200", "--compare", path, "--json").json()
            #expect(compared["result"]?["before"]?["all"]?["count"] == 2)
            #expect(compared["result"]?["before"] == compared["result"]?["after"])
            #expect(try await beagle("log", "stats", path, "--compare", path).text.contains("+0 %"))
        }
    }

    @Test func statsShowAddedRemovedAndChangedHosts() async throws {
        try await withDirectory { directory in
            let (before, after) = ("\(directory)/before.har", "\(directory)/after.har")
            func archive(_ entries: [String]) -> Data {
                Data(#"{"log":{"version":"1.2","entries":[\#(entries.joined(separator: ","))]}}"#.utf8)
            }
            try archive([
                Self.entry("08:15:30", "GET", "https://api.example.com/a", 200, 100, "{}"),
                Self.entry("08:15:31", "GET", "https://old.example.com/a", 200, 10, "{}"),
            ]).write(to: URL(filePath: before))
            try archive([
                Self.entry("08:15:30", "GET", "https://api.example.com/a", 200, 150, "{}"),
                Self.entry("08:15:31", "GET", "https://api.example.com/a", 503, 150, "{}"),
                Self.entry("08:15:32", "GET", "https://new.example.com/a", 200, 20, "{}"),
            ]).write(to: URL(filePath: after))
            let run = try await beagle("log", "stats", before, "--compare", after)
            #expect(run.exit == 0, "\(run.errors)")
            func row(_ name: String) -> [String] {
                let line = run.lines.first { $0.hasPrefix(name) } ?? ""
                return line.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
            }
            for (name, counts, cells) in [
                ("api.example.com", "1 → 2", ["150 ms", "+50 %"]), ("old.example.com", "1 → 0", ["-", "-"]),
                ("new.example.com", "0 → 1", ["20 ms", "-"]),
            ] {
                #expect(row(name) == [name, counts] + cells + cells + cells)
            }
            #expect(row("all").prefix(2) == ["all", "2 → 3"])
            #expect(run.text.contains("with a status of 400 or above  0 → 1\n"), "\(run.text)")
            let back = try await beagle("log", "stats", after, "--compare", before)
            #expect(back.text.contains("−33 %"))
            let json = try await beagle("log", "stats", before, "--compare", after, "--json").json()
            #expect(json["result"]?["before"]?["hosts"]?.array?.count == 2)
            #expect(json["result"]?["after"]?["all"]?["refusals"] == 1)
        }
    }

    @Test func filterReadsBodyFiles() async throws {
        try await withLongBody { log, _ in
            let list = try await beagle("log", "list", log, "body~\"*needle*\"")
            #expect(list.lines.count == 1, "\(list.errors)")
            #expect(list.text.contains("https://h/long"))
            #expect(try await beagle("log", "list", log, "~b needle").lines.count == 1)
            #expect(try await beagle("log", "list", log, "!(body~\"*needle*\")").text.contains("https://h/short"))
        }
    }

    @Test func exportAttachesBodiesOfALog() async throws {
        try await withLongBody { log, long in
            let file = "\(log)-exported.har"
            let run = try await beagle("log", "export", log, "-o", file, "--attach")
            #expect(run.exit == 0, "\(run.errors)")
            let recording = try Recording(contentsOf: file)
            let body = try #require(recording.entries.last?.response?.body)
            guard case .file(let name) = body.content else {
                Issue.record("the body is embedded: \(body.content)")
                return
            }
            #expect(name.hasPrefix("s_files/"))
            #expect(FileManager.default.contents(atPath: "\(log)/../\(name)") == long)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(!text.contains("needle"))
            #expect(try await beagle("log", "show", file, "2", "--body").output == long)
        }
    }

    /// Runs `body` with a log of a short body and a long one in a file.
    private func withLongBody(_ body: (_ log: String, _ long: Data) async throws -> Void) async throws {
        try await withDirectory { directory in
            let log = try RequestLog(directory: "\(directory)/s.bglog")
            let long = Data((String(repeating: "hay ", count: 10_000) + "needle").utf8)
            for (name, data) in [("short", Data("hay".utf8)), ("long", long)] {
                log.append(
                    LogEntry(
                        started: Date(),
                        request: LogEntry.Request(method: "GET", url: "https://h/\(name)"),
                        response: LogEntry.Response(
                            status: 200,
                            body: LogEntry.Body(.data(data), mediaType: "text/plain")
                        )
                    )
                )
            }
            await log.close()
            try await body(log.directory, long)
        }
    }

    @Test func reportIsAPageThatOnlyTheOwnerCanRead() async throws {
        try await withArchive { path in
            let file = "\(path).html"
            let report = try await beagle("log", "report", path, "-o", file)
            #expect(report.exit == 0, "\(report.errors)")
            let page = try String(contentsOfFile: file, encoding: .utf8)
            #expect(page.hasPrefix("<!DOCTYPE html>"))
            #expect(!page.contains(Self.secret))
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let some = try await beagle("log", "report", path, "status==422", "-o", "-")
            #expect(some.text.contains("/sign-up") && !some.text.contains("/home"))
        }
    }

    @Test func curlReadsSecretsFromVariables() async throws {
        try await withArchive { path in
            let command = try await beagle("log", "curl", path, "3")
            #expect(command.text.contains(#"--data-raw '{"password":"'"${PASSWORD:?}"'"}'"#), "\(command.text)")
            #expect(!command.text.contains(Self.secret))
            let folder = "\(path)-bodies"
            let file = try await beagle("log", "curl", path, "3", "--output-dir", folder)
            #expect(file.text.contains("--data-binary @\(folder)/body-3"))
            #expect(FileManager.default.contents(atPath: "\(folder)/body-3") == Data(#"{"password":"REDACTED"}"#.utf8))
        }
    }

    @Test func genTestWritesTests() async throws {
        try await withArchive { path in
            let run = try await beagle("log", "gen-test", path, "-o", "\(path).swift")
            #expect(run.errors.hasSuffix(": 2 tests, 1 entry left out\n"), "\(run.errors)")
            #expect(try String(contentsOfFile: "\(path).swift", encoding: .utf8).contains("@Test func getHome()"))
        }
    }

    @Test(arguments: ["export", "scrub"]) func brokenArchiveIsNotWritten(_ command: String) async throws {
        try await withDirectory { directory in
            let (path, file) = ("\(directory)/s.har", "\(directory)/o.har")
            try Data(Self.archive.utf8.dropLast(200)).write(to: URL(fileURLWithPath: path))
            let run = try await beagle(["log", command, path, "-o", file, "--json"])
            #expect(run.exit == 101)
            let error = try run.json()["error"]
            #expect(error?["code"] == "decoding" && error?["file"] == .string(path))
            #expect(error?["warnings"]?.array?.count == 1)
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func exportKeepsOtherMembersOfTheArchive() async throws {
        try await withDirectory { directory in
            let (path, file) = ("\(directory)/s.har", "\(directory)/o.har")
            let start = #""startedDateTime":"2026-11-22T08:15:30Z","pageTimings":{}"#
            let page = #"{"id":"p","title":"token=\#(Self.secret)",\#(start)}"#
            let pages = "\"pages\":[\(page)]"
            let archive = Self.archive.replacing(#""entries""#, with: "\(pages),\"entries\"")
            try Data(archive.utf8).write(to: URL(fileURLWithPath: path))
            #expect(try await beagle("log", "export", path, "-o", file).exit == 0)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains(#""creator":{"name":"t","version":"1"}"#))
            #expect(text.contains(#""title":"token=REDACTED""#))
            #expect(try await beagle("har", "validate", "--strict", file).exit == 0)
            #expect(try await beagle("log", "scrub", file, "--check").exit == 0)
        }
    }

    @Test func scrubCheckListsThePathsOfSecrets() async throws {
        try await withArchive { path in
            let check = try await beagle("log", "scrub", path, "--check")
            #expect(check.exit == 1)
            #expect(check.lines.contains("$.log.entries[2].request.postData.text:$.password"), "\(check.text)")
            #expect(check.lines.contains("$.log.entries[0].request.url:?token"))
            #expect(!(check.text + check.errors).contains(Self.secret))
            let json = try await beagle("log", "scrub", path, "--check", "--json").json()
            #expect(json["exit"] == 1)
            #expect(json["error"]?["secrets"]?.array?.count == check.lines.count)
            let none = try await beagle(
                "log",
                "scrub",
                path,
                "--check",
                "--shown",
                "token",
                "--shown",
                "password",
                "--shown",
                "authorization"
            )
            // A bearer token is recognized by its format.
            #expect(none.lines.allSatisfy { $0.hasSuffix("Authorization:<Bearer>") }, "\(none.text)")
        }
    }

    /// Redundant members and members outside of entries. The first entry of the file is the later one.
    @Test func scrubChecksRedundantMembers() async throws {
        try await withDirectory { directory in
            let late = #"""
                {"startedDateTime":"2026-11-22T09:00:00Z","request":{"method":"POST","url":"https://h/x?token=REDACTED",
                "headers":[{"name":"Cookie","value":"REDACTED"},{"name":":path","value":"/x?token=s3cret-1"}],
                "queryString":[{"name":"token","value":"s3cret-2"}],"cookies":[{"name":"sid","value":"s3cret-3"}],
                "postData":{"mimeType":"application/x-www-form-urlencoded","text":"pin=REDACTED",
                "params":[{"name":"pin","value":"s3cret-4"}]}},"response":{"status":200,"headers":[
                {"name":"Set-Cookie","value":"REDACTED"}],"cookies":[{"name":"sid","value":"s3cret-5"}]}}
                """#
            let early = #"{"startedDateTime":"2026-11-22T08:00:00Z","request":{"method":"GET","url":"https://h/"}}"#
            let page = #"{"id":"p","title":"https://h/x?token=s3cret-6"}"#
            let archive = #"{"log":{"version":"1.2","pages":[\#(page)],"entries":[\#(late),\#(early)]}}"#
            try Data(archive.utf8).write(to: URL(fileURLWithPath: "\(directory)/a.har"))
            let check = try await beagle("log", "scrub", "\(directory)/a.har", "--check")
            #expect(check.exit == 1)
            #expect(
                check.lines == [
                    "$.log.entries[0].request.queryString.token", "$.log.entries[0].request.postData.params.pin",
                    "$.log.entries[0].request.headers.:path", "$.log.entries[0].request.cookies.sid",
                    "$.log.entries[0].response.cookies.sid", "$.log.pages:$[*].title:?token",
                ],
                "\(check.text)"
            )
            let scrub = try await beagle("log", "scrub", "\(directory)/a.har", "-o", "\(directory)/b.har")
            #expect(scrub.exit == 0)
            #expect(try !String(contentsOfFile: "\(directory)/b.har", encoding: .utf8).contains("s3cret"))
            #expect(try await beagle("log", "scrub", "\(directory)/b.har", "--check").exit == 0)
        }
    }

    // MARK: - Incomplete recordings

    /// Runs `body` with a log of one exchange with body files.
    private func withLog(_ body: (_ path: String, _ files: [String]) async throws -> Void) async throws {
        try await withDirectory { directory in
            let path = "\(directory)/s.bglog"
            var options = RequestLog.Options()
            options.maxInlineBytes = 0
            let log = try RequestLog(directory: path, options: options)
            log.append(
                LogEntry(
                    started: Date(timeIntervalSince1970: 1),
                    request: LogEntry.Request(
                        method: "POST",
                        url: "https://a.example/",
                        body: LogEntry.Body(.data(Data("sent".utf8)), mediaType: "text/plain")
                    ),
                    response: LogEntry.Response(
                        status: 200,
                        body: LogEntry.Body(.data(Data("hello".utf8)), mediaType: "text/plain")
                    )
                )
            )
            await log.close()
            let bodies = "\(path)/bodies"
            let names = try FileManager.default.subpathsOfDirectory(atPath: bodies).filter { $0.utf8.count > 60 }
            try await body(path, names.map { "\(bodies)/\($0)" })
        }
    }

    @Test func unreadableBodyFilesAreFindings() async throws {
        try await withLog { path, files in
            #expect(try await beagle("log", "scrub", path, "--check").exit == 0)
            #expect(files.count == 2)
            for file in files { try FileManager.default.removeItem(atPath: file) }
            let check = try await beagle("log", "scrub", path, "--check")
            #expect(check.exit == 1)
            #expect(
                check.lines == [
                    "$.log.entries[0].request.postData._file:[unreadable]",
                    "$.log.entries[0].response.content._file:[unreadable]",
                ]
            )
            #expect(!check.errors.contains("contains no secrets"))
        }
        try await withArchive { path in
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let named = text.replacing(#""text":"[]""#, with: #""_file":"../secret""#)
            #expect(named != text)
            try Data(named.utf8).write(to: URL(fileURLWithPath: path))
            let check = try await beagle("log", "scrub", path, "--check")
            #expect(check.lines.contains("$.log.entries[1].response.content._file:[unreadable]"), "\(check.text)")
        }
    }

    @Test(arguments: [nil, "hullo"]) func damagedBodiesAreReported(_ text: String?) async throws {
        try await withLog { path, files in
            for file in files {
                try FileManager.default.removeItem(atPath: file)
                if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }
            }
            let words = text == nil ? "No such file" : "is damaged"
            let show = try await beagle("log", "show", path, "1")
            #expect(show.exit == 0)
            #expect(show.text.contains(words), "\(show.text)")
            for flag in ["--body", "--sent-body"] {
                let body = try await beagle("log", "show", path, "1", flag)
                #expect(body.exit == 26)
                #expect(body.errors.contains(words), "\(body.errors)")
            }
            let curl = try await beagle("log", "curl", path, "1")
            #expect(curl.exit == 0)
            #expect(curl.errors.contains(words), "\(curl.errors)")
            #expect(curl.text.contains("# the body is in a file that cannot be read"))
            let report = try await beagle("log", "report", path, "-o", "-")
            #expect(report.exit == 0)
            #expect(!report.text.contains("hullo"))
            let valid = try await beagle("har", "validate", "--strict", path)
            #expect(valid.exit == 101)
            #expect(valid.errors.contains("$.log.entries[0].request.postData._file: "), "\(valid.errors)")
            #expect(valid.errors.contains(words))
        }
    }

    @Test func lostRecordsOfALogAreReported() async throws {
        try await withLog { path, _ in
            let whole = try await beagle("har", "validate", "--strict", path)
            #expect(whole.exit == 0)
            #expect(whole.lines == ["\(path): 1 entry, 2 bodies of 9 B, 0 errors, 0 hints"])
            let segment = "\(path)/000001.jsonl"
            var text = try String(contentsOfFile: segment, encoding: .utf8)
            text += #"{"k":"note","text":"there was no room for everything","lostRecords":2,"lostBodies":0}"# + "\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: segment))
            let words = "missing before this record: 2 records"
            for run in [["list", path], ["stats", path], ["show", path, "1"], ["report", path, "-o", "-"]] {
                let outcome = try await beagle(["log"] + run)
                #expect(outcome.exit == 0)
                #expect(outcome.errors.contains(words), "\(run): \(outcome.errors)")
            }
            let valid = try await beagle("har", "validate", "--json", path).json()
            #expect(valid["result"]?["files"]?[0]?["errors"] == 1)
        }
    }

    @Test(arguments: ["report", "gen-test"]) func symbolicLinkIsKept(command: String) async throws {
        try await withArchive { path in
            try FileManager.default.createSymbolicLink(atPath: "\(path)-link", withDestinationPath: "\(path)-file")
            try Data().write(to: URL(fileURLWithPath: "\(path)-file"))
            #expect(try await beagle("log", command, path, "-o", "\(path)-link").exit == 0)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(path)-link") == "\(path)-file")
            #expect(try !Data(contentsOf: URL(fileURLWithPath: "\(path)-file")).isEmpty)
        }
    }

    @Test(arguments: [[], ["--hash"], ["--drop"]])
    func scrubbedArchiveHasNoSecrets(flags: [String]) async throws {
        try await withArchive { path in
            let file = "\(path)-scrubbed.har"
            let scrub = try await beagle(["log", "scrub", path, "-o", file] + flags)
            #expect(scrub.exit == 0, "\(scrub.errors)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(!text.contains(Self.secret))
            #expect(text.contains("1.10"))
            #expect(text.contains("REDACTED:h:") == (flags == ["--hash"]))
            #expect(try await beagle("log", "scrub", file, "--check").exit == 0)
        }
    }

    @Test func exportIsAnArchiveWithoutSecrets() async throws {
        try await withArchive { path in
            let file = "\(path)-some.har"
            let run = try await beagle("log", "export", path, "status==422", "-o", file)
            #expect(run.exit == 0, "\(run.errors)")
            #expect(try await beagle("log", "list", file).lines.count == 1)
            #expect(try !String(contentsOfFile: file, encoding: .utf8).contains(Self.secret))
        }
    }

    @Test func logIsReadLikeAnArchive() async throws {
        try await withDirectory { directory in
            try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(directory)/meta.json"))
            let entry = Self.entry("08:15:30", "GET", "https://a.example/", 200, 5, "{}")
            let own = entry.dropLast() + #","_beagle":{"v":1,"id":"s-1","kind":"image"}}"#
            let line = #"{"k":"end","v":1,"entry":\#(own)}"#
            try Data("\n\(line)\n\n{\"k\":\"en".utf8).write(to: URL(fileURLWithPath: "\(directory)/000001.jsonl"))
            let list = try await beagle("log", "list", directory, "type==fetchImage")
            #expect(list.lines.count == 1, "\(list.errors)")
            #expect(list.text.contains("  image  "))
            let tail = try BeagleProcess(["log", "tail", directory])
            #expect(await tail.line().hasPrefix("08:15:30.000  GET     200     image"))
            tail.interrupt()
            #expect(await tail.outcome().exit == 130)
        }
    }

    private static let failuresGiveTheReasonArguments: [([String], Int32, String)] = [
        (["list", "/nonexistent.har"], 26, "No such file"), (["list", "s.har", "statu==4"], 64, "column 1: 'statu'"),
        (["show", "s.har", "9"], 26, "there is no entry 9"), (["show", "s.har", "x"], 26, "there is no entry x"),
        (["show", "s.har", "2", "--sent-body"], 26, "the entry has no body"),
        (["report", "s.har", "-o", ""], 64, "'-o'"),
        (["report", "s.har", "-o", "/nonexistent/x.html"], 23, "No such file"),
        (["tail", "s.har"], 26, "is not a request log"),
        (["scrub", "s.har"], 64, "--check"), (["show", "s.har", "1", "--body", "--json"], 64, "together"),
    ]

    @Test(arguments: Self.failuresGiveTheReasonArguments)
    func failuresGiveTheReason(arguments: [String], exit: Int32, hint: String) async throws {
        try await withArchive { path in
            let run = try await beagle(["log"] + arguments.map { $0 == "s.har" ? path : $0 })
            #expect(run.exit == exit, "\(run.errors)")
            #expect(run.errors.contains(hint), "\(run.errors)")
            #expect(run.output.isEmpty || arguments.contains("--json"))
        }
    }
}
