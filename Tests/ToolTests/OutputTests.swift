import ArgumentParser
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct OutputTests {
    struct Bad: CustomTestStringConvertible {
        let arguments: [String]
        let exit: Int32
        let code: String
        let hint: String

        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let failureGivesAdviceArguments: [Bad] = [
        Bad(
            arguments: ["raw", "localhost:8080/home"],
            exit: 3,
            code: "bad_url",
            hint: "write http://localhost:8080/home"
        ),
        Bad(arguments: ["raw", "/home"], exit: 3, code: "bad_url", hint: "--base http://HOST:PORT"),
        Bad(arguments: ["raw", "/home", "--base", "host"], exit: 3, code: "bad_url", hint: "--base http://host"),
        Bad(arguments: ["raw", "/home", "--base", ""], exit: 3, code: "bad_url", hint: "the base is empty"),
        Bad(arguments: ["raw", ""], exit: 3, code: "bad_url", hint: "the URL is empty"),
        Bad(arguments: ["raw", "http://a b/"], exit: 3, code: "bad_url", hint: "invalid character"),
        Bad(arguments: ["raw", "home", "--base", "http://h"], exit: 3, code: "bad_url", hint: "write /home"),
        Bad(arguments: ["raw", "http://h:99999/"], exit: 3, code: "bad_url", hint: "65535"),
        Bad(arguments: ["raw", "ftp://h/"], exit: 1, code: "unsupported_scheme", hint: "http or https"),
        Bad(arguments: ["raw", "http://h/", "-X", "A B"], exit: 43, code: "bad_request", hint: "use GET"),
        Bad(arguments: ["raw", "http://no-such-host.invalid/"], exit: 6, code: "dns", hint: "host name"),
        Bad(arguments: ["raw", "http://127.0.0.1:1/"], exit: 7, code: "connect", hint: "port"),
        Bad(arguments: ["raw", "http://127.0.0.1:1/", "-H", "no colon"], exit: 64, code: "usage", hint: "header"),
        Bad(arguments: ["raw", "http://127.0.0.1:1/", "--max-time", "0"], exit: 64, code: "usage", hint: "max-time"),
        Bad(arguments: ["raw", "http://h/", "--http1.1", "--http2"], exit: 64, code: "usage", hint: "together"),
        Bad(arguments: ["raw", "http://h/", "-o", ""], exit: 64, code: "usage", hint: "-o"),
        Bad(arguments: ["raw", "http://h/", "--show-secrets"], exit: 64, code: "usage", hint: "--offline"),
        Bad(
            arguments: ["raw", "http://h/", "--cacert", "/nonexistent.pem"],
            exit: 77,
            code: "file",
            hint: "--cacert: cannot open /nonexistent.pem: No such file"
        ),
        Bad(arguments: ["submit", "http://h/", "noequals"], exit: 64, code: "usage", hint: "field 1 has no name"),
        Bad(arguments: ["submit", "http://h/", "a=b", "=c"], exit: 64, code: "usage", hint: "field 2 has no name"),
        Bad(arguments: ["dance"], exit: 64, code: "usage", hint: "dance"),
    ]

    @Test(arguments: Self.failureGivesAdviceArguments)
    func failureGivesAdvice(_ bad: Bad) async throws {
        let run = try await BeagleProcess(bad.arguments).outcome()
        #expect(run.exit == bad.exit)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(bad.hint))
        let isUnbuildable = ["bad_url", "unsupported_scheme", "bad_request"].contains(bad.code)
        #expect(run.errors.contains("; nothing was sent\n") == isUnbuildable)

        let outcome = try await beagle(bad.arguments + ["--json"])
        #expect(outcome.exit == bad.exit)
        let json = try outcome.json()
        #expect(json["ok"] == false)
        #expect(json["exit"] == .integer(Int64(bad.exit)))
        #expect(json["error"]?["code"] == .string(bad.code))
        #expect(json["error"]?["phase"]?.string != nil)
        #expect(json["error"]?["message"]?.string?.isEmpty == false)
        #expect(json["timing"]?.object != nil)
    }

    @Test func silentServerExitsWith28AndNamesThePhase() async throws {
        let server = try LoopbackServer(.stall)
        let run = try await beagle("raw", server.url, "--max-time", "0.2", "--json")
        #expect(run.exit == 28)
        let error = try run.json()["error"]
        #expect(error?["code"] == "timeout")
        #expect(error?["phase"] == "first byte")
        #expect(error?["advice"] == "allow more time with --max-time")
        #expect(error?["url"] == .string("\(server.url)/"))
    }

    @Test func transferFailureNamesThePhase() async throws {
        let server = try LoopbackServer(.stall)
        let run = try await beagle("raw", server.url, "--max-time", "0.2")
        #expect(run.exit == 28)
        let message = "the whole transfer took longer than 0.2 seconds while waiting for the first byte\n"
        #expect(run.errors.hasPrefix("beagle: \(server.url)/: \(message)"))
    }

    private static let phaseIsNamedOnceArguments: [(NetworkError.Phase, String, String)] = [
        (NetworkError.Phase.connect, "connection timed out after 9 ms", "connection timed out after 9 ms"),
        (.connect, "time is up", "time is up while connecting"),
        (.firstByte, "recv failure: Connection reset by peer", "recv failure: Connection reset by peer while waiting"),
        (.firstByte, "the response head was not received within 1.0 seconds", "within 1.0 seconds"),
        (.body, "no more body data was received for 1.0 seconds", "for 1.0 seconds"), (.response, "404", "404"),
        (.tls, "OpenSSL SSL_connect: reset", "SSL_connect: reset"), (.resolve, "could not resolve host: a", "host: a"),
    ]

    @Test(arguments: Self.phaseIsNamedOnceArguments)
    func phaseIsNamedOnce(_ phase: NetworkError.Phase, _ message: String, _ text: String) {
        let sentence = Failure(NetworkError(.timeout, during: phase, message)).sentence
        #expect(sentence.contains(text))
        #expect(sentence.contains(" while ") == text.contains(" while "))
    }

    @Test func verboseFailureShowsTheProgress() async throws {
        let server = try LoopbackServer { request in
            guard request.target == "/body" else { return .stall }
            return .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close])
        }
        let silent = try await beagle("raw", server.url, "-v", "--max-time", "0.2")
        let times = try #require(silent.errors.split(separator: "\n").first { $0.hasPrefix("* ") })
        #expect(times.contains("connect "))
        #expect(!times.contains("first byte"))
        #expect(times.contains(" · 0 B · \(server.authority) · new connection"))

        let cutOff = try await beagle("raw", "\(server.url)/body", "-v")
        #expect(cutOff.exit == 18)
        #expect(cutOff.errors.contains("< HTTP/1.1 200 OK\n"))
        #expect(cutOff.errors.contains(" · first byte "))
        #expect(cutOff.errors.contains(" · 3 B · "))
    }

    @Test(arguments: [false, true])
    func interruptExitsWith130AndNamesThePhase(_ isInBody: Bool) async throws {
        let head = LoopbackServer.Response.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
        let server = try LoopbackServer(isInBody ? .sequence([head, .stall]) : .stall)
        for flags in [[], ["--json"]] as [[String]] {
            let count = server.record.requestCount
            let process = try BeagleProcess(["raw", server.url, "-v"] + flags)
            #expect(await server.until { $0.requestCount > count })
            // The tool reports when it has received the head.
            if isInBody { await process.noted("< HTTP/1.1 200 OK") }
            process.interrupt()
            let run = await process.outcome()
            #expect(run.exit == 130)
            if flags.isEmpty {
                let phase = isInBody ? "receiving the body" : "waiting for the first byte"
                #expect(run.errors.contains("\(server.url)/: interrupted while \(phase)"))
            } else {
                #expect(try run.json()["error"]?["code"] == "interrupted")
                #expect(try run.json()["error"]?["phase"] == (isInBody ? "body" : "first byte"))
            }
        }
    }

    @Test func successIsOneJSONObject() async throws {
        try await withBackend { url in
            let run = try await beagle("raw", "\(url)/lazy/news", "--json")
            let json = try run.json()
            #expect(run.lines.count == 1)
            #expect(json["ok"] == true)
            #expect(json["exit"] == 0)
            #expect(json["result"]?["status"] == 200)
            #expect(json["result"]?["body"]?["_beagleComponent_"] == "beagle:container")
            #expect(json["result"]?["bytes"] == .integer(Int64(DemoScreens.news.utf8.count + 1)))
            #expect(
                ["dnsMs", "connectMs", "tlsMs", "firstByteMs", "totalMs"].allSatisfy { json["timing"]?[$0] != nil }
            )
        }
    }

    @Test(arguments: [["raw"], ["fetch"], ["submit"], ["image", "-o", "-"]])
    func offlineShowsTheRequestAndSendsNothing(_ command: [String]) async throws {
        let server = try LoopbackServer(.response(200, [:], ""))
        let arguments = command + ["\(server.url)/a", "--offline", "-H", "X-A: b"]
        let run = try await beagle(arguments)
        #expect(run.exit == 0)
        #expect(run.lines.first == "\(command[0] == "submit" ? "POST" : "GET") \(server.url)/a")
        #expect(run.lines.contains("X-A: b"))
        let json = try await beagle(arguments + ["--json"]).json()
        #expect(json["result"]?["url"] == .string("\(server.url)/a"))
        #expect(server.record.connections == 0)
    }

    private static let offlineShowsTheRequestThatWouldBeSentArguments: [[String]] = [
        ["raw"], ["raw", "-d", "a=1"], ["raw", "-X", "POST"], ["raw", "-X", "HEAD"], ["submit", "a=1"], ["fetch"],
        ["raw", "-H", "Host: other.example", "-H", "Accept-Encoding: gzip", "-H", "Accept:"],
    ]

    @Test(arguments: Self.offlineShowsTheRequestThatWouldBeSentArguments)
    func offlineShowsTheRequestThatWouldBeSent(_ command: [String]) async throws {
        let server = try LoopbackServer(.response(200, [:], ""))
        let arguments = [command[0], "\(server.url)/a/../b/.?c"] + command.dropFirst() + ["-H", "Cookie: a=b"]
        let shown = try await beagle(arguments + ["--offline", "--show-secrets"])
        let json = try await beagle(arguments + ["--offline", "--show-secrets", "--json"]).json()
        #expect(server.record.connections == 0)

        _ = try await beagle(arguments)
        let sent = try #require(server.requests.first)
        let lines = ["\(sent.method) \(server.url)\(sent.target)"] + sent.fields.map { "\($0.name): \($0.value)" }
        #expect(shown.text.hasPrefix("\(lines.joined(separator: "\n"))\n"))
        #expect(json["result"]?["headers"] == .array(sent.fields.map { [.string($0.name), .string($0.value)] }))
        #expect(json["result"]?["method"] == .string(sent.method))
        #expect(json["result"]?["body"] == .string(String(decoding: sent.body, as: UTF8.self)))
    }

    private static let offlineRejectsInvalidRequestsArguments: [([String], Int32)] = [
        (["-X", "HEAD", "-d", "x"], 43), (["-X", "CONNECT"], 43), (["-H", "Content-Length: 1"], 43),
        (["-H", "Transfer-Encoding: chunked"], 43), (["-d", "@/"], 26),
    ]

    @Test(arguments: Self.offlineRejectsInvalidRequestsArguments)
    func offlineRejectsInvalidRequests(_ flags: [String], _ exit: Int32) async throws {
        let run = try await beagle(["raw", "http://127.0.0.1:1/", "--offline"] + flags)
        #expect(run.exit == exit)
        #expect(run.output.isEmpty)
    }

    @Test(arguments: [[], ["--json"]] as [[String]])
    func offlineShowsSecretsOnlyIfRequested(_ flags: [String]) async throws {
        let arguments = [
            "raw", "http://127.0.0.1:1/a?token=hidden", "-H", "Authorization: Bearer hidden", "-H", "Cookie: a=hidden",
            "-d", "hidden", "--offline",
        ]
        let run = try await beagle(arguments + flags)
        #expect(run.exit == 0)
        #expect(!run.text.contains("hidden"))
        #expect(run.text.contains("REDACTED"))
        let all = try await beagle(arguments + flags + ["--show-secrets"])
        #expect(all.text.split(separator: "hidden", omittingEmptySubsequences: false).count == 5)
    }

    private static let invalidCommandLineIsReportedWithoutSecretsArguments: [[String]] = [
        ["raw", "user:hidden@host"], ["raw", "http://user:hidden@host/"], ["raw", "host/x?token=hidden"],
        ["raw", "/x?token=hidden"], ["raw", "x?token=hidden", "--base", "http://h"],
        ["raw", "/x", "--base", "u:hidden@h"],
        ["raw", "http://h/", "http://u:hidden@h/?token=hidden"], ["raw", "http://h/", "password=hidden"],
        ["raw", "http://h/", "Authorization: hidden"], ["raw", "http://h/", "-H", "Authorization hidden"],
        ["raw", "http://h/", "--max-time=http://u:hidden@h"], ["serve", "http://u:hidden@h"],
    ]

    @Test(arguments: Self.invalidCommandLineIsReportedWithoutSecretsArguments)
    func invalidCommandLineIsReportedWithoutSecrets(_ arguments: [String]) async throws {
        let run = try await beagle(arguments + ["--json"])
        #expect(run.exit == 3 || run.exit == 64)
        #expect(try run.json()["error"]?["message"]?.string?.isEmpty == false)
        let plain = try await beagle(arguments)
        #expect(!(run.text + run.errors + plain.text + plain.errors).contains("hidden"))
    }

    @Test(arguments: ["raw", "image", "fetch"])
    func errorStatusLeavesTheFileUnchangedAndIsReported(_ command: String) async throws {
        let server = try LoopbackServer { request in
            request.target == "/304" ? .response(304) : .response(404, [:], "<html>not here</html>")
        }
        try await withDirectory { directory in
            let path = "\(directory)/f.png"
            let run = try await beagle(command, "\(server.url)/404", "-o", path)
            #expect(run.exit == 22)
            #expect(run.output.isEmpty)
            #expect(run.errors.hasPrefix("beagle: \(path) was not written: status 404\n"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)

            let json = try await beagle(command, "\(server.url)/404", "-o", path, "--json")
            #expect(try json.json()["error"]?["body"] == "<html>not here</html>")
            #expect(json.errors.contains("was not written"))

            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try await beagle(command, "\(server.url)/304", "-o", path).errors.contains("status 304"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("old".utf8))
        }
    }

    private static let adviceNamesCommandLineFlagsArguments: [(NetworkError.Kind, String, [String], String)] = [
        (NetworkError.Kind.timeout, "increase Timeouts.total", [], "allow more time with --max-time"),
        (
            .timeout, "increase Timeouts.connect", ["--connect-timeout", "1"],
            "increase --connect-timeout"
        ),
        (.tls, "if this port serves plain HTTP", [], "if this port serves plain HTTP"),
        (
            .tls, "trust it with TLS.Trust.file", [],
            "check the certificate and the host name, or name a file of trusted CAs with --cacert"
        ),
        (.tls, "trust it with TLS.Trust.file", ["--cacert", "a"], "only the CAs in --cacert are trusted"),
        (.tooLarge, "increase TransferOptions.maxBodyBytes", [], "write the body to a file with -o"),
        (.tooManyRedirects, "increase RedirectPolicy.limit", [], "check the redirects of the server"),
    ]

    @Test(arguments: Self.adviceNamesCommandLineFlagsArguments)
    func adviceNamesCommandLineFlags(
        _ kind: NetworkError.Kind,
        _ advice: String,
        _ arguments: [String],
        _ words: String
    ) throws {
        let error = NetworkError(kind, during: .connect, "", advice: advice)
        let command = try RawCommand.parse(["http://h/"] + arguments)
        #expect(command.flags.advice(for: error)?.contains(words) == true)
    }

    @Test func verboseShowsHeadsWithoutSecretsOnStandardError() async throws {
        try await withBackend { url in
            let run = try await beagle(
                "raw",
                "\(url)/lazy/news?token=hidden",
                "-v",
                "-H",
                "Authorization: Bearer hidden"
            )
            #expect(run.text == "\(DemoScreens.news)\n")
            #expect(run.errors.contains("> GET \(url)/lazy/news"))
            #expect(run.errors.contains("> Authorization: "))
            #expect(run.errors.contains("< HTTP/1.1 200 OK"))
            #expect(run.errors.contains(" · first byte "))
            #expect(!run.errors.contains("hidden"))
        }
    }

    private static let colorIsForTerminalsArguments: [(String, Bool)] = [
        ("auto", false), ("always", true), ("never", false),
    ]

    @Test(arguments: Self.colorIsForTerminalsArguments)
    func colorIsForTerminals(_ choice: String, _ isColoured: Bool) async throws {
        try await withBackend { url in
            let run = try await beagle("fetch", "\(url)/home", "--tree", "--color", choice)
            #expect(run.text.contains("\u{1B}[") == isColoured)
        }
    }

    @Test(arguments: [("", true), ("1", false)])
    func noColorIsHonoredOnATerminal(_ value: String, _ isColoured: Bool) throws {
        let terminal = try Terminal()
        let environment = ["NO_COLOR": value, "TERM": "xterm"]
        #expect(ColorChoice.auto.isOn(for: terminal.slave.fileDescriptor, in: environment) == isColoured)
        #expect(ColorChoice.always.isOn(for: terminal.slave.fileDescriptor, in: environment))
        #expect(!ColorChoice.auto.isOn(for: terminal.slave.fileDescriptor, in: ["TERM": "dumb"]))
    }

    private static let progressIsABarIfTheTotalIsKnownArguments: [(TransferRequest.Progress, String)] = [
        (
            TransferRequest.Progress(bytesSent: 0, bytesToSend: nil, bytesReceived: 1_500_000, bytesToReceive: nil),
            "1.5 MB"
        ),
        (
            TransferRequest.Progress(bytesSent: 0, bytesToSend: nil, bytesReceived: 500, bytesToReceive: 1000),
            "[###############               ] 50 %  500 B of 1.0 kB"
        ),
        (
            TransferRequest.Progress(bytesSent: 3000, bytesToSend: 3000, bytesReceived: 0, bytesToReceive: nil),
            "[##############################] 100 %  3.0 kB of 3.0 kB"
        ),
    ]

    @Test(arguments: Self.progressIsABarIfTheTotalIsKnownArguments)
    func progressIsABarIfTheTotalIsKnown(_ progress: TransferRequest.Progress, _ text: String) {
        #expect(ProgressBar.text(progress) == text)
    }

    @Test func longTransferShowsABarOnATerminal() async throws {
        let pieces = Data("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n".utf8) + Data(repeating: 120, count: 60)
        let server = try LoopbackServer(.dribble(pieces, every: .milliseconds(12)))
        let terminal = try Terminal()
        let run = try await BeagleProcess(["raw", server.url], terminal: terminal.slave).outcome()
        #expect(run.exit == 0)
        #expect(terminal.read().contains("of 60 B"))
    }

    @Test(arguments: ["fetch", "submit", "image", "raw", "batch", "serve", "demo"])
    func helpHasAnExample(_ command: String) async throws {
        let run = try await beagle(command, "--help")
        #expect(run.exit == 0)
        #expect(run.text.contains("EXAMPLE\n  "))
    }
}

