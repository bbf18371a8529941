import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct BatchCommandTests {
    /// The replies, by id.
    private func replies(to lines: [JSONValue], _ last: String = "") async throws -> [JSONValue: JSONValue] {
        let run = try await beagle("batch", input: lines.map { "\($0)\n" }.joined() + last)
        #expect(run.exit == 0)
        let replies = try run.lines.map { line throws in try JSONValue(parsing: line) }
        #expect(replies.count == lines.count)
        return Dictionary(replies.map { ($0["id"] ?? .null, $0) }) { first, _ in first }
    }

    @Test func requestIsSentAsGiven() async throws {
        let server = try LoopbackServer(.response(200, ["X-Reply": "yes"], "hello"))
        let replies = try await replies(to: [
            [
                "id": "a", "method": "PUT", "url": .string("\(server.url)/x%20y?q#fragment"), "body": "text",
                "headers": [["X-b", "1"], ["x-A", " 2 "], ["X-B", "3"], ["User-Agent", "me"]],
            ]
        ])
        let request = try #require(server.requests.first)
        let given = request.fields.filter { ["x-a", "x-b", "user-agent"].contains($0.name.lowercased()) }
        #expect(given.map { "\($0.name): \($0.value)" } == ["X-b: 1", "x-A: 2", "X-B: 3", "User-Agent: me"])
        #expect(request.method == "PUT")
        #expect(request.target == "/x%20y?q")
        #expect(request.body == Data("text".utf8))

        let reply = try #require(replies["a"])
        #expect(reply["status"] == 200)
        #expect(reply["body"] == "hello")
        #expect(reply["bodyBytes"] == 5)
        #expect(reply["bodySha256"] == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
        #expect(reply["headers"]?.array?.contains(["X-Reply", "yes"]) == true)
    }

    @Test func bodiesComeAsBytesOrAsASize() async throws {
        let server = try LoopbackServer(.response(204, [:], ""))
        let url = JSONValue.string(server.url)
        _ = try await replies(to: [
            ["id": 1, "method": "POST", "url": url, "bodyBase64": "AP8="],
            ["id": 2, "method": "POST", "url": url, "bodySize": 200_000],
        ])
        let bodies = server.requests.map(\.body).sorted { $0.count < $1.count }
        #expect(bodies.first == Data([0, 255]))
        #expect(bodies.last == Data(repeating: UInt8(ascii: "u"), count: 200_000))
    }

    @Test func onlyOneBodyMayBeGiven() async throws {
        let replies = try await replies(to: [
            ["id": 1, "url": "http://h/", "body": "a", "bodyBase64": .null, "bodySize": 1]
        ])
        #expect(replies[1]?["error"]?["message"] == "body and bodySize cannot be used together")
    }

    @Test func inputIsReadNoFurtherAheadThanItIsTaken() async {
        let read = Lock(0)
        let lines = LineReader.lines {
            read.withLock { read in
                read += 1
                return read <= 10_000 ? "line" : nil
            }
        }
        var (taken, ahead) = (0, 0)
        for await _ in lines {
            taken += 1
            ahead = max(ahead, read.withLock { $0 } - taken)
        }
        #expect(taken == 10_000)
        #expect(ahead <= LineReader.readAhead)
    }

    @Test func largeBodyIsHashedAndLeftOut() async throws {
        try await withBackend { url in
            let replies = try await replies(to: [["id": 1, "url": .string("\(url)/home")]])
            let reply = try #require(replies[1])
            #expect(reply["bodyBytes"] == .integer(Int64(DemoScreens.home.utf8.count + 1)))
            #expect(reply["body"] == nil)
            let hash = try SHA256Digest.hex(of: Data("\(DemoScreens.home)\n".utf8))
            #expect(reply["bodySha256"] == .string(hash))
        }
    }

    @Test func slowRequestsHoldNothingUp() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer { request in
            guard request.target == "/held" else { return .response(200, [:], "quick") }
            return .sequence([.gate(gate), .response(200, [:], "held")])
        }
        let process = try BeagleProcess(
            ["batch"],
            input: """
                {"id":1,"url":"\(server.url)/held"}
                {"id":2,"url":"\(server.url)/quick"}

                """
        )
        let first = try JSONValue(parsing: await process.line())
        #expect(first["id"] == 2)
        gate.open()
        let rest = await process.outcome()
        #expect(try rest.json()["body"] == "held")
        #expect(rest.exit == 0, "the end of the input waits for what is under way")
    }

    @Test func redirectIsFollowedOrHandedOver() async throws {
        try await withBackend { url in
            let replies = try await replies(to: [
                ["id": 1, "url": .string("\(url)/redirect"), "redirect": "manual"],
                ["id": 2, "url": .string("\(url)/redirect"), "redirect": "follow"],
            ])
            #expect(replies[1]?["status"] == 302)
            #expect(replies[2]?["status"] == 200)
        }
    }

    @Test func interimResponsesAreReported() async throws {
        let server = try LoopbackServer(
            .raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        )
        let replies = try await replies(to: [["id": 1, "url": .string(server.url)]])
        #expect(replies[1]?["interim"] == [[103, [["Link", "</a>"]]]])
    }

    private static let badRequestIsAnsweredWithItsTroubleArguments: [(String, String)] = [
        (#""url": "nope""#, "bad_url"), (#""url": "ftp://h/""#, "unsupported_scheme"), (#""x": 1"#, "bad_url"),
        (#""url": "http://h/", "method": "A B""#, "bad_request"),
        (#""url": "http://h/", "headers": [["A", "b\r\nC: d"]]"#, "bad_request"),
        (#""url": "http://h/", "headers": [["A b", "c"]]"#, "bad_request"),
        (#""url": "http://h/", "headers": {"A": "b"}"#, "bad_request"),
        (#""url": "http://h/", "timeoutMs": "1""#, "bad_request"),
        (#""url": "http://h/", "bodySize": -1"#, "bad_request"),
        (#""url": "http://h/", "bodyBase64": "*""#, "bad_request"),
        (#""url": "http://h/", "redirect": "maybe""#, "bad_request"),
        (#""url": "http://h/", "body": "", "bodyBase64": """#, "bad_request"),
        (#""url": "http://h/", "bodyBase64": "", "bodySize": 0"#, "bad_request"),
        (#""url": 7"#, "bad_request"), (#""op": "dance""#, "bad_request"), (#""op": 7"#, "bad_request"),
        (#""url": "http://no-such-host.invalid/""#, "dns"), (#""url": "http://127.0.0.1:1/""#, "connect"),
    ]

    @Test(arguments: Self.badRequestIsAnsweredWithItsTroubleArguments)
    func badRequestIsAnsweredWithItsTrouble(_ members: String, _ code: String) async throws {
        let run = try await beagle("batch", input: "{\"id\": [5], \(members)}\n")
        #expect(run.exit == 0)
        #expect(try run.json()["id"] == [5])
        #expect(try run.json()["error"]?["code"] == .string(code))
    }

    @Test(arguments: ["nonsense", "[1]", "{\"id\":", "\"\u{0}\""])
    func badLineIsAnsweredWithoutAnId(_ line: String) async throws {
        let run = try await beagle("batch", input: "\(line)\n\n{\"id\":1,\"op\":\"hello\"}")
        #expect(run.exit == 0)
        let replies = try run.lines.map { line throws in try JSONValue(parsing: line) }
        #expect(replies.contains { $0["id"] == .null && $0["error"]?["code"] == "bad_request" })
        #expect(replies.contains { $0["id"] == 1 && $0["features"]?.array?.contains("interim") == true })
    }

    @Test func limitsHaveTheirCodes() async throws {
        let server = try LoopbackServer { request in
            request.target == "/stall" ? .stall : .response(200, [:], String(repeating: "x", count: 1000))
        }
        let replies = try await replies(to: [
            ["id": 1, "url": .string("\(server.url)/stall"), "timeoutMs": 100],
            ["id": 2, "url": .string("\(server.url)/"), "maxBodyBytes": 999],
            ["id": 3, "url": .string("\(server.url)/"), "maxBodyBytes": 1000],
        ])
        #expect(replies[1]?["error"]?["code"] == "timeout")
        #expect(replies[2]?["error"]?["code"] == "too_large")
        #expect(replies[3]?["status"] == 200)
    }

    private static let timeLimitOfConnectingHasItsOwnWordArguments: [(NetworkError.Phase, String)] = [
        (NetworkError.Phase.resolve, "connect_timeout"), (.connect, "connect_timeout"), (.tls, "connect_timeout"),
        (.firstByte, "timeout"), (.body, "timeout"),
    ]

    @Test(arguments: Self.timeLimitOfConnectingHasItsOwnWordArguments)
    func timeLimitOfConnectingHasItsOwnWord(_ phase: NetworkError.Phase, _ code: String) {
        let reply = BatchReply.failed(NetworkError(.timeout, during: phase, "time is up"))
        #expect(reply["error"]?["code"] == .string(code))
    }

    private static let advice: [(NetworkError.Kind, String, String)] = [
        (.timeout, "increase Timeouts.total", "allow more time with timeoutMs or connectTimeoutMs"),
        (.tooManyRedirects, "increase RedirectPolicy.limit", "check the redirects of the server"),
    ]

    @Test(arguments: advice)
    func adviceSpeaksOfTheLinesMembers(_ kind: NetworkError.Kind, _ advice: String, _ words: String) {
        let error = NetworkError(kind, during: .firstByte, "it failed", advice: advice)
        #expect(BatchReply.failed(error)["error"]?["message"]?.string == "it failed; \(words)")
    }

    @Test func quitEndsItAfterPendingRequests() async throws {
        try await withBackend { url in
            let run = try await beagle(
                "batch",
                input: """
                    {"id":1,"url":"\(url)/lazy/news"}
                    {"id":2,"op":"clear"}
                    {"id":3,"op":"quit"}
                    {"id":4,"op":"hello"}

                    """
            )
            #expect(run.exit == 0)
            #expect(run.lines.count == 2)
        }
    }

    // MARK: - The cache on the disk

    /// The replies of a run with a cache on the disk.
    private func replies(to lines: [JSONValue], cache: String) async throws -> [JSONValue] {
        let run = try await beagle(
            "batch",
            input: lines.map { "\($0)\n" }.joined(),
            environment: ["CACHE_DIR": cache, "CACHE_MAX_BYTES": "1000000"]
        )
        #expect(run.exit == 0)
        return try run.lines.map { line throws in try JSONValue(parsing: line) }
    }

    @Test func cacheOnTheDiskOutlivesTheProcess() async throws {
        let server = try LoopbackServer(.response(200, ["Cache-Control": "max-age=60"], "body"))
        let line: JSONValue = ["id": 1, "url": .string(server.url)]
        try await withDirectory { directory in
            let isStored = try await [
                replies(to: [line], cache: directory), replies(to: [line], cache: directory),
                replies(to: [["id": 1, "op": "clear"]], cache: directory), replies(to: [line], cache: directory),
            ].map { $0.first?["fromCache"] }
            #expect(isStored == [false, true, nil, false])
            #expect(server.requests.count == 2)
        }
    }

    @Test func featuresOfTheDiskAreDeclaredOnlyWithOne() async throws {
        let hello: JSONValue = ["id": 1, "op": "hello"]
        try await withDirectory { directory in
            for feature in ["persistent", "coalescing"] {
                let with = try await replies(to: [hello], cache: directory).first?["features"]
                #expect(with?.array?.contains(.string(feature)) == true)
                let without = try await replies(to: [hello])[1]?["features"]
                #expect(without?.array?.contains(.string(feature)) == false)
            }
        }
    }

    @Test func equalRequestsShareAResponse() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer { request in
            guard request.target == "/held" else { return .response(200, [:], "quick") }
            return .sequence([.gate(gate), .response(200, [:], "held")])
        }
        try await withDirectory { directory in
            let held = (1...3).map { "{\"id\":\($0),\"url\":\"\(server.url)/held\"}\n" }.joined()
            let process = try BeagleProcess(
                ["batch"],
                input: held + "{\"id\":4,\"url\":\"\(server.url)/quick\"}\n",
                environment: ["CACHE_DIR": directory]
            )
            #expect(try JSONValue(parsing: await process.line())["id"] == 4)
            #expect(await server.until { $0.requests.contains { $0.target == "/held" } })
            gate.open()
            let run = await process.outcome()
            #expect(run.lines.count == 3)
            #expect(server.requests.count { $0.target == "/held" } == 1)
        }
    }

    @Test func missingResponseHasItsOwnCode() async throws {
        let replies = try await replies(to: [["id": 1, "url": "http://127.0.0.1:1/", "cacheMode": "only-if-cached"]])
        #expect(replies[1]?["error"]?["code"] == "cache_miss")
    }

    @Test(arguments: ["x", "-1", "1.5"]) func invalidSizeOfTheCacheIsReported(_ size: String) async throws {
        try await withDirectory { directory in
            let run = try await beagle(
                "batch",
                environment: ["CACHE_DIR": "\(directory)/cache", "CACHE_MAX_BYTES": size]
            )
            #expect(run.exit == 43)
            #expect(run.errors.contains("CACHE_MAX_BYTES"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
        }
    }

    @Test func interruptAnswersEverythingAndEndsWith130() async throws {
        let server = try LoopbackServer(.stall)
        let process = try BeagleProcess(
            ["batch"],
            input: "{\"id\":1,\"url\":\"\(server.url)\"}\n",
            keepsInputOpen: true
        )
        #expect(await server.until { $0.requestCount == 1 })
        process.interrupt()
        let run = await process.outcome()
        #expect(run.exit == 130)
        #expect(try run.json()["error"]?["code"] == "cancelled")
    }
}
