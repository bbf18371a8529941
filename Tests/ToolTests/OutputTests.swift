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

    @Test(arguments: [
        Bad(
            arguments: ["raw", "localhost:8080/home"],
            exit: 3,
            code: "bad_url",
            hint: "write http://localhost:8080/home"
        ),
        Bad(arguments: ["raw", "/home"], exit: 3, code: "bad_url", hint: "--base http://HOST:PORT"),
        Bad(arguments: ["raw", "/home", "--base", "host"], exit: 3, code: "bad_url", hint: "--base http://host"),
        Bad(arguments: ["raw", "home", "--base", "http://h"], exit: 3, code: "bad_url", hint: "write /home"),
        Bad(arguments: ["raw", "http://h:99999/"], exit: 3, code: "bad_url", hint: "65535"),
        Bad(arguments: ["raw", "ftp://h/"], exit: 1, code: "unsupported_scheme", hint: "http or https"),
        Bad(arguments: ["raw", "http://no-such-host.invalid/"], exit: 6, code: "dns", hint: "host name"),
        Bad(arguments: ["raw", "http://127.0.0.1:1/"], exit: 7, code: "connect", hint: "port"),
        Bad(arguments: ["raw", "http://127.0.0.1:1/", "-H", "no colon"], exit: 64, code: "usage", hint: "header"),
        Bad(arguments: ["raw", "http://127.0.0.1:1/", "--max-time", "0"], exit: 64, code: "usage", hint: "max-time"),
        Bad(arguments: ["raw", "http://h/", "--http1.1", "--http2"], exit: 64, code: "usage", hint: "exclude"),
        Bad(arguments: ["submit", "http://h/", "noequals"], exit: 64, code: "usage", hint: "name=value"),
        Bad(arguments: ["dance"], exit: 64, code: "usage", hint: "dance"),
    ])
    func failureSaysWhatToDo(_ bad: Bad) async throws {
        let run = try await BeagleProcess(bad.arguments).outcome()
        #expect(run.exit == bad.exit)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(bad.hint))

        let told = try await BeagleProcess(bad.arguments + ["--json"]).outcome()
        #expect(told.exit == bad.exit)
        let json = try told.json()
        #expect(json["ok"] == false)
        #expect(json["exit"] == .integer(Int64(bad.exit)))
        #expect(json["error"]?["code"] == .string(bad.code))
        #expect(json["error"]?["phase"]?.string != nil)
        #expect(json["error"]?["message"]?.string?.isEmpty == false)
        #expect(json["timing"]?.object != nil)
    }

    @Test func silentServerEndsWith28AndNamesThePhase() async throws {
        let server = try LoopbackServer(.stall)
        let run = try await beagle("raw", server.url, "--max-time", "0.2", "--json")
        #expect(run.exit == 28)
        let error = try run.json()["error"]
        #expect(error?["code"] == "timeout")
        #expect(error?["phase"] == "first byte")
        #expect(error?["advice"] == "give it more time with --max-time")
        #expect(error?["url"] == .string("\(server.url)/"))
    }

    @Test func interruptEndsWith130() async throws {
        let server = try LoopbackServer(.stall)
        let process = try BeagleProcess(["raw", server.url])
        #expect(await server.until { $0.requestCount == 1 })
        process.interrupt()
        let run = await process.outcome()
        #expect(run.exit == 130)
        #expect(run.errors.contains("interrupted"))
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
        let run = try await BeagleProcess(arguments).outcome()
        #expect(run.exit == 0)
        #expect(run.lines.first == "\(command[0] == "submit" ? "POST" : "GET") \(server.url)/a")
        #expect(run.lines.contains("X-A: b"))
        let json = try await BeagleProcess(arguments + ["--json"]).outcome().json()
        #expect(json["result"]?["url"] == .string("\(server.url)/a"))
        #expect(server.record.connections == 0)
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

    @Test(arguments: [("auto", false), ("always", true), ("never", false)])
    func colourIsForTerminals(_ choice: String, _ isColoured: Bool) async throws {
        try await withBackend { url in
            let run = try await beagle("fetch", "\(url)/home", "--tree", "--color", choice)
            #expect(run.text.contains("\u{1B}[") == isColoured)
        }
    }

    @Test(arguments: [("", true), ("1", false)])
    func noColorIsHonouredOnATerminal(_ value: String, _ isColoured: Bool) throws {
        let terminal = try Terminal()
        let environment = ["NO_COLOR": value, "TERM": "xterm"]
        #expect(ColorChoice.auto.isOn(for: terminal.slave.fileDescriptor, in: environment) == isColoured)
        #expect(ColorChoice.always.isOn(for: terminal.slave.fileDescriptor, in: environment))
        #expect(!ColorChoice.auto.isOn(for: terminal.slave.fileDescriptor, in: ["TERM": "dumb"]))
    }

    @Test(arguments: [
        (TransferProgress(bytesSent: 0, bytesToSend: nil, bytesReceived: 1_500_000, bytesToReceive: nil), "1.5 MB"),
        (
            TransferProgress(bytesSent: 0, bytesToSend: nil, bytesReceived: 500, bytesToReceive: 1000),
            "[###############               ] 50 %  500 B of 1.0 kB"
        ),
        (
            TransferProgress(bytesSent: 3000, bytesToSend: 3000, bytesReceived: 0, bytesToReceive: nil),
            "[##############################] 100 %  3.0 kB of 3.0 kB"
        ),
    ])
    func progressIsABarWhereTheEndIsKnown(_ progress: TransferProgress, _ text: String) {
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