/// Texts from a server, a URL or the environment are redacted, in errors and in the log.
struct SecretOutputTests {
    private static let secret = "password=hunter2 Bearer hunter2abcdef"

    private func expectNoSecret(_ run: BeagleProcess.Outcome, sourceLocation: SourceLocation = #_sourceLocation) {
        let text = run.errors + run.text
        #expect(!text.contains("hunter2") && text.contains("REDACTED"), "\(text)", sourceLocation: sourceLocation)
    }

    @Test(arguments: [[], ["-v"], ["--json"]])
    func reasonPhraseIsRedacted(_ flags: [String]) async throws {
        let server = try LoopbackServer(.raw("HTTP/1.1 401 no \(Self.secret)\r\nContent-Length: 0\r\n\r\n"))
        expectNoSecret(try await beagle(["raw", server.url] + flags))
    }

    @Test func problemDetailsAreRedacted() async throws {
        let body = JSONValue.object(["title": "x", "detail": .string(Self.secret)])
        let server = try LoopbackServer(
            .response(422, ["Content-Type": "application/problem+json"], "\(body)")
        )
        let run = try await beagle(["submit", server.url, "a=b"])
        #expect(!run.errors.contains("hunter2") && run.errors.contains("REDACTED"), "\(run.errors)")
    }

