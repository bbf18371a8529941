import BeagleNetHTTP
import BeagleNetReplay
import Foundation
import Testing

/// Files with deviations from HAR 1.2, as written by browsers, proxies and other tools. Each is read, its violations are
/// reported, and a conversion there and back doesn't change it.
struct HARQuirkCommandTests {
    struct File: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let entries: Int
        /// The numbers that `har validate` reports.
        let errors: Int
        let hints: Int

        /// A file with one entry, in which one text is replaced by another.
        init(_ name: String, _ old: String, _ new: String, errors: Int = 0, hints: Int = 0) {
            self.init(
                name,
                whole: HARQuirkCommandTests.file(HARQuirkCommandTests.entry.replacing(old, with: new)),
                1,
                errors,
                hints
            )
        }

        init(_ name: String, whole text: String, _ entries: Int, _ errors: Int, _ hints: Int) {
            testDescription = name
            (self.text, self.entries, self.errors, self.hints) = (text, entries, errors, hints)
        }
    }

    private static let timings = #"{"send":1,"wait":2,"receive":4}"#
    private static let content = #"{"size":2,"mimeType":"text/plain","text":"ok"}"#
    /// Lists of the request are `[]`, those of the response `[ ]`.
    private static let entry = """
        {"startedDateTime":"2026-11-22T08:15:30.123Z","time":7,"request":{"method":"GET","url":"https://h/a",\
        "httpVersion":"HTTP/1.1","cookies":[],"headers":[],"queryString":[],"headersSize":-1,"bodySize":0},\
        "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[ ],"headers":[ ],\
        "content":\(content),"redirectURL":"","headersSize":-1,"bodySize":2},"cache":{},"timings":\(timings)}
        """
    private static let creator = #""creator":{"name":"t","version":"1"}"#

    private static func file(_ entries: String, version: String = #""1.2""#) -> String {
        "{\"log\":{\"version\":\(version),\(creator),\"entries\":[\(entries)]}}"
    }

    private static func cookie(_ members: String) -> String {
        "\"cookies\":[{\"name\":\"a\",\"value\":\"1\",\(members)}]"
    }
    private static func headers(_ text: String) -> String { "\"headers\":\(text)" }
    private static func cache(_ members: String) -> String { #""cache":{"afterRequest":{\#(members)}}"# }

    static let files = [
        File("valid", "", ""),
        File("fractions", timings, #"{"send":0.5,"wait":2.25,"receive":4.25}"#),
        File("redirectURL null", #""redirectURL":"""#, #""redirectURL":null"#, errors: 1),
        File("no timings", timings, "{}", errors: 3, hints: 1),
        File("headersSize null", #""headersSize":-1"#, #""headersSize":null"#, errors: 2),
        File("no headersSize", #""redirectURL":"","headersSize":-1"#, #""redirectURL":"""#, errors: 1),
        File("no size of content", #""size":2,"#, "", errors: 1),
        File("no version of HTTP", #""httpVersion":"HTTP/1.1""#, #""httpVersion":"""#),
        File("a cookie until 4294967295", #""cookies":[ ]"#, cookie(#""expires":"4294967295""#), errors: 1),
        File("a cookie until null", #""cookies":[ ]"#, cookie(#""expires":null"#)),
        File("a cookie until an empty date", #""cookies":[ ]"#, cookie(#""expires":"""#), errors: 1),
        File(
            "a cookie until 2027",
            #""cookies":[ ]"#,
            cookie(#""expires":"2027-01-01T00:00:00+01:00","httpOnly":true"#)
        ),
        File(
            "a cache until 4294967295",
            #""cache":{}"#,
            cache(#""expires":"4294967295","lastAccess":"2026-11-22T08:15:30Z","eTag":"","hitCount":0"#),
            errors: 1
        ),
        File("a cache without lastAccess", #""cache":{}"#, cache(#""eTag":"1","hitCount":2"#), errors: 1),
        File(
            "a lastAccess in words",
            #""cache":{}"#,
            cache(#""lastAccess":"Sat, 21 Nov 2026 08:15:30 GMT","eTag":"1","hitCount":2"#),
            errors: 1
        ),
        File("no cache before and after", #""cache":{}"#, #""cache":{"beforeRequest":null,"afterRequest":null}"#),
        File("ssl outside of connect", timings, #"{"connect":1,"ssl":3,"send":0,"wait":2,"receive":2}"#, hints: 2),
        File(
            "blocked -1, others 0",
            timings,
            #"{"blocked":-1,"dns":0,"connect":0,"ssl":0,"send":0,"wait":7,"receive":0}"#
        ),
        File(
            "all phases -1",
            timings,
            #"{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,"send":-1,"wait":-1,"receive":-1},"_webSocketMessages":null"#,
            errors: 3,
            hints: 1
        ),
        File("receive -1, size -1", content, #"{"size":-1,"mimeType":"text/plain"}"#),
        File("base64 without text", content, #"{"size":2,"mimeType":"image/png","encoding":"base64"}"#),
        File(
            "invalid base64",
            content,
            #"{"size":2,"mimeType":"image/png","text":"*","encoding":"base64"}"#,
            errors: 1
        ),
        File("no response", #""status":200"#, #""status":0,"_error":"net::ERR_FAILED""#),
        File("empty content", content, "{}", errors: 2),
        File("status -1", #""status":200"#, #""status":-1"#, errors: 1),
        File("h2", "HTTP/1.1", "h2"), File("http/2.0", "HTTP/1.1", "http/2.0"), File("1.1", "HTTP/1.1", "1.1"),
        File("six digits", "30.123Z", "30.123456+00:00"), File("a zone of hours", "30.123Z", "30.1-07:00"),
        File("no zone", "30.123Z", "30.123", errors: 1),
        File("joined fields", headers("[ ]"), headers(#"[{"name":"Set-Cookie","value":"a=1\nb=2"}]"#), errors: 1),
        File("pseudo-fields", headers("[]"), headers(#"[{"name":":authority","value":"h"}]"#)),
        File("pairs", headers("[]"), headers(#"[["a","b"]]"#), errors: 1),
        File(
            "members without an underscore",
            #""queryString":[]"#,
            #""queryString":[],"settingEncodeUrl":true"#,
            hints: 1
        ),
        File("an empty name", #""queryString":[]"#, #""queryString":[{"name":"","value":""}]"#),
        File("a query in both", "https://h/a\"", #"https://h/a?q=1","comment":"x""#),
        File(
            "fields of a form, encoded, and its text",
            #""headersSize":-1,"bodySize":0"#,
            #""postData":{"mimeType":"t","params":[{"name":"a","value":"%20"}],"text":"a=%20"},"headersSize":-1,"bodySize":5"#,
            hints: 1
        ),
        File(
            "a WebSocket by https",
            timings,
            #"{"send":1,"wait":2,"receive":4},"_webSocketMessages":[{"type":"send","time":1,"opcode":1,"data":"a"}]"#
        ),
        File("half of a character", #""text":"ok""#, #""text":"\ud83d x""#),
        File("a byte order mark", whole: "\u{FEFF}\(file(entry))", 1, 0, 0),
        File("version 1.1", whole: file(entry, version: #""1.1""#), 1, 0, 1),
        File("an empty version", whole: file(entry, version: #""""#), 1, 0, 1),
        File("version 2", whole: file(entry, version: "2"), 1, 1, 0),
        File(
            "only requests",
            whole: #"{"log":{"entries":[{"request":{"method":"PUT","url":"http://h/"}}]}}"#,
            1,
            13,
            0
        ),
        File("the later first", whole: file("\(entry),\(entry.replacing("08:15", with: "07:15"))"), 2, 0, 1),
    ]

    /// One command validates all files.
    @Test func deviationsAreReported() async throws {
        try await withDirectory { directory in
            for (index, file) in Self.files.enumerated() {
                try Data(file.text.utf8).write(to: Self.path(directory, index))
            }
            let paths = Self.files.indices.map { Self.path(directory, $0).path }
            let run = try await beagle(["har", "validate", "--json"] + paths)
            #expect(run.exit == 0, "\(run.errors)")
            let reports = try #require(try run.json()["result"]?["files"]?.array)
            try #require(reports.count == Self.files.count)
            for (file, report) in zip(Self.files, reports) {
                let counts = ["entries", "errors", "hints"].map { report[$0]?.integer }
                let expected = [file.entries, file.errors, file.hints].map { Int64($0) }
                #expect(counts == expected, "\(file.testDescription): \(report["warnings"] ?? .null)")
                #expect(report["warnings"]?.array?.count == file.errors + file.hints)
            }
        }
    }

    @Test(arguments: files) func strictValidationRejectsFilesWithErrors(_ file: File) async throws {
        try await withDirectory { directory in
            let path = Self.path(directory, 0)
            try Data(file.text.utf8).write(to: path)
            #expect(try await beagle("har", "validate", "--strict", path.path).exit == (file.errors > 0 ? 101 : 0))
        }
    }

    @Test(arguments: files) func roundTripKeepsEachFile(_ file: File) async throws {
        try await withDirectory { directory in
            let (first, between, last) = (Self.path(directory, 0), "\(directory)/a.har.gz", "\(directory)/b.har")
            try Data(file.text.utf8).write(to: first)
            for (source, target) in [(first.path, between), (between, last)] {
                let run = try await beagle("har", "convert", source, "-o", target)
                #expect(run.exit == 0, "\(run.errors)")
            }
            let (before, after) = (try Archive(first.path), try Archive(last))
            #expect(after.entries.sorted() == before.entries.sorted())
            // Additional members are our own.
            #expect(
                after.members.filter { member in before.members.contains { $0.name == member.name } } == before.members
            )
        }
    }

    private static func path(_ directory: String, _ index: Int) -> URL { URL(filePath: "\(directory)/\(index).har") }
}

/// The texts of an archive's entries, and the other members of its log.
private struct Archive {
    var entries: [String] = []
    let members: [HARReader.Member]

    init(_ path: String) throws {
        let reader = HARReader(contentsOf: path)
        while let entry = try reader.next() { entries.append(String(decoding: entry.json ?? [], as: UTF8.self)) }
        members = reader.members
    }
}
