import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// `beagle cache`.
struct CacheCommandTests {
    /// Runs `body` with the URL of a backend and a directory that has its responses: a screen, the two variants of another
    /// one, and a large body.
    private func withStoredResponses(_ body: (_ url: String, _ cache: String) async throws -> Void) async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let cache = "\(directory)/cache"
                _ = try await beagle("fetch", "\(url)/cached?token=secret", "--cache", cache)
                for language in ["en", "pt"] {
                    _ = try await beagle("raw", "\(url)/varied", "-H", "Accept-Language: \(language)", "--cache", cache)
                }
                _ = try await beagle("raw", "\(url)/file", "--cache", cache, "-o", "/dev/null")
                try await body(url, cache)
            }
        }
    }

    @Test func statsShowNumbersAndSizes() async throws {
        try await withStoredResponses { _, cache in
            let run = try await beagle("cache", "stats", cache)
            #expect(run.exit == 0, "\(run.errors)")
            let rows = Dictionary(
                uniqueKeysWithValues: run.lines.map { line in
                    let words = line.split(separator: " ", maxSplits: 1)
                    return (String(words[0]), words[1].trimmingCharacters(in: .whitespaces))
                }
            )
            #expect(rows["responses"] == "4" && rows["fresh"] == "3" && rows["stale"] == "1" && rows["files"] == "1")
            #expect(rows["size"]?.hasSuffix(" MB of 157.3 MB") == true)
            let json = try await beagle("cache", "stats", cache, "--json").json()["result"]
            #expect(json?["responses"] == 4 && json?["fresh"] == 3 && json?["stale"] == 1 && json?["incomplete"] == 0)
            #expect(json?["limitBytes"] == .integer(150 << 20))
            #expect(try #require(json?["bytes"]?.integer) > 1 << 20)
            #expect(try #require(json?["oldest"]?.string) <= #require(json?["newest"]?.string))
        }
    }

    @Test func listHasALineForEachResponse() async throws {
        try await withStoredResponses { url, cache in
            let run = try await beagle("cache", "list", cache)
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.lines.count == 4)
            #expect(run.lines.first?.contains(#/^200 +\d+ B +\d+ s  fresh    http.*/cached$/#) == true)
            #expect(run.lines.last?.contains(#/^200 +1\.0 MB +\d+ s  stale    http.*/file$/#) == true)
            #expect(!run.text.contains("secret"))
            let json = try await beagle("cache", "list", cache, "--json").json()["result"]?.array
            #expect(json?.count == 4)
            #expect(json?.map { $0["url"]?.string } == ["/cached", "/varied", "/varied", "/file"].map { url + $0 })
            #expect(json?.last?["bytes"] == .integer(1 << 20))
            #expect(json?.first?["fresh"] == true && json?.first?["complete"] == true && json?.first?["status"] == 200)
            #expect(json?.first?["received"]?.string?.hasSuffix("Z") == true)
        }
    }

    @Test func showDescribesTheResponsesOfAURL() async throws {
        try await withStoredResponses { url, cache in
            let run = try await beagle("cache", "show", cache, "\(url)/varied")
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.text.contains("1  200 OK  \(url)/varied\n"))
            #expect(run.text.contains("varies by accept-language"))
            #expect(run.text.contains("< Content-Language: en\n") && run.text.contains("< Content-Language: pt\n"))
            #expect(run.text.contains("fresh for "))
            let json = try await beagle("cache", "show", cache, "/varied", "--base", url, "--json").json()["result"]
            #expect(json?.array?.count == 2)
            #expect(json?.array?.first?["varies"] == ["accept-language"])
            #expect(json?.array?.first?["fresh"] == true && json?.array?.first?["complete"] == true)
            // The query belongs to the URL.
            #expect(try await beagle("cache", "show", cache, "\(url)/cached").exit == 106)
            #expect(try await beagle("cache", "show", cache, "\(url)/cached?token=secret").exit == 0)
        }
    }

    @Test func showWritesTheBody() async throws {
        try await withStoredResponses { url, cache in
            let last = try await beagle("cache", "show", cache, "\(url)/varied", "-o", "-")
            #expect(last.text.contains("Olá"))
            let first = try await beagle("cache", "show", cache, "\(url)/varied", "-o", "-", "--number", "1")
            #expect(first.text.contains("Hello"))
            #expect(try await beagle("cache", "show", cache, "\(url)/varied", "-o", "-", "--number", "3").exit == 106)
            let path = "\(cache)-file"
            let run = try await beagle("cache", "show", cache, "\(url)/file", "-o", path)
            #expect(run.errors == "\(path): 1.0 MB\n")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == 1 << 20)
        }
    }

    @Test func responsesOfAUserAreShownAndRemoved() async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let cache = "\(directory)/cache"
                for user in ["ana", "bob"] {
                    _ = try await beagle("raw", "\(url)/cached", "--cache", cache, "--cache-user", user)
                }
                let missing = try await beagle("cache", "show", cache, "\(url)/cached", "--json")
                #expect(missing.exit == 106)
                #expect(try missing.json()["error"]?["code"] == "not_stored")
                #expect(try await beagle("cache", "show", cache, "\(url)/cached", "--cache-user", "ana").exit == 0)

                let run = try await beagle("cache", "clear", cache, "--cache-user", "ana")
                #expect(run.exit == 0 && run.errors == "\(cache): removed 1 response\n")
                #expect(try await beagle("cache", "show", cache, "\(url)/cached", "--cache-user", "ana").exit == 106)
                #expect(try await beagle("cache", "show", cache, "\(url)/cached", "--cache-user", "bob").exit == 0)
            }
        }
    }

    @Test func clearRemovesEverything() async throws {
        try await withStoredResponses { url, cache in
            let json = try await beagle("cache", "clear", cache, "--json").json()["result"]
            #expect(json == ["removed": 4, "remaining": 0])
            #expect(try !FileManager.default.contentsOfDirectory(atPath: cache).contains { $0.hasSuffix(".body") })
            let list = try await beagle("cache", "list", cache)
            #expect(list.exit == 0 && list.output.isEmpty && list.errors == "\(cache) has no responses\n")
            #expect(
                try await beagle("raw", "\(url)/cached", "--cache", cache, "--json").json()["result"]?["cache"]?[
                    "stored"
                ] == false
            )
        }
    }

    @Test func verifyRemovesDamagedResponses() async throws {
        try await withStoredResponses { url, cache in
            let good = try await beagle("cache", "verify", cache)
            #expect(good.exit == 0)
            #expect(good.errors == "\(cache): checked 4 responses, removed 0\n")

            let names = try FileManager.default.contentsOfDirectory(atPath: cache)
            let name = try #require(names.first { $0.hasSuffix(".body") })
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: "\(cache)/\(name)"))
            try file.seek(toOffset: 1_000)
            try file.write(contentsOf: Data("!".utf8))
            try file.close()

            let bad = try await beagle("cache", "verify", cache, "--json")
            #expect(bad.exit == 101)
            #expect(bad.errors.contains("a stored response was damaged and removed"))
            let error = try bad.json()["error"]
            #expect(error?["code"] == "damaged" && error?["checked"] == 4 && error?["removed"] == 1)
            #expect(try await beagle("cache", "verify", cache).exit == 0)
            #expect(try await beagle("cache", "show", cache, "\(url)/file").exit == 106)
        }
    }

    private static let commands = [["stats"], ["list"], ["show"], ["clear"], ["verify"]]

    @Test(arguments: Self.commands) func directoryWithoutACacheIsReported(_ command: [String]) async throws {
        try await withDirectory { directory in
            let more = command == ["show"] ? ["http://h/"] : []
            for path in [directory, "\(directory)/none", "/dev/null"] {
                let run = try await beagle(["cache"] + command + [path] + more)
                #expect(run.exit == 26)
                #expect(run.errors.contains("there are no stored responses in \(path)"), "\(run.errors)")
                let json = try await beagle(["cache"] + command + [path] + more + ["--json"]).json()
                #expect(json["ok"] == false && json["error"]?["code"] == "file")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
        }
    }

    @Test(arguments: Self.commands) func otherFileIsNotTouched(_ command: [String]) async throws {
        try await withDirectory { directory in
            let more = command == ["show"] ? ["http://h/"] : []
            let path = "\(directory)/responses.sqlite"
            let bytes = Data(String(repeating: "no database ", count: 1_000).utf8)
            try bytes.write(to: URL(fileURLWithPath: path))
            let run = try await beagle(["cache"] + command + [directory] + more)
            #expect(run.exit == 101, "\(run.errors)")
            #expect(run.errors.contains("is unusable"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        }
    }

    private static let invalidOptionsAreUsageErrorsArguments: [[String]] = [
        ["list"], ["show", "d"], ["show", "d", "http://h/", "-o", ""], ["show", "d", "http://h/", "-o", "-", "--json"],
        ["show", "d", "http://h/", "--number", "1"], ["clear", "d", "--cache-user", ""], ["dance", "d"],
    ]

    @Test(arguments: Self.invalidOptionsAreUsageErrorsArguments)
    func invalidOptionsAreUsageErrors(_ arguments: [String]) async throws {
        #expect(try await beagle(["cache"] + arguments).exit == 64)
    }
}
