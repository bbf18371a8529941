import ArgumentParser
import BeagleNet
import Dispatch
import Foundation

/// `beagle demo`: the whole story in one run, each step with a check.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show a screen, an image, a form and more against the demo backend.",
        discussion: """
            Starts the backend on a free port of this machine and talks to it through the library. It ends with \
            another code than 0 as soon as a step does not do what it should.

            EXAMPLE
              beagle demo
            """
    )

    @Option(help: ArgumentHelp("Requests to cancel at random moments.", valueName: "count"))
    var cancels = 1000

    @Flag(name: .long, help: "Write one JSON object on standard output, also when it fails.")
    var json = false

    @Option(name: .long, help: "Write in colour.")
    var color = ColorChoice.auto

    func validate() throws {
        if cancels < 1 { throw ValidationError("'--cancels' takes a number from 1.") }
    }

    func run() async throws {
        let story = DemoStory(console: Console(color), isSilent: json)
        let start = ContinuousClock.now
        let cancels = cancels
        var failure: Failure?
        do {
            try await Interrupt.cancelling {
                try await Backend.serving(port: 0) { try await story.tell(backend: $0, cancels: cancels) }
            }
        } catch {
            failure = Failure(wrapping: error)
        }
        try end(story, failure, total: start.duration(to: .now))
        if let failure { throw ExitCode(failure.exit) }
    }

    private func end(_ story: DemoStory, _ failure: Failure?, total: Duration) throws {
        guard json else {
            if let failure { story.console.note(failure) }
            return
        }
        var members: [String: JSONValue] = [
            "ok": .bool(failure == nil),
            "exit": .integer(Int64(failure?.exit ?? 0)),
            "result": ["steps": .array(story.steps)],
            "timing": ["totalMs": .number(total.milliseconds)],
        ]
        members["error"] = failure?.json
        story.console.line(try JSONValue.object(members).text())
    }
}
