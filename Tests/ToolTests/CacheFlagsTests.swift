import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// `--cache`, `--cache-mode` and `--cache-user`, over real sockets.
struct CacheFlagsTests {
    private typealias Answer = @Sendable (LoopbackServer.Request) -> LoopbackServer.Response

    /// A server that answers each request with the next number.
    private static func countingServer(_ cacheControl: String = "max-age=60") throws -> LoopbackServer {
        let count = Lock(0)
        return try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .response(200, ["Cache-Control": cacheControl, "Content-Type": "text/plain"], "\(number)")
        }
    }

    private static let screen = #"{"_beagleComponent_":"beagle:text","text":"stored"}"#

    // MARK: - Source of a response

    struct Kind: CustomTestStringConvertible {
        let command: String
        let body: Data
        var more: [String] = []

        var testDescription: String { command }
    }

    private static let png =
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data("IHDR".utf8)
        + Data([0, 0, 0, 3, 0, 0, 0, 2, 8, 6, 0, 0, 0])

    private static let secondRunUsesTheCacheArguments: [Kind] = [
        Kind(command: "raw", body: Data("text".utf8)), Kind(command: "image", body: png, more: ["-o", "-"]),
        Kind(command: "graphql", body: Data(#"{"data":{"a":1}}"#.utf8), more: ["-q", "{ a }"]),
        Kind(command: "graphql", body: Data(#"{"data":{"a":1}}"#.utf8), more: ["-q", "{ a }", "--persisted"]),
        Kind(command: "fetch", body: Data(screen.utf8), more: ["--cache-mode", "http", "--tree"]),
    ]

    @Test(arguments: Self.secondRunUsesTheCacheArguments)
    func secondRunUsesTheCache(_ kind: Kind) async throws {
        let server = try LoopbackServer(.response(200, ["Cache-Control": "max-age=60"], kind.body))
        try await withDirectory { directory in
            let arguments = [kind.command, server.url, "--cache", "\(directory)/cache"] + kind.more
            let first = try await beagle(arguments)
            #expect(first.exit == 0, "\(first.errors)")
            #expect(!first.errors.contains("from the cache"))
            let second = try await beagle(arguments)
            #expect(second.exit == 0, "\(second.errors)")
            #expect(second.output == first.output)
            #expect(second.errors.contains(#/from the cache, \d+ s old\n/#), "\(second.errors)")
            #expect(server.requests.count == 1)
        }
    }

    @Test func jsonHasTheCacheStatus() async throws {
        let server = try Self.countingServer()
        try await withDirectory { directory in
            let miss = try await beagle("raw", server.url, "--cache", directory, "--json").json()["result"]?["cache"]
            #expect(miss == ["status": "fwd=uri-miss", "stored": false, "stale": false])
            let hit = try await beagle("raw", server.url, "--cache", directory, "--json").json()["result"]?["cache"]
            #expect(hit?["status"]?.string?.hasPrefix("hit; ttl=") == true)
            #expect(hit?["stored"] == true && hit?["stale"] == false)
            #expect(try #require(hit?["ageSeconds"]?.integer) + #require(hit?["ttlSeconds"]?.integer) <= 60)
            // Without a cache, there is nothing to report.
            #expect(try await beagle("raw", server.url, "--json").json()["result"]?["cache"] == nil)
        }
    }

    @Test func jsonOfAFailureHasTheCacheStatus() async throws {
        let server = try LoopbackServer(.response(404, ["Cache-Control": "max-age=60"], "none"))
        try await withDirectory { directory in
            for isStored in [false, true] {
                let run = try await beagle("raw", server.url, "--cache", directory, "--json")
                #expect(run.exit == 22)
                #expect(try run.json()["error"]?["cache"]?["stored"] == .bool(isStored))
            }
        }
    }

    @Test func verboseShowsTheStatusAndTheStoredHead() async throws {
        let server = try Self.countingServer()
        try await withDirectory { directory in
            let first = try await beagle("raw", server.url, "--cache", directory, "-v")
            #expect(first.errors.contains("* cache: fwd=uri-miss\n"))
            let second = try await beagle("raw", server.url, "--cache", directory, "-v", "-i")
            #expect(second.errors.contains("* cache: hit; ttl="))
            #expect(second.errors.contains("< Cache-Control: max-age=60\n"))
            #expect(second.text.hasPrefix("HTTP/1.1 200 OK\n"))
        }
    }

    @Test func confirmedScreenComesFromTheCache() async throws {
        let server = try LoopbackServer { request in
            request["if-none-match"] == "\"1\""
                ? .response(304, ["ETag": "\"1\""])
                : .response(200, ["ETag": "\"1\"", "Cache-Control": "no-cache"], Self.screen)
        }
        try await withDirectory { directory in
            let first = try await beagle("fetch", server.url, "--cache", directory)
            let second = try await beagle("fetch", server.url, "--cache", directory)
            #expect(second.output == first.output)
            #expect(second.errors == "from the cache, confirmed by the server\n")
            let third = try await beagle("fetch", server.url, "--cache", directory, "--json").json()
            #expect(third["result"]?["cache"]?["confirmed"] == true)
            #expect(third["result"]?["cache"]?["stored"] == true)
        }
        #expect(server.requests.map { $0["if-none-match"] } == [nil, "\"1\"", "\"1\""])
    }

    // MARK: - Encryption

    @Test func responsesAreEncryptedWithTheKeyInAFile() async throws {
        let server = try LoopbackServer(.response(200, ["Cache-Control": "max-age=60"], "a secret text"))
        try await withDirectory { directory in
            let cache = "\(directory)/cache"
            try Data.random(count: 32).write(to: URL(filePath: "\(directory)/key"))
            try Data(String(repeating: "0f ", count: 32).utf8).write(to: URL(filePath: "\(directory)/hex"))
            let arguments = [server.url, "--cache", cache]
            for exchanges in [1, 1] {
                let run = try await beagle(["raw"] + arguments + ["--cache-key", "\(directory)/key"])
                #expect(run.text == "a secret text" && server.requests.count == exchanges, "\(run.errors)")
            }
            let texts = try FileManager.default.subpathsOfDirectory(atPath: cache)
                .map { FileManager.default.contents(atPath: "\(cache)/\($0)") ?? Data() }
            #expect(!texts.isEmpty)
            #expect(texts.allSatisfy { $0.firstRange(of: Data("secret text".utf8)) == nil })
            let shown = try await beagle(
                "cache",
                "show",
                cache,
                server.url,
                "--cache-key",
                "\(directory)/key",
                "-o",
                "-"
            )
            #expect(shown.text == "a secret text", "\(shown.errors)")
            // The hexadecimal key is another one.
            let hidden = try await beagle("cache", "list", cache, "--cache-key", "\(directory)/hex")
            #expect(hidden.text.isEmpty)
            #expect(
                hidden.errors.contains("1 response not listed: encrypted with another key or without one, or damaged")
            )
            let other = try await beagle(["raw"] + arguments + ["--cache-key", "\(directory)/hex"])
            #expect(other.exit == 0 && server.requests.count == 2)
            #expect(other.errors.contains("encrypted with another key"), "\(other.errors)")
        }
    }

    @Test func keyThatIsNotUsableIsRejected() async throws {
        try await withDirectory { directory in
            try Data("too short".utf8).write(to: URL(filePath: "\(directory)/short"))
            // These would be 64 digits if signs were allowed.
            try Data(String(repeating: "+a", count: 32).utf8).write(to: URL(filePath: "\(directory)/signs"))
            for (key, reason) in [("short", "9 bytes"), ("signs", "64 bytes"), ("none", "none")] {
                let run = try await beagle(
                    "raw",
                    "http://127.0.0.1:1/",
                    "--cache",
                    "\(directory)/cache",
                    "--cache-key",
                    "\(directory)/\(key)"
                )
                #expect(run.exit != 0 && run.errors.contains(reason), "\(run.errors)")
            }
            let noCache = try await beagle("raw", "http://127.0.0.1:1/", "--cache-key", "\(directory)/short")
            #expect(noCache.exit == 64 && noCache.errors.contains("'--cache-key' requires '--cache'"))
        }
    }

    // MARK: - Stale responses

    @Test(arguments: [["fetch"], ["image", "-o", "-"]])
    func staleResponseReplacesThatOfAServerThatIsGone(_ command: [String]) async throws {
        let body = command[0] == "fetch" ? Data(Self.screen.utf8) : Self.png
        let server = try LoopbackServer(.response(200, ["Cache-Control": "max-age=0"], body))
        try await withDirectory { directory in
            let arguments = command + [server.url, "--cache", directory]
            let first = try await beagle(arguments)
            #expect(first.exit == 0, "\(first.errors)")
            server.stop()
            let second = try await beagle(arguments)
            #expect(second.exit == 0, "\(second.errors)")
            #expect(second.output == first.output)
            #expect(second.errors.contains(#/from the cache, \d+ s old, stale; .*127\.0\.0\.1/#), "\(second.errors)")
            let cache = try await beagle(
                arguments.map { $0 == "-" ? "/dev/null" : $0 } + ["--json"]
            ).json()["result"]?["cache"]
            #expect(cache?["stale"] == true && cache?["stored"] == true)
        }
    }

    @Test func staleScreenReplacesAServerError() async throws {
        let isDown = Lock(false)
        let server = try LoopbackServer { _ in
            isDown.withLock { $0 } ? .response(503) : .response(200, [:], Self.screen)
        }
        try await withDirectory { directory in
            _ = try await beagle("fetch", server.url, "--cache", directory)
            isDown.withLock { $0 = true }
            let run = try await beagle("fetch", server.url, "--cache", directory)
            #expect(run.exit == 0)
            #expect(run.errors.contains("stale; the server responded with 503\n"))
            // HTTP's own rules don't permit it.
            #expect(try await beagle("fetch", server.url, "--cache", directory, "--cache-mode", "http").exit == 22)
        }
    }

    /// The tool ends only after the validation, so that the next run has the new response.
    @Test func staleWhileRevalidateIsRevalidatedBeforeTheEnd() async throws {
        let server = try Self.countingServer("max-age=0, stale-while-revalidate=60")
        try await withDirectory { directory in
            for text in ["1", "1", "2"] {
                let run = try await beagle("raw", server.url, "--cache", directory)
                #expect(run.text == text)
            }
        }
        #expect(server.requests.count == 3)
    }

    // MARK: - Modes

    private static let modeSaysWhetherTheNetworkIsUsedArguments: [(CacheMode, Int)] = [
        (CacheMode.http, 1), (.cacheFirst, 1), (.cacheOnly, 1), (.networkOnly, 2), (.networkFirst, 2),
        (.cacheAndNetwork, 2),
    ]

    @Test(arguments: Self.modeSaysWhetherTheNetworkIsUsedArguments)
    func modeSaysWhetherTheNetworkIsUsed(_ mode: CacheMode, _ requests: Int) async throws {
        let server = try Self.countingServer()
        try await withDirectory { directory in
            _ = try await beagle("raw", server.url, "--cache", directory)
            let run = try await beagle("raw", server.url, "--cache", directory, "--cache-mode", mode.rawValue)
            #expect(run.text == "\(requests)")
        }
        #expect(server.requests.count == requests)
    }

    @Test func cacheOnlyWithoutAResponseExitsWith106() async throws {
        let server = try Self.countingServer()
        try await withDirectory { directory in
            let run = try await beagle("raw", server.url, "--cache", directory, "--cache-mode", "cache-only")
            #expect(run.exit == 106)
            #expect(run.errors.contains("no response is stored"))
            #expect(run.errors.contains("--cache-mode"))
            let json = try await beagle(
                "fetch",
                server.url,
                "--cache",
                directory,
                "--cache-mode",
                "cache-only",
                "--json"
            ).json()
            #expect(json["error"]?["code"] == "not_stored")
        }
        #expect(server.requests.isEmpty)
    }

    private static let invalidOptionsAreUsageErrorsArguments: [[String]] = [
        ["raw", "http://h/", "--cache-mode", "http"], ["fetch", "http://h/", "--cache-user", "ana"],
        ["raw", "http://h/", "--cache", ""], ["raw", "http://h/", "--cache", "d", "--cache-mode", "default"],
        ["raw", "http://h/", "--cache", "d", "--cache-user", ""],
        ["submit", "http://h/", "a=b", "--outbox", "o", "--cache", "d"],
        ["raw", "http://h/", "--cache", "d", "--replay", "r.har"], ["subscribe", "http://h/", "--cache", "d"],
        ["listen", "http://h/", "--cache", "d"], ["ws", "ws://h/", "--cache", "d"],
    ]

    @Test(arguments: Self.invalidOptionsAreUsageErrorsArguments)
    func invalidOptionsAreUsageErrors(_ arguments: [String]) async throws {
        try await withDirectory { directory in
            let run = try await beagle(arguments.map { $0 == "d" ? "\(directory)/d" : $0 })
            #expect(run.exit == 64, "\(run.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
        }
    }

    @Test func directoryThatCannotBeUsedIsReported() async throws {
        let server = try Self.countingServer()
        let run = try await beagle("raw", server.url, "--cache", "/dev/null/cache", "--json")
        #expect(run.exit == 23)
        #expect(try run.json()["error"]?["code"] == "file")
        #expect(try run.json()["error"]?["message"]?.string?.contains("/dev/null/cache") == true)
        #expect(server.requests.isEmpty)
    }

    @Test func offlineUsesNoCache() async throws {
        try await withDirectory { directory in
            let run = try await beagle("raw", "http://h/", "--offline", "--cache", "\(directory)/cache")
            #expect(run.exit == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
        }
    }

    @Test func storedBodyIsLimited() async throws {
        let server = try LoopbackServer(
            .response(200, ["Cache-Control": "max-age=60"], String(repeating: "x", count: 1_000))
        )
        try await withDirectory { directory in
            _ = try await beagle("raw", server.url, "--cache", directory)
            let run = try await beagle("raw", server.url, "--cache", directory, "--max-filesize", "999")
            #expect(run.exit == 63)
            #expect(run.errors.contains("increase --max-filesize"))
        }
    }

    @Test func submittedFormRemovesTheResponsesOfItsURL() async throws {
        let server = try Self.countingServer()
        try await withDirectory { directory in
            var texts: [String] = []
            for command in [["raw"], ["submit", "a=b"], ["raw"]] {
                let arguments = [command[0], server.url] + command.dropFirst() + ["--cache", directory]
                texts.append(try await beagle(arguments).text)
            }
            #expect(texts == ["1", "2", "3"])
        }
    }

    // MARK: - Users

    /// A server whose responses name the user of the request.
    private static func personalServer() throws -> LoopbackServer {
        try LoopbackServer { request in
            .response(
                200,
                ["Cache-Control": "max-age=60"],
                request["authorization"] ?? request["cookie"] ?? "anonymous"
            )
        }
    }

    @Test func usersAreKeptApart() async throws {
        let server = try Self.personalServer()
        try await withDirectory { directory in
            for _ in 0..<2 {
                for name in ["ana", "bob"] {
                    let run = try await beagle(
                        "raw",
                        server.url,
                        "--oauth2-bearer",
                        name,
                        "--cache",
                        directory,
                        "--cache-user",
                        name
                    )
                    #expect(run.text == "Bearer \(name)")
                }
            }
            #expect(server.requests.count == 2)
            #expect(try await beagle("raw", server.url, "--cache", directory).text == "anonymous")
        }
    }

    private static let personalRequestIsNotStoredWithoutAUserArguments: [[String]] = [
        ["-u", "ana:secretsecret"], ["--oauth2-bearer", "secretsecret"], ["-H", "Authorization: Basic c2VjcmV0"],
        ["-b", "session=secretsecret"], ["-H", "X-Token: secretsecret"], ["-c", "jar.txt"],
    ]

    @Test(arguments: Self.personalRequestIsNotStoredWithoutAUserArguments)
    func personalRequestIsNotStoredWithoutAUser(_ options: [String]) async throws {
        let server = try Self.personalServer()
        try await withDirectory { directory in
            let options = options.map { $0 == "jar.txt" ? "\(directory)/\($0)" : $0 }
            let cache = "\(directory)/cache"
            for _ in 0..<2 {
                let run = try await beagle(["raw", server.url, "--cache", cache] + options)
                #expect(run.exit == 0)
                #expect(run.errors.contains("is not stored") && run.errors.contains("--cache-user"))
                #expect(!run.errors.contains("secretsecret"))
            }
            #expect(server.requests.count == 2)
            #expect(try await beagle("cache", "list", cache).output.isEmpty)
        }
    }

    @Test func directoryHasNoSecretsOfRequests() async throws {
        let server = try LoopbackServer(
            .response(200, ["Cache-Control": "max-age=60", "Set-Cookie": "session=hidden5"], "body")
        )
        try await withDirectory { directory in
            let url = "\(server.url)/a?token=hidden1"
            let run = try await beagle(
                "raw",
                url,
                "-H",
                "Authorization: Bearer hidden2",
                "-b",
                "session=hidden3",
                "--cache",
                directory,
                "--cache-user",
                "hidden4"
            )
            #expect(run.exit == 0, "\(run.errors)")
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(names.contains("responses.sqlite"))
            for name in names {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)"))
                #expect(bytes.range(of: Data("hidden".utf8)) == nil, "\(name)")
            }
            // The store is used all the same.
            let second = try await beagle(
                "raw",
                url,
                "-H",
                "Authorization: Bearer hidden2",
                "-b",
                "session=hidden3",
                "--cache",
                directory,
                "--cache-user",
                "hidden4"
            )
            #expect(second.text == "body" && server.requests.count == 1)
        }
    }

    // MARK: - Interrupted downloads

    private static let content = Data.random(count: 2 << 20)

    /// A server whose first response stops after half of the body.
    private static func interruptingServer() throws -> LoopbackServer {
        try LoopbackServer { request in
            let count = content.count
            guard let range = request["range"], let start = Int(range.dropFirst(6).dropLast()) else {
                let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(count)\r\n\r\n"
                return .sequence([.raw(Data(head.utf8) + content.prefix(count / 2)), .stall])
            }
            return .response(
                206,
                ["ETag": "\"1\"", "Content-Range": "bytes \(start)-\(count - 1)/\(count)"],
                Data(content.dropFirst(start))
            )
        }
    }

    enum Ending: CaseIterable {
        case killed, interrupted
    }

    @Test(arguments: Ending.allCases) func unfinishedDownloadIsContinued(_ ending: Ending) async throws {
        let server = try Self.interruptingServer()
        try await withDirectory { directory in
            let (cache, path) = ("\(directory)/cache", "\(directory)/file")
            let arguments = ["raw", server.url, "-o", path, "--cache", cache]
            let process = try BeagleProcess(arguments)
            var stored: Int64 = 0
            while stored < 512 << 10 {
                try await Task.sleep(for: .milliseconds(20))
                let entries = try await beagle("cache", "list", cache, "--json").json()["result"]?.array ?? []
                stored = entries.first { $0["complete"] == false }?["bytes"]?.integer ?? 0
            }
            if ending == .killed { process.kill() } else { process.interrupt() }
            #expect(await process.outcome().exit == (ending == .killed ? -1 : 130))
            #expect(!FileManager.default.fileExists(atPath: path))

            let run = try await beagle(arguments)
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.errors.contains("continued from the cache"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Self.content)
            let last = try #require(server.requests.last)
            let start = try #require(last["range"].flatMap { Int($0.dropFirst(6).dropLast()) })
            #expect(start >= 512 << 10 && last["if-range"] == "\"1\"")

            // Now it is complete. Without a lifetime, it is validated.
            let list = try await beagle("cache", "list", cache, "--json").json()["result"]?.array
            #expect(list?.map { $0["complete"] } == [true])
            #expect(list?.first?["bytes"]?.integer == Int64(Self.content.count))
        }
    }
}
