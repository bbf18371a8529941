import ArgumentParser
import BeagleNetCurl
import BeagleNetHTTP
import Foundation

@main
struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beagle",
        abstract: "Talks to a server-driven backend.",
        discussion: """
            Results go to standard output, everything else to standard error. Redirects are followed, ten at most. A \
            proxy is the one that --proxy names, else http_proxy, https_proxy or all_proxy, unless --noproxy or else \
            no_proxy names the host.

            EXAMPLE
              beagle demo
              beagle fetch http://127.0.0.1:8080/home --tree

            EXIT CODES
              0     done
              1-99  the transfer failed; the number is libcurl's: 6 host not found,
                    7 no connection, 28 time is up, 60 bad certificate, …
              8     the answer is no event stream
              22    an HTTP status of 400 or above
              23    what came cannot be written
              26    a file cannot be read
              33    the server does not go on where it was asked to
              64    the command line cannot be understood
              77    the file of authorities cannot be read
              101   what came is no screen or no image, or a file is not what it should be
              102   the server answered with GraphQL errors
              103   the recording that --replay names has no answer
              104   answers are not what was recorded
              105   the form is kept in the outbox and will be sent by 'outbox flush'
              130   interrupted

            JSON
              With --json standard output is one object:
              {"ok": true, "exit": 0, "result": …, "timing": {"totalMs": …, …}}
              {"ok": false, "exit": 28, "timing": {…},
               "error": {"code": "timeout", "phase": "connect", "message": …, "url": …}}
            """,
        version: CurlTransport.capabilities.report,
        subcommands: [
            FetchCommand.self, SubmitCommand.self, OutboxCommand.self, ImageCommand.self, RawCommand.self,
            GraphQLCommand.self, SubscribeCommand.self, ListenCommand.self, WebSocketCommand.self, BatchCommand.self,
            RecordCommand.self, LogCommand.self,
            ReplayCommand.self, HARCommand.self, ServeCommand.self, DemoCommand.self,
        ]
    )

    static func main() async {
        // A reader of ours that goes away is an error of the write, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        do {
            let command = try await asyncParseAsRoot(DocumentFlags.expanding(Array(CommandLine.arguments.dropFirst())))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                var command = command
                try command.run()
            }
        } catch {
            guard exitCode(for: error).rawValue == ExitCode.usage else { exit(withError: error) }
            let arguments = Array(CommandLine.arguments.dropFirst())
            func shown(_ message: String) -> String { Redactor().redact(usage: message, of: arguments) }
            let console = Console()
            if arguments.contains("--json") { console.line("\(usageError(shown(message(for: error))))") }
            // Its usage names a user and password that are none.
            console.note(asIs: shown(fullMessage(for: error)))
            Foundation.exit(ExitCode.usage)
        }
    }

    /// What `--json` shows of a command line that cannot be understood.
    private static func usageError(_ message: String) -> String {
        var failure = Failure(exit: ExitCode.usage, code: "usage", phase: .build, message)
        failure.advice = "beagle --help"
        return failure.envelope(timing: [:])
    }
}

extension CurlCapabilities {
    /// What `--version` shows.
    fileprivate var report: String {
        let names = features.map(\.rawValue).sorted().joined(separator: ", ")
        let lacks = missing.map { "lacks \($0.feature.rawValue): it takes \($0.provider)" }
        return (["beagle \(beagleNetVersion)", "libcurl \(version) with \(tls)", "has \(names)"] + lacks)
            .joined(separator: "\n")
    }
}