    @Test func graphQLErrorMessageIsRedacted() async throws {
        let body = JSONValue.object(["data": .null, "errors": .array([.object(["message": .string(Self.secret)])])])
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "\(body)"))
        let run = try await beagle(["graphql", server.url, "-q", "{a}"])
        #expect(run.exit == 102)
        #expect(!run.errors.contains("hunter2") && run.errors.contains("REDACTED"), "\(run.errors)")
    }

    @Test(arguments: [
        "//u:hunter2@127.0.0.1/x", "u:hunter2@127.0.0.1/x", "u:hunter2/x@127.0.0.1", "http:/u:hunter2@h/",
    ])
    func invalidURLIsRedacted(_ url: String) async throws {
        expectNoSecret(try await beagle(["raw", url]))
    }

    @Test(arguments: [
        "http://u:hunter2#x@127.0.0.1:1", "http://u:hunter2/x@127.0.0.1:1", "u:hunter2 x@127.0.0.1:1",
        "http://u:hunter2@x@127.0.0.1:1", "http://u:hunter2@127.0.0.1:99999", "ftp://u:hunter2@127.0.0.1:1",
        "http://hunter2/x@127.0.0.1:1",
    ])
    func proxyOfTheEnvironmentIsRedacted(_ proxy: String) async throws {
        try await withDirectory { directory in
            let log = "\(directory)/a.bglog"
            let environment = ["http_proxy": proxy, "no_proxy": "", "all_proxy": ""]
            let words = ["raw", "http://127.0.0.1:9/", "-m", "5", "--record", log]
            expectNoSecret(try await BeagleProcess(words, environment: environment).outcome())
            let shown = try await beagle(["log", "show", log, "1"])
            #expect(shown.exit == 0 && !shown.text.contains("hunter2"), "\(shown.text)")
            for name in try FileManager.default.subpathsOfDirectory(atPath: log) {
                let data = FileManager.default.contents(atPath: "\(log)/\(name)") ?? Data()
                #expect(!String(decoding: data, as: UTF8.self).contains("hunter2"), "\(name)")
            }
        }
    }
}
