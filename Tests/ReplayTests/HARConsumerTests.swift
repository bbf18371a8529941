import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetReplay

/// Members that importing programs require. A program fails, or shows garbage, if one is missing.
@Suite(.timeLimit(.minutes(5))) struct HARConsumerTests {
    /// The requirement on a member.
    enum Need: Sendable {
        case text, number, array, object, moment
        /// One of the words that the program knows.
        case word(Set<String>)
        /// Text, if the object that contains it is present.
        case textIn(String)
        /// Objects with a name and a value, both text.
        case pairs
    }

    struct Program: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let needs: KeyValuePairs<String, Need>
    }

    static let programs = [
        // front_end/models/har/HARFormat.ts; missing text is shown as "undefined".
        Program(
            testDescription: "Chrome",
            needs: [
                "startedDateTime": .moment, "time": .number, "request": .object, "request.method": .text,
                "request.url": .text, "request.httpVersion": .text, "request.cookies": .array,
                "request.headers": .pairs, "request.queryString": .pairs, "request.headersSize": .number,
                "request.bodySize": .number, "request.postData.text": .textIn("request.postData"),
                "request.postData.mimeType": .textIn("request.postData"), "response": .object,
                "response.status": .number, "response.statusText": .text, "response.httpVersion": .text,
                "response.cookies": .array, "response.headers": .pairs, "response.content": .object,
                "response.content.size": .number, "response.content.mimeType": .text, "response.redirectURL": .text,
                "response.headersSize": .number, "response.bodySize": .number, "timings": .object,
                "timings.send": .number, "timings.wait": .number, "timings.receive": .number,
            ]
        ),
        // mitmproxy/io/har.py
        Program(
            testDescription: "mitmproxy",
            needs: [
                "startedDateTime": .moment, "time": .number, "request.method": .text, "request.url": .text,
                "request.headers": .pairs,
                "request.httpVersion": .word(["", "HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"]),
                "request.postData.text": .textIn("request.postData"), "response.status": .number,
                "response.httpVersion": .word(["", "HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"]),
                "response.headers": .pairs, "response.content": .object,
            ]
        ),
        // packages/playwright-core/src/server/harBackend.ts
        Program(
            testDescription: "Playwright",
            needs: [
                "request.url": .text, "request.method": .text, "request.headers": .pairs, "response.status": .number,
                "response.headers": .pairs, "response.content": .object,
                "request.postData.text": .textIn("request.postData"),
            ]
        ),
        // devtools/client/netmonitor/src/har/har-importer.js
        Program(
            testDescription: "Firefox",
            needs: [
                "startedDateTime": .moment, "request.method": .text, "request.url": .text, "request.headers": .pairs,
                "request.headersSize": .number, "request.cookies": .array, "request.httpVersion": .text,
                "response.headers": .pairs, "response.headersSize": .number, "response.cookies": .array,
                "response.content": .object, "response.content.size": .number, "response.content.mimeType": .text,
                "response.status": .number, "response.statusText": .text, "response.bodySize": .number,
                "timings": .object, "cache": .object,
            ]
        ),
    ]

    @Test(arguments: programs) func entriesOfEveryKindHaveTheRequiredMembers(_ program: Program) async throws {
        try await withArchive { archive, entries in
            let log = try #require(archive["log"])
            #expect(log["version"] == "1.2")
            #expect(log["creator"]?["name"]?.string != nil && log["creator"]?["version"]?.string != nil)
            let written = try #require(log["entries"]?.array)
            for (kind, isOfIt) in EveryKind.kinds {
                let ofIt = zip(entries, written).filter { isOfIt($0.0) }.map(\.1)
                #expect(!ofIt.isEmpty, "\(kind)")
                for entry in ofIt {
                    for (place, need) in program.needs {
                        #expect(need.isMet(at: place, in: entry), "\(kind): \(place) of \(entry)")
                    }
                }
            }
        }
    }

    /// Playwright follows the Location field and ignores `redirectURL`; other programs read `redirectURL`.
    @Test func redirectHasALocationFieldAndARedirectURL() async throws {
        try await withArchive { archive, entries in
            let hop = try #require(entries.firstIndex { $0.response?.status == 302 })
            let answer = archive["log"]?["entries"]?.array?[hop]["response"]
            let location = answer?["headers"]?.array?.first { $0["name"] == "Location" }
            #expect(location?["value"] == "/text")
            let url = try #require(answer?["redirectURL"]?.string)
            #expect(entries.contains { $0.request.url == url && $0.parent == entries[hop].id })
        }
    }

    private func withArchive(_ body: (_ archive: JSONValue, _ entries: [LogEntry]) throws -> Void) async throws {
        try await EveryKind.withLog { log in
            let path = "\(log).har"
            try EveryKind.archive(of: log, to: path)
            let recording = try Recording(contentsOf: path)
            try body(try JSONValue(parsing: try contents(path)), recording.entries)
        }
    }
}

extension HARConsumerTests.Need {
    func isMet(at place: String, in entry: JSONValue) -> Bool {
        func find(_ place: String) -> JSONValue? {
            place.split(separator: ".").reduce(Optional(entry)) { $0?[String($1)] }
        }
        let value = find(place)
        switch self {
        case .text: return value?.string != nil
        case .number: return value?.number.map(\.isFinite) == true
        case .array: return value?.array != nil
        case .object: return value?.object != nil
        case .moment: return value?.string.flatMap(Timestamp.date) != nil
        case .word(let words): return value?.string.map(words.contains) == true
        case .textIn(let owner): return find(owner) == nil || value?.string != nil
        case .pairs:
            return value?.array?.allSatisfy { $0["name"]?.string != nil && $0["value"]?.string != nil } == true
        }
    }
}
