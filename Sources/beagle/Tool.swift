import ArgumentParser
import BeagleNetCurl
import BeagleNetHTTP
import Foundation

@main
struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beagle",
        abstract: "Send requests to a server-driven UI backend, and record, inspect and replay them.",
        discussion: """
            Results are written to standard output, everything else to standard error. Up to 10 redirects are \
            followed. The proxy is taken from --proxy, or else from http_proxy, https_proxy or all_proxy. Hosts in \
            --noproxy, or else in no_proxy, bypass it.

            EXAMPLE
              beagle demo
              beagle serve --port 8080 &
              beagle fetch http://127.0.0.1:8080/home --tree

            EXIT CODES
              0     success
              1     'log scrub --check' found secrets
              1-99  otherwise, the transfer failed with this libcurl error code, such as 6 (host
                    not found), 7 (connection failed), 28 (timeout) or 60 (certificate not trusted)
              4     a newer version of beagle wrote the file, or libcurl lacks a feature
              8     the response is not an event stream
              22    the server returned an HTTP status of 400 or above
              23    the response could not be written
              26    a file could not be read
              33    the server did not resume at the requested offset
              61    a compressed body or file cannot be decompressed
              64    invalid command line
              77    the CA certificate file could not be read
              101   the response is not a screen or image, or a file is invalid
              102   the server returned GraphQL errors
              103   the recording has no response to the request
              104   responses differ from the recorded ones, or two plans differ
              105   the form is stored in the outbox; 'outbox flush' sends it
              106   the cache has no response, and the network was not allowed
              107   a crawl found errors or warnings, or a prefetch is incomplete
              130   interrupted

            JSON
              With --json, standard output is one JSON object:
              {"ok": true, "exit": 0, "result": …, "timing": {"totalMs": …, …}}
              {"ok": false, "exit": 28, "timing": {…},
               "error": {"code": "timeout", "phase": "connect", "message": …, "url": …}}
            """,
        version: CurlTransport.capabilities.report,
        subcommands: [
            FetchCommand.self, PlanCommand.self, CrawlCommand.self, PrefetchCommand.self, SubmitCommand.self,
            OutboxCommand.self,
            ImageCommand.self, RawCommand.self, GraphQLCommand.self, SubscribeCommand.self, ListenCommand.self,
            WebSocketCommand.self, BatchCommand.self,
            CacheCommand.self, RecordCommand.self, LogCommand.self, ReplayCommand.self, HARCommand.self,
            ServeCommand.self, DemoCommand.self,
        ]
    )

    static func main() async {
        // A closed pipe must be a write error and not end the program.
        signal(SIGPIPE, SIG_IGN)
        Foundation.exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Runs a command and returns its exit code.
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            let command = try await asyncParseAsRoot(DocumentFlags.expanding(arguments))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                var command = command
                try command.run()
            }
            return ExitCode.success.rawValue
        } catch {
            let exit = exitCode(for: error)
            write(error, exit, of: arguments)
            return exit.rawValue
        }
    }

    /// Writes the text of the error that ended a command: help and the version to standard output, others to standard
    /// error.
    private static func write(_ error: any Error, _ exit: ExitCode, of arguments: [String]) {
        let (console, text) = (Console(), fullMessage(for: error))
        if exit.rawValue == ExitCode.usage {
            func shown(_ message: String) -> String { Redactor().redact(usage: message, of: arguments) }
            if arguments.contains("--json") { console.line("\(usageError(shown(message(for: error))))") }
            // Written as is: the usage text contains a sample user and password, which must not be redacted.
            console.note(asIs: shown(text))
        } else if !text.isEmpty {
            if exit.isSuccess { console.line(text) } else { console.note(asIs: text) }
        }
    }

    /// Returns the `--json` output for an invalid command line.
    private static func usageError(_ message: String) -> String {
        var failure = Failure(exit: ExitCode.usage, code: "usage", phase: .build, message)
        failure.advice = "see 'beagle --help'"
        return failure.envelope(timing: [:])
    }
}

extension CurlTransport.Capabilities {
    /// The output of `--version`.
    fileprivate var report: String {
        let names = features.map(\.rawValue).sorted().joined(separator: ", ")
        let lacks = missing.map { "lacks \($0.feature.rawValue): requires \($0.provider)" }
        return (["beagle \(beagleNetVersion)", "libcurl \(version) with \(tls)", "has \(names)"] + lacks)
            .joined(separator: "\n")
    }
}
