import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct RecordCommandTests {
    private func entries(_ path: String) throws -> [LogEntry] {
        Array(try RequestLog.Reader(directory: path).entries())
    }

    @Test func everySendingCommandRecords() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            try await withBackend { url in
                let runs: [[String]] = [
                    ["fetch", "\(url)/home"], ["image", "\(url)/img/banner.png", "-o", "\(directory)/b.png"],
                    ["submit", "\(url)/signup", "name=Ana", "email=ana@example.com"], ["raw", "\(url)/echo"],
                    ["listen", "\(url)/events", "--count", "2"], ["ws", "\(url)/ws", "--count", "1"],
                ]
                for run in runs {
                    let outcome = try await BeagleProcess(run + ["--record", path], input: "hello\n").outcome()
                    #expect(outcome.exit == 0, "\(run): \(outcome.errors)")
                }
                let line = "{\"id\":1,\"url\":\"\(url)/echo\"}\n"
                let batch = try await BeagleProcess(["batch", "--record", path], input: line).outcome()
                #expect(batch.exit == 0)
            }
            let entries = try entries(path)
            #expect(entries.map(\.kind) == ["component", "image", "form", "raw", nil, nil, nil])
            #expect(entries.map { $0.response?.status } == [200, 200, 201, 200, 200, 101, 200])
            #expect(entries[4].messages.count >= 2)
            #expect(entries[5].messages.first.map { [$0.data] } == [Data("hello".utf8)])
            #expect(entries[5].messages.map(\.direction).prefix(2) == [.send, .receive])
            #expect(entries.allSatisfy { !$0.isInterrupted })
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { !$0.hasSuffix(".live") })
        }
    }

    @Test func formSentLaterByAnOutboxIsRecorded() async throws {
        try await withDirectory { directory in
            let (path, outbox) = ("\(directory)/a.bglog", "\(directory)/outbox")
            let isCalm = Lock(false)
            let server = try LoopbackServer { _ in isCalm.withLock { $0 } ? .response(201) : .response(503) }
            let kept = try await beagle("submit", server.url, "a=b", "--outbox", outbox, "--record", path)
            #expect(kept.exit == 105)
            isCalm.withLock { $0 = true }
            #expect(try await beagle("outbox", "flush", outbox, "--record", path).exit == 0)
            #expect(try entries(path).map { $0.response?.status } == [503, 201])
        }
    }

    @Test func programIsRecordedAndItsExitCodeIsReturned() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            let tool = BeagleProcess.executable("beagle").path
            let server = try LoopbackServer(.response(404, [:], "no"))
            let run = try await beagle("record", "-o", path, "--", tool, "raw", server.url)
            #expect(run.exit == 22)
            #expect(run.text == "no")
            #expect(run.errors.contains("1 entry was recorded in \(path)"))
            #expect(try entries(path).map { $0.response?.status } == [404])
        }
    }

    /// `RecordProbe ask` is another program that uses BeagleNet. By default it doesn't read the environment.
    @Test(arguments: [["--allow"], []]) func appIsRecordedOnlyIfItAllowsIt(_ flags: [String]) async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            let app = BeagleProcess.executable("RecordProbe").path
            let server = try LoopbackServer(.response(200, [:], "answer"))
            let arguments = ["record", "-o", path, "--", app, "ask", "\(server.url)/a"] + flags
            let run = try await BeagleProcess(arguments).outcome()
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.text == "answer\n")
            #expect(server.requests.count == 1)
            guard !flags.isEmpty else {
                #expect(run.errors.contains("nothing was recorded: \(app)"))
                #expect(run.errors.contains("or does not allow BEAGLENET_LOG"))
                #expect(!FileManager.default.fileExists(atPath: path))
                return
            }
            #expect(run.errors.contains("1 entry was recorded in \(path)"))
            let entry = try #require(try entries(path).first)
            #expect(entry.request.url == "\(server.url)/a" && entry.kind == "raw")
            #expect(entry.response?.body.content == .data(Data("answer".utf8)))
        }
    }

    @Test func signalIsForwarded() async throws {
        try await withDirectory { directory in
            let script = "trap 'echo heard; exit 9' TERM; echo ready; while :; do sleep 0.05; done"
            let process = try BeagleProcess(["record", "-o", "\(directory)/a.bglog", "--", "/bin/sh", "-c", script])
            #expect(await process.line() == "ready")
            kill(process.identifier, SIGTERM)
            let outcome = await process.outcome()
            #expect(outcome.text == "heard\n")
            #expect(outcome.exit == 9)
            #expect(outcome.errors.contains("nothing was recorded"))
        }
    }

    /// A signal ends the tool before the program starts, and the program afterwards. The delays approach the time that
    /// it takes to start the program. If a signal were lost, the exit code would be that of the program.
    @Test(.timeLimit(.minutes(5))) func earlySignalsAreNotLost() async throws {
        try await withDirectory { directory in
            let arguments = ["record", "-o", "\(directory)/a.bglog", "--", "/bin/sleep", "60"]
            var exits: Set<Int32> = []
            var (delay, step) = (Duration.zero, Duration.milliseconds(10))
            for attempt in 0..<30 {
                let process = try BeagleProcess(arguments)
                try await Task.sleep(for: delay)
                kill(process.identifier, SIGTERM)
                let outcome = await process.outcome()
                try #require([-1, 143].contains(outcome.exit), "after \(delay), attempt \(attempt): \(outcome)")
                exits.insert(outcome.exit)
                step = exits.contains(143) ? max(step / 2, .milliseconds(1)) : step * 2
                delay = max(.zero, outcome.exit == 143 ? delay - step : delay + step)
            }
            #expect(exits == [-1, 143])
        }
    }

    @Test func earlySignalsAreQueuedForTheProgram() {
        var relay = SignalRelay()
        let early = [relay.receive(SIGTERM), relay.receive(SIGHUP)]
        let waited = relay.begin(7)
        let late = relay.receive(SIGTERM)
        #expect(early == [nil, nil])
        #expect(waited == [SIGTERM, SIGHUP])
        #expect(late == 7)
    }

    #if canImport(Glibc)
        /// `env` starts the tool with a signal ignored or blocked.
        @Test(arguments: ["--ignore-signal=TERM", "--block-signal=TERM"], ["TERM", "INT"])
        func programReceivesSignalsThatTheToolIgnores(_ flag: String, _ name: String) async throws {
            try await withDirectory { directory in
                let flag = flag.replacing("TERM", with: name)
                let tool = BeagleProcess.executable("beagle").path
                let script = "kill -\(name) $$; echo deaf"
                let run = try await BeagleProcess(
                    [flag, tool, "record", "-o", "\(directory)/a.bglog", "--", "/bin/sh", "-c", script],
                    program: "/usr/bin/env"
                ).outcome()
                #expect(run.exit == 128 + (name == "TERM" ? SIGTERM : SIGINT), "\(run.errors)")
                #expect(run.text.isEmpty)
            }
        }
    #endif

    @Test func exitCodeOfAKilledProgramIsThatOfAShell() async throws {
        try await withDirectory { directory in
            let log = "\(directory)/a.bglog"
            let rows: [([String], Int32)] = [
                (["--", "/bin/sh", "-c", "kill -9 $$"], 137), (["--", "no-such-program"], 127), ([], 64),
            ]
            for (command, exit) in rows {
                let run = try await BeagleProcess(["record", "-o", log] + command).outcome()
                #expect(run.exit == exit, "\(command): \(run.errors)")
            }
        }
    }

    @Test func unwritableLogFailsBeforeSending() async throws {
        let server = try LoopbackServer(.response(200))
        let run = try await beagle("raw", server.url, "--record", "/proc/a.bglog")
        #expect(run.exit == 23)
        #expect(run.errors.contains("can write"))
        #expect(server.requests.isEmpty)
    }
}
