import BeagleNet
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite(.leavesNothing) struct RecordingTraitTests {
    private static func ask(_ path: String) async throws -> String {
        let url = try #require(URL(string: "https://api.example.com\(path)"))
        let request = Request(url: url, type: .fetchComponent)
        do throws(NetworkError) {
            return try await Beagle.dependencies.networkClient.executeRequest(request).text()
        } catch {
            return "\(error.kind.rawValue): \(error.message)"
        }
    }

    @Test(.recording("greeting")) func recordingNextToTheTestIsReplayed() async throws {
        #expect(try await Self.ask("/hello?name=Ann") == "hello Ann")
        #expect(try await Self.ask("/gone") == "network: net::ERR_FAILED")
        #expect(try await Self.ask("/empty") == "")
    }

    @Test(.recording("greeting", allowsUnused: true)) func unusedEntriesAreAllowedByTheOption() async throws {
        #expect(try await Self.ask("/hello?name=Ann") == "hello Ann")
        #expect(try await Self.ask("/other").hasPrefix("not_in_recording"))
    }

    @Test(
        .recording("greeting", allowsUnused: true) { $0.httpRequestBuilder.baseURL = URL(string: "https://x.example") }
    )
    func traitConfiguresTheDependencies() {
        #expect(Beagle.dependencies.httpRequestBuilder.baseURL == URL(string: "https://x.example"))
    }

    @Test func anUnusedEntryFailsTheTest() async throws {
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await RecordingTrait.recording("greeting").provideScope(for: test, testCase: nil) {}
        } matching: { issue in
            (issue.error as? NetworkError)?.message.contains("3 of 3 recorded responses were not used") == true
        }
    }

    @Test func missingRecordingIsNamedInTheError() async throws {
        let test = try #require(Test.current)
        await #expect {
            try await RecordingTrait.recording("nothing").provideScope(for: test, testCase: nil) {}
        } throws: { ($0 as? NetworkError)?.message.contains("Recordings/nothing") == true }
    }

    // MARK: - The environment

    private static let path = #filePath.replacing("RecordingTraitTests.swift", with: "Recordings/greeting.har")

    @Test(.beagle()) func environmentSelectsTheRecording() async throws {
        let dependencies = Beagle.dependencies
        try dependencies.allow(.replay, in: [:])
        try dependencies.allow(.log, in: ["BEAGLENET_REPLAY": "offline:\(Self.path)"])
        #expect(!(dependencies.networkClient is ReplayClient))
        try dependencies.allow(.replay, in: ["BEAGLENET_REPLAY": "offline:\(Self.path)"])
        #expect(try await Self.ask("/hello?name=Ann") == "hello Ann")
        #expect(try await Self.ask("/other").hasPrefix("not_in_recording"))
    }

    @Test(.beagle(), arguments: ["offline", "offline:", "sometimes:a.har", ":a.har", "refresh:a.har"])
    func invalidEnvironmentValueIsAnError(_ text: String) {
        #expect {
            try Beagle.dependencies.allow(.replay, in: ["BEAGLENET_REPLAY": text])
        } throws: { error in
            let error = error as? NetworkError
            return error?.kind == .badConfiguration
                && error?.message.contains("fallback, live, offline, record-new") == true
        }
        #expect(throws: NetworkError.self) {
            try Beagle.dependencies.allow(.replay, in: ["BEAGLENET_REPLAY": "offline:/nothing.har"])
        }
    }

    private final class Lines: BeagleLogger {
        let lines = Lock<[String]>([])

        func log(_ log: any LogType) { lines.withLock { $0.append(log.message) } }
    }

    @Test(.beagle()) func differenceFromTheRecordingIsLogged() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(200, ["Content-Type": "text/plain"], "new"))
            let path = "\(directory)/a.bglog"
            let log = try RequestLog(directory: path)
            log.append(Exchanges.entry("GET", server.url + "/a?token=abc", answer: "old"))
            await log.close()
            let (dependencies, logger) = (Beagle.dependencies, Lines())
            dependencies.logger = logger
            try dependencies.allow(.replay, in: ["BEAGLENET_REPLAY": "live:\(path)"])
            #expect(try await Self.ask(server) == "new")
            let lines = logger.lines.withLock { $0 }
            #expect(
                lines.contains {
                    $0.hasPrefix("GET \(server.url)/")
                        && $0.hasSuffix(": the response differs from the recorded one: body line 1: old → new")
                },
                "\(lines)"
            )
        }
    }

    // MARK: - Recording

    /// Runs a function under this trait in its own directory.
    private func run(
        in directory: String,
        records: Bool,
        _ function: @escaping @concurrent @Sendable () async throws -> Void
    ) async throws {
        let trait = RecordingTrait.recording(
            "new",
            file: "\(directory)/Tests.swift",
            environment: ["BEAGLENET_RECORD": records ? "1" : "0"]
        )
        try await trait.provideScope(for: try #require(Test.current), testCase: nil, performing: function)
    }

    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await body(directory)
    }

    private static func ask(_ server: LoopbackServer, _ path: String = "/a?token=canary") async throws -> String {
        let request = Request(url: try #require(URL(string: server.url + path)), type: .fetchComponent)
        return try await Beagle.dependencies.networkClient.executeRequest(request).text()
    }

    @Test func recordingOfATestIsReplayed() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(
                .response(200, ["Content-Type": "application/json"], #"{"password":"canary"}"#)
            )
            try await run(in: directory, records: true) {
                let answer = try await Self.ask(server)
                #expect(answer == #"{"password":"canary"}"#)
            }
            #expect(server.requests.count == 1)
            let path = "\(directory)/Recordings/new.har"
            #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("canary"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(directory)/Recordings") == ["new.har"])
            try await run(in: directory, records: false) {
                let answer = try await Self.ask(server)
                #expect(answer == #"{"password":"REDACTED"}"#)
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func failingTestLeavesTheOldRecording() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(200, [:], "one"))
            try await run(in: directory, records: true) { _ = try await Self.ask(server) }
            let before = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/Recordings/new.har"))
            await #expect(throws: CancellationError.self) {
                try await run(in: directory, records: true) {
                    _ = try await Self.ask(server, "/other")
                    throw CancellationError()
                }
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(directory)/Recordings/new.har")) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(directory)/Recordings") == ["new.har"])
        }
    }

    @Test func logIsReplacedCompletely() async throws {
        try await withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let path = "\(directory)/a.bglog"
            for answer in ["one", "two"] {
                let update = try Recording.Update(of: path)
                update.log.append(Exchanges.entry("GET", "/a", answer: answer))
                try await update.commit()
            }
            let transport = ReplayTransport(try Recording(contentsOf: path))
            #expect(await transport.text(Exchanges.message("GET", "/a")) == "two")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["a.bglog"])
        }
    }

    @Test(.beagle()) func recordNewModeRecordsMissingResponses() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(200, [:], "one"))
            let path = "\(directory)/a.bglog"
            for mode in ["record-new", "offline"] {
                try await Beagle.withDependencies { _ in
                } operation: {
                    let dependencies = Beagle.dependencies
                    try dependencies.allow(.replay, in: ["BEAGLENET_REPLAY": "\(mode):\(path)"])
                    #expect(try await Self.ask(server) == "one")
                    #expect(try await Self.ask(server) == "one")
                }
                // The client releases the recorder, which closes the log.
                while mode == "record-new", try Recording(contentsOf: path).entries.count < 2 { await Task.yield() }
            }
            #expect(server.requests.count == 2)
        }
    }
}
