import ArgumentParser
import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle replay` command, which sends recorded requests to another host.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send recorded requests to another host, and compare or measure the responses.",
        discussion: """
            With --diff, each response is compared with the recorded one by status, header fields and body. In JSON \
            bodies, the order of members, whitespace and the notation of numbers are ignored, and Beagle components \
            are matched by type and id. If the recorded body was left out or truncated, or its file is missing, the \
            response counts as unchecked unless --allow-missing-bodies is given. Without --diff, only statuses and \
            response times are reported.

            By default, only GET, HEAD and OPTIONS requests and GraphQL queries (by POST) are sent. All others, \
            including mutations, may change data on the server and require --unsafe-methods. Recordings contain no \
            secrets: use --map-header to set those that the server needs. Entries that cannot be sent, such as a POST \
            whose body was not recorded, are skipped and reported with the reason; with --fail-on-skip, the command \
            then exits with 103.

            Paths are written as $.items[*].price, or as $..timestamp for a member at any depth.

            EXIT CODES
              0     all responses match the recording; without --diff, all were received;
                    skipped entries are ignored
              103   entries were skipped (with --fail-on-skip)
              104   responses differ, or bodies were not compared
              1-99  a request failed; this is libcurl's error code for the first failure
              101   all responses are correct, but the recording is malformed: entries
                    after the error were not sent
              26    the recording cannot be read, or is empty
              64    invalid command line

            EXAMPLE
              beagle fetch http://127.0.0.1:8080/home --record session.bglog
              beagle replay session.bglog --diff --target http://127.0.0.1:8080
              TOKEN=secret beagle replay session.bglog --diff \\
                --target http://127.0.0.1:8080 \\
                --map-header 'Authorization=Bearer env:TOKEN' \\
                --ignore '$..timestamp' --array-key '$.items=id'
              beagle replay session.bglog --target http://127.0.0.1:8080 \\
                --concurrency 50 --rps 200 --repeat 10
            """
    )

    /// The format of the report.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, junit
    }

    @Argument(help: "Recording: an HTTP Archive (.har, or a .zip from Playwright) or a log (.bglog).")
    var path: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Target of requests: http://HOST:PORT for all, HOST=http://HOST:PORT for one recorded host. Repeatable.",
            valueName: "url"
        )
    )
    var target: [String] = []

    @Flag(name: .long, help: "Compare the responses with the recorded ones.")
    var diff = false

    @Flag(name: .long, help: "Compare only status and headers if the recorded body is missing or incomplete.")
    var allowMissingBodies = false

    @Flag(name: .long, help: "Exit with 103 if an entry is skipped.")
    var failOnSkip = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Set a header: Name=value, or Name=env:VARIABLE to read an environment variable, as in \
            'Authorization=Bearer env:TOKEN'. Repeatable.
            """,
            valueName: "mapping"
        )
    )
    var mapHeader: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Send only requests with these methods, separated by commas.", valueName: "methods")
    )
    var methods: String?

    @Flag(name: .long, help: "Also send methods that may change data on the server, such as POST.")
    var unsafeMethods = false

    @Flag(
        name: .long,
        help: """
            Follow redirects and compare the final responses, instead of comparing each hop. Mapped headers and unsafe \
            methods are only sent to the targets.
            """
    )
    var followRedirects = false

    @Option(name: .long, help: ArgumentHelp("Maximum number of concurrent requests.", valueName: "number"))
    var concurrency = 1

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Send this many requests per second, even if responses are late. Latency is measured from the scheduled time.",
            valueName: "number"
        )
    )
    var rps: Double?

    @Option(name: .customLong("repeat"), help: ArgumentHelp("Send each request this many times.", valueName: "times"))
    var turns = 1

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Keep the recorded order within each connection or page, or ignore it (free). (default: free)",
            valueName: "by"
        ),
        transform: Self.order
    )
    var order = Reissuer.Order.free

    @Option(
        name: [.customShort("m"), .long],
        help: ArgumentHelp("Maximum time allowed for each response.", valueName: "seconds")
    )
    var maxTime: Double?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "CA certificates (PEM) to verify the server with, instead of the system's.",
            valueName: "file"
        )
    )
    var cacert: String?

    @OptionGroup var recorder: RecordingFlags

    @OptionGroup(title: "COMPARING") var comparison: ComparisonFlags

    @Option(name: .long, help: ArgumentHelp("Report format. (default: text)", valueName: "format"))
    var format: Format?

    @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
    var json = false

    private static func order(_ text: String) throws -> Reissuer.Order {
        guard let order = Reissuer.Order(rawValue: text) else {
            throw ValidationError("'--order' must be free, connection or page.")
        }
        return order
    }

    func validate() throws {
        if target.isEmpty {
            throw ValidationError("'--target' is missing: specify the server, as in '--target http://HOST:PORT'.")
        }
        if json, format != nil { throw ValidationError("'--json' and '--format' cannot be used together.") }
        if !diff {
            if comparison.isGiven { throw ValidationError("\(ComparisonFlags.names) require '--diff'.") }
            if allowMissingBodies { throw ValidationError("'--allow-missing-bodies' requires '--diff'.") }
            if format == .junit { throw ValidationError("'--format junit' requires '--diff'.") }
        }
        if concurrency < 1 || concurrency > 512 {
            throw ValidationError("'--concurrency' must be from 1 to 512.")
        }
        if turns < 1 { throw ValidationError("'--repeat' must be greater than 0.") }
        if let rps, !(1e-6...1e9).contains(rps) {
            throw ValidationError("'--rps' must be from 0.000001 to 1000000000.")
        }
        if let maxTime, !(maxTime > 0 && maxTime <= 1e9) {
            throw ValidationError("'--max-time' must be a number of seconds greater than 0.")
        }
        do {
            _ = try reissuer()
        } catch let error as NetworkError {
            throw ValidationError([error.message, error.advice].compactMap(\.self).joined(separator: "; ") + ".")
        }
    }

    func run() async throws {
        let console = Console()
        let start = ContinuousClock.now
        var timing: JSONValue { ["totalMs": .number(start.duration(to: .now) / .milliseconds(1))] }
        do {
            let result = try await Interrupt.cancelling { try await outcome(on: console) }
            if json { console.line("\(result.envelope(timing: timing))") } else { console.write(result.output) }
            if let note = result.note { console.note(note) }
        } catch {
            let failure = Failure(wrapping: error)
            if json { console.line("\(failure.envelope(timing: timing))") } else { console.write(failure.output) }
            if !json || failure.output.isEmpty { console.note(failure) }
            throw ExitCode(failure.exit)
        }
    }

    private func outcome(on console: Console) async throws -> CommandResult {
        let recording = try load(on: console)
        let transport = try recorder.recorded(CurlTransport(), console)
        let reissuer = try reissuer(over: transport)
        do {
            let result =
                diff
                ? try result(of: await reissuer.compare(recording)) : try result(of: await reissuer.load(recording))
            guard let breakage = recording.breakage else { return result.addingWarnings(of: recording) }
            var failure = Failure(breakage, recording)
            failure.output = result.output
            failure.details["report"] = result.json
            throw failure
        } catch var failure as Failure {
            if !recording.warnings.isEmpty {
                failure.details["warnings"] = .array(recording.warningTexts.map { .string($0) })
            }
            throw failure
        } catch let error as NetworkError where error.kind == .badConfiguration {
            throw Failure(exit: ExitCode.usage, code: "usage", phase: .build, error.message, advice: error.advice)
        }
    }

    private func load(on console: Console) throws -> Recording {
        func failure(_ code: String, _ message: String, _ advice: String?) -> Failure {
            Failure(exit: ExitCode.readFailed, code: code, phase: .file, message, advice: advice)
        }
        do throws(NetworkError) {
            let recording = try Recording(contentsOf: path)
            for warning in recording.warnings { console.note("beagle: \(warning)".printable) }
            guard !recording.entries.isEmpty else {
                throw NetworkError(
                    .notStored,
                    during: .file,
                    "\(path) has no entries",
                    advice: "record some requests first"
                )
            }
            return recording
        } catch {
            throw failure(error.kind.rawValue, error.message, error.advice)
        }
    }

    private func reissuer(over transport: any HTTPTransport = CurlTransport()) throws -> Reissuer {
        var (fallback, hosts): (Reissuer.Target?, [String: Reissuer.Target]) = (nil, [:])
        for target in target {
            let parts = target.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2, !parts[0].contains("/") {
                hosts[parts[0].lowercased()] = try Reissuer.Target(parts[1])
            } else if fallback == nil {
                fallback = try Reissuer.Target(target)
            } else {
                throw ValidationError(
                    "'--target' is given twice for all hosts; write HOST=http://HOST:PORT for one of them."
                )
            }
        }
        var reissuer = Reissuer(to: fallback, transport: transport)
        reissuer.hosts = hosts
        let environment = ProcessInfo.processInfo.environment
        reissuer.headers = try mapHeader.map { text throws in try Reissuer.HeaderMapping(text, environment: environment)
        }
        reissuer.methods = methods.map { Set($0.uppercased().split { $0 == "," || $0 == " " }.map(String.init)) }
        reissuer.allowsUnsafeMethods = unsafeMethods
        reissuer.followsRedirects = followRedirects
        reissuer.allowsMissingBodies = allowMissingBodies
        reissuer.concurrency = concurrency
        reissuer.rate = rps
        reissuer.repeats = turns
        reissuer.order = order
        if let maxTime {
            reissuer.options.timeouts = TransferOptions.Timeouts(
                connect: nil,
                firstByte: nil,
                idle: nil,
                total: .seconds(maxTime)
            )
        }
        if let cacert { reissuer.options.trust = .file(path: cacert) }
        reissuer.rules = try comparison.rules()
        return reissuer
    }

    // MARK: - Results

    private func result(of report: Reissuer.ComparisonReport) throws -> CommandResult {
        let output = output(report.description, report.json, junit: report.junit)
        var failure: Failure
        if let error = report.error {
            failure = Failure(error)
            failure.message = report.summary + ": " + failure.message
        } else if let reason = report.reason {
            failure = Failure(
                exit: ExitCode.different,
                code: "different",
                phase: .response,
                "\(reason): \(report.summary)"
            )
        } else if failOnSkip, report.skipped > 0 {
            failure = Failure(skipped: report.skipped, of: report.entries.count)
        } else {
            let isNothing = report.same == 0
            let note = isNothing ? "beagle: no response was compared; skipped entries: \(report.skipped)" : nil
            return CommandResult(json: report.json, output: output, note: note)
        }
        failure.output = output
        failure.details["report"] = report.json
        throw failure
    }

    private func result(of report: Reissuer.LoadReport) throws -> CommandResult {
        let output = output(report.description, report.json, junit: "")
        var failure: Failure
        if let error = report.error {
            failure = Failure(error)
        } else if failOnSkip, !report.skipped.isEmpty {
            failure = Failure(skipped: report.skipped.count)
        } else {
            let isNothing = report.latency.count == 0
            let note = isNothing ? "beagle: no request was sent: all entries were skipped" : nil
            return CommandResult(json: report.json, output: output, note: note)
        }
        failure.output = output
        failure.details["report"] = report.json
        throw failure
    }

    private func output(_ text: String, _ json: JSONValue, junit: @autoclosure () -> String) -> Data {
        switch format ?? .text {
        case .text: Data("\(text.split(separator: "\n").map { String($0).printable }.joined(separator: "\n"))\n".utf8)
        case .json: Data("\(json)\n".utf8)
        case .junit: Data(junit().utf8)
        }
    }
}

extension Failure {
    /// Creates the failure for entries that weren't sent.
    fileprivate init(skipped: Int, of count: Int? = nil) {
        let entries = count.map { "\(skipped) of \($0)" } ?? "\(skipped)"
        self.init(
            exit: ExitCode.notInRecording,
            code: "skipped",
            phase: .build,
            "skipped entries: \(entries), which '--fail-on-skip' does not allow"
        )
    }
}

extension CommandResult {
    /// Returns the result with the warnings of the recording, if there are any.
    fileprivate func addingWarnings(of recording: Recording) -> CommandResult {
        guard !recording.warnings.isEmpty, case .object(var members) = json else { return self }
        members["warnings"] = .array(recording.warningTexts.map { .string($0) })
        var result = self
        result.json = .object(members)
        return result
    }
}

extension Reissuer.ComparisonReport {
    /// The reason that the comparison failed although all requests got a response, or `nil` if it didn't fail.
    fileprivate var reason: String? {
        if different > 0 { return "responses differ" }
        guard unchecked > 0 else { return nil }
        return "bodies were not compared ('--allow-missing-bodies' allows this)"
    }
}
