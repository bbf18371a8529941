import BeagleNetHTTP
import BeagleNetReplay
import Foundation
import Testing

struct HARCommandTests {
    private static let entry = """
        {"startedDateTime":"2026-11-22T08:15:30.123Z","time":7,"request":{"method":"GET","url":"https://h/","httpVersion":\
        "HTTP/1.1","cookies":[],"headers":[],"queryString":[],"headersSize":-1,"bodySize":0},"response":{"status":200,\
        "statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],"headers":[],"content":{"size":2,"mimeType":"text/plain",\
        "text":"ok"},"redirectURL":"","headersSize":-1,"bodySize":2},"cache":{},"timings":{"send":1,"wait":2,"receive":4}}
        """
    private static let start = #"{"log":{"version":"1.2","creator":{"name":"t","version":"1"},"entries":["#
    private static let good = "\(start)\(entry)]}}"
    private static let odd = "\(start)\(entry.replacing("\"time\":7", with: "\"time\":null"))]}}"
    private static let broken = "\(start)\(entry),{\"time\":tru}]}}"

    /// Runs `body` with the paths of these files.
    private func withFiles(_ texts: String..., body: ([String]) async throws -> Void) async throws {
        try await withDirectory { directory in
            let paths = texts.indices.map { "\(directory)/\($0).har" }
            for (path, text) in zip(paths, texts) { try Data(text.utf8).write(to: URL(filePath: path)) }
            try await body(paths)
        }
    }

    @Test func archivesAreSummarized() async throws {
        try await withFiles(Self.good, Self.odd) { paths in
            let run = try await beagle("har", "validate", paths[0], paths[1])
            #expect(run.exit == 0)
            #expect(
                run.lines == [
                    "\(paths[0]): 1 entry, 1 body of 2 B, 0 errors, 0 hints",
                    "\(paths[1]): 1 entry, 1 body of 2 B, 1 error, 0 hints",
                ]
            )
            let place = "$.log.entries[0].time: is null, but should be a number"
            #expect(run.errors == "error: \(paths[1]), byte \(Self.start.utf8.count + 53), \(place)\n", "\(run.errors)")
            #expect(try await beagle("har", "validate", "--strict", paths[0]).exit == 0)
            let strict = try await beagle("har", "validate", "--strict", paths[1])
            #expect(strict.exit == 101)
            #expect(strict.errors.contains("does not conform to HAR 1.2: 1 entry"))
        }
    }

    @Test func brokenFileIsReportedWithItsOffset() async throws {
        try await withFiles(Self.broken, Self.good) { paths in
            let run = try await beagle("har", "validate", paths[0], paths[1])
            #expect(run.exit == 101)
            let offset = Self.broken.utf8.count - 7
            #expect(
                run.errors.contains("\(paths[0]), byte \(offset), $.log.entries[1].time: expected a value")
            )
            // Entries before the fault are counted, and so are later files.
            #expect(run.lines.first == "\(paths[0]): 1 entry, 1 body of 2 B, 0 errors, 0 hints")
            #expect(run.lines.count == 2)

            let json = try await beagle("har", "validate", "--json", paths[0], paths[1])
            #expect(json.exit == 101)
            let object = try json.json()
            #expect(object["ok"] == false && object["exit"] == 101)
            let error = object["error"]
            #expect(error?["code"] == "decoding" && error?["file"] == .string(paths[0]))
            #expect(error?["offset"] == .integer(Int64(offset)) && error?["path"] == "$.log.entries[1].time")
            #expect(error?["files"]?.array?.compactMap { $0["entries"] } == [1, 1])
        }
    }

    @Test func summaryIsPrintedAsJSON() async throws {
        try await withFiles(Self.odd) { paths in
            let run = try await beagle("har", "validate", "--json", paths[0])
            #expect(run.exit == 0 && run.errors.isEmpty)
            let object = try run.json()
            #expect(object["ok"] == true)
            let file = object["result"]?["files"]?.array?.first
            #expect(file?["bodies"] == 1 && file?["bodyBytes"] == 2 && file?["errors"] == 1)
            let warning = file?["warnings"]?.array?.first
            #expect(warning?["severity"] == "error" && warning?["path"] == "$.log.entries[0].time")
            #expect(warning?["offset"] == .integer(Int64(Self.start.utf8.count + 53)))
        }
    }

    @Test func missingFilesAndInvalidArgumentsAreErrors() async throws {
        let missing = try await beagle("har", "validate", "no-such.har")
        #expect(missing.exit == 26)
        #expect(missing.errors.contains("cannot open no-such.har: No such file or directory"))
        #expect(try await beagle("har", "validate").exit == 64)
        #expect(try await beagle("har", "convert", "a.har").exit == 64)
        #expect(try await beagle("har", "convert", "a", "-o", "b", "--attach", "--embed").exit == 64)
        #expect(try await beagle("har", "convert", "no-such.har", "-o", "b").exit == 26)
        try await withFiles(Self.good) { paths in
            let run = try await beagle("har", "convert", paths[0], "-o", "/no-such-folder/b.har")
            #expect(run.exit == 23)
        }
    }

    @Test func logIsConvertedToAnArchive() async throws {
        try await withDirectory { directory in
            let log = try RequestLog(directory: "\(directory)/a.bglog")
            let body = Data(String(repeating: "long é ", count: 10_000).utf8)
            for second in [2.0, 1] {
                log.append(
                    LogEntry(
                        started: Date(timeIntervalSince1970: 1_795_335_330 + second),
                        request: LogEntry.Request(method: "GET", url: "https://h/\(second)", httpVersion: "HTTP/1.1"),
                        response: LogEntry.Response(
                            status: 200,
                            httpVersion: "HTTP/1.1",
                            body: LogEntry.Body(.data(body), mediaType: "text/plain")
                        )
                    )
                )
            }
            await log.close()
            let path = "\(directory)/a.har"
            let run = try await beagle("har", "convert", "\(directory)/a.bglog", "-o", path)
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.errors == "\(path): 2 entries\n")
            #expect(try await beagle("har", "validate", "--strict", path).exit == 0)
            let (recording, kept) = try (Recording(contentsOf: path), Recording(contentsOf: "\(directory)/a.bglog"))
            #expect(recording.entries.map(\.request.url) == ["https://h/1.0", "https://h/2.0"])
            #expect(recording.entries.map(\.response?.body.content) == [.data(body), .data(body)])
            #expect(kept.entries.map(\.started) == recording.entries.map(\.started))
            let first = try #require(kept.entries.first?.response?.body)
            #expect(first.content != .data(body))
            let data = try kept.data(of: first)
            #expect(data == body)
        }
    }

    @Test func archiveRoundTripKeepsItsContent() async throws {
        try await withFiles(Self.good, Self.broken) { paths in
            var last = paths[0]
            for (ending, flags) in [("zhar", []), ("har.gz", ["--attach"]), ("har", ["--embed"])] {
                let next = "\(paths[0])-next.\(ending)"
                let run = try await beagle(["har", "convert", last, "-o", next] + flags)
                #expect(run.exit == 0, "\(run.errors)")
                #expect(run.errors == "\(next): 1 entry\n")
                last = next
            }
            let text = String(decoding: try Data(contentsOf: URL(filePath: last)), as: UTF8.self)
            #expect(text.contains(#""content":{"size":2,"mimeType":"text/plain","text":"ok"}"#))
            let json = try await beagle("har", "convert", last, "-o", last, "--json")
            #expect(try json.json()["result"]?["entries"] == 1)

            // A broken archive doesn't replace the target.
            let failed = try await beagle("har", "convert", paths[1], "-o", last, "--json")
            #expect(failed.exit == 101)
            #expect(try failed.json()["error"]?["path"] == "$.log.entries[1].time")
            #expect(String(decoding: try Data(contentsOf: URL(filePath: last)), as: UTF8.self) == text)
        }
    }
}
