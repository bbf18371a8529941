import ArgumentParser
import BeagleNet
import BeagleNetReplay
import Dispatch
import Foundation

/// The `beagle demo` command, which runs and checks a series of requests.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Fetch a screen and an image, submit a form, and more, with the demo backend.",
        discussion: """
            Starts the demo backend on a free port of this machine and sends requests to it through the library. The \
            requests are recorded and then replayed from the recording, which is deleted afterwards unless --record is \
            given. If a step fails, the demo stops with a code other than 0.

            EXAMPLE
              beagle demo --record story.bglog && beagle log list story.bglog
            """
    )

    @Option(help: ArgumentHelp("Number of requests to cancel at random moments.", valueName: "count"))
    var cancels = 1000

    @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
    var json = false

    @Option(name: .long, help: "Use colour in the output.")
    var color = ColorChoice.auto

    @OptionGroup(title: "RECORDING OPTIONS") var recording: RecordingFlags

    func validate() throws {
        if cancels < 1 { throw ValidationError("'--cancels' must be greater than 0.") }
    }

    func run() async throws {
        let demo = DemoRun(console: Console(color), isSilent: json)
        let start = ContinuousClock.now
        let cancels = cancels
        // Even a slow machine completes a hundred requests per second.
        Self.endIfStuck(after: .seconds(120 + cancels / 100), demo.console)
        do {
            try await Interrupt.cancelling {
                try await withLog(demo.console) { log in
                    try await Backend.serving(port: 0) {
                        try await demo.run(backend: $0, cancels: cancels, log: log)
                    }
                }
            }
            let result = CommandResult(json: ["steps": .array(demo.steps)])
            if json { demo.console.line("\(result.envelope(timing: Self.timing(since: start)))") }
        } catch {
            let failure = Failure(wrapping: error)
            if json {
                demo.console.line("\(failure.envelope(timing: Self.timing(since: start)))")
            } else {
                demo.console.note(failure)
            }
            throw ExitCode(failure.exit)
        }
    }

    /// Runs `body` with the requested log, or with a temporary one that is deleted afterwards.
    private func withLog(_ console: Console, _ body: (RequestLog) async throws -> Void) async throws {
        if let log = try recording.openLog(console) { return try await body(log) }
        let directory = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString).bglog")
        let log = try RequestLog(directory: directory.path)
        do {
            try await body(log)
        } catch {
            await Self.remove(log, console)
            throw error
        }
        await Self.remove(log, console)
    }

    private static func remove(_ log: RequestLog, _ console: Console) async {
        await log.close()
        do { try FileManager.default.removeItem(atPath: log.directory) } catch {
            console.note("beagle: cannot remove \(log.directory): \(error)")
        }
    }

    private static func timing(since start: ContinuousClock.Instant) -> JSONValue {
        ["totalMs": .number(start.duration(to: .now).milliseconds)]
    }

    /// Ends the program if a completion is never called, which no step could detect itself.
    private static func endIfStuck(after limit: DispatchTimeInterval, _ console: Console) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) {
            console.note("beagle: the demo is stuck: a request was never completed")
            exit(withError: ExitCode(28))
        }
    }
}
