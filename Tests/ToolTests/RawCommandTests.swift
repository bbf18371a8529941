import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct RawCommandTests {
    @Test func severalPiecesOfDataAreJoined() async throws {
        let server = try LoopbackServer { .response(200, [:], $0.body) }
        let run = try await beagle("raw", server.url, "-d", "a=1", "-d", "b=2")
        #expect(run.output == Data("a=1&b=2".utf8))
        #expect(try await beagle("raw", server.url, "-d", "a=1", "-d", "@file").exit == 64)
    }

    @Test func speedIsLimited() async throws {
        let body = LoopbackServer.Response.response(200, [:], Data(count: 16 << 20))
        let server = try LoopbackServer(body)
        let run = try await beagle("raw", server.url, "--limit-rate", "100K", "-m", "1", "--json")
        #expect(run.exit == 28)
        #expect(try run.json()["error"]?["phase"] == "body")
        #expect(try await beagle("raw", server.url, "--limit-rate", "1G").output.count == 16 << 20)
    }

    @Test func slowBodyTimesOut() async throws {
        let head = LoopbackServer.Response.raw("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
        let slow = LoopbackServer.Response.dribble(Data(repeating: 0x41, count: 10_000), every: .milliseconds(10))
        let server = try LoopbackServer(.sequence([head, slow]))
        let run = try await beagle("raw", server.url, "--speed-limit", "10k", "--speed-time", "0.2")
        #expect(run.exit == 28)
        #expect(run.errors.contains("10240 bytes per second"), "\(run.errors)")
        #expect(run.errors.contains("decrease --speed-limit"), "\(run.errors)")
    }

    private static let invalidSpeedIsAUsageErrorArguments: [[String]] = [
        ["--limit-rate", "0"], ["--limit-rate", "fast"], ["--limit-rate", "-1"], ["--limit-rate", "99999999999G"],
        ["-Y", "0"], ["-y", "0"], ["-y", "1e9"], ["--limit-rate", "1K", "-Y", "2K"],
    ]

    @Test(arguments: Self.invalidSpeedIsAUsageErrorArguments)
    func invalidSpeedIsAUsageError(_ flags: [String]) async throws {
        #expect(try await beagle(["raw", "http://127.0.0.1:1/"] + flags).exit == 64)
    }

    @Test func requestIsSentAsSpecified() async throws {
        let server = try LoopbackServer(.response(200, [:], "done"))
        let run = try await beagle(
            "raw",
            "\(server.url)/a?b=c",
            "-X",
            "patch",
            "-d",
            "{\"x\":1}",
            "-H",
            "X-One: 1",
            "-H",
            "User-Agent:",
            "-H",
            "Accept: text/plain"
        )
        #expect(run.text == "done")
        let request = try #require(server.requests.first)
        #expect(request.method == "PATCH")
        #expect(request.target == "/a?b=c")
        #expect(request.body == Data("{\"x\":1}".utf8))
        #expect(request.values(of: "Content-Type") == ["application/json"])
        #expect(request.values(of: "X-One") == ["1"])
        #expect(request.values(of: "Accept") == ["text/plain"])
        #expect(request["User-Agent"] == nil)
    }

    @Test(arguments: ["@-", "@FILE"])
    func bodyIsReadFromAFileOrStandardInput(_ source: String) async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let path = "\(directory)/body"
                try Data("from elsewhere".utf8).write(to: URL(fileURLWithPath: path))
                let data = source == "@-" ? source : "@\(path)"
                let run = try await beagle("raw", "\(url)/echo", "-d", data, input: "from elsewhere")
                #expect(try run.json()["body"] == "from elsewhere")
                #expect(try run.json()["method"] == "POST")
            }
        }
    }

    @Test(arguments: ["", "host.invalid"])
    func proxyOfTheEnvironmentIsUsed(unlessExcepted excepted: String) async throws {
        let server = try LoopbackServer(.response(200, [:], "from the proxy"))
        let environment = ["http_proxy": server.url, "no_proxy": excepted]
        let run = try await BeagleProcess(["raw", "http://host.invalid/a"], environment: environment).outcome()
        #expect(run.exit == (excepted.isEmpty ? 0 : 6))
        #expect(server.requests.map(\.target) == (excepted.isEmpty ? ["http://host.invalid/a"] : []))
    }

    @Test func trailersArePrinted() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try LoopbackServer(.raw("\(head)2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Api-Key: tOpSeCrEt\r\n\r\n"))
        let run = try await beagle("raw", server.url, "-v")
        #expect(run.errors.contains("< X-Sum: 1\n"))
        #expect(!run.errors.contains("tOpSeCrEt"))
        let trailers = try await beagle("raw", server.url, "--json").json()["result"]?["trailers"]
        #expect(trailers == [["X-Sum", "1"], ["X-Api-Key", "tOpSeCrEt"]])
    }

    @Test func bodyOfAnErrorIsPrinted() async throws {
        try await withBackend { url in
            let run = try await beagle("raw", "\(url)/fail", "-i")
            #expect(run.exit == 22)
            #expect(run.text.hasPrefix("HTTP/1.1 500 Internal Server Error\n"))
            #expect(run.text.contains("\n\n{\"detail\":\"this route always fails\""))
            #expect(run.errors.contains("500 Internal Server Error: this route always fails"))
        }
    }

    @Test(arguments: [("/nonexistent/body", "No such file or directory"), ("/", "Is a directory")])
    func unreadableFileFailsBeforeSending(_ path: String, _ reason: String) async throws {
        let server = try LoopbackServer(.response(200, [:], ""))
        let run = try await beagle("raw", server.url, "-d", "@\(path)")
        #expect(run.exit == 26)
        #expect(run.errors.contains("cannot read \(path): \(reason)"))
        #expect(server.record.requestCount == 0)
    }

    @Test func interruptEndsTheWaitForABody() async throws {
        let input = String(repeating: "x", count: 1 << 20)
        let process = try BeagleProcess(["raw", "http://h/", "-d", "@-"], input: input, keepsInputOpen: true)
        await process.inputTaken()
        process.interrupt()
        #expect(await process.outcome().exit == -1, "the signal ended it")
    }

    @Test func bodyIsReadFromAPipe() async throws {
        let server = try LoopbackServer { .response(200, [:], $0.body) }
        let run = try await beagle("raw", server.url, "-d", "@/dev/stdin", input: "from a pipe")
        #expect(run.text == "from a pipe")
        #expect(try await beagle("raw", server.url, "-d", "@").exit == 64)
    }
}
