import ArgumentParser
import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// `beagle replay`: sends a recording again, to another host.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send a recording to another host, and compare the answers or measure them.",
        discussion: """
            With --diff each answer is compared with the recorded one: status, header fields, and the body by what it \
            means. In JSON the order of members, whitespace and the spelling of numbers do not count, and Beagle's \
            components are found by type and id. Where the recording has no whole body, as one that was left out, cut off \
            or is in a file that is gone, the answer is unchecked, unless --allow-missing-bodies is given. Without --diff \
            it only tells statuses and how long answers took.

            GET, HEAD and OPTIONS are sent, and GraphQL queries by POST; anything else, mutations included, may change \
            something and needs --unsafe-methods. Secrets are not in a recording: give those that the server needs with \
            --map-header. Entries that cannot be sent, such as a POST whose body the recorder left out, are reported as \
            skipped, with the reason; with --fail-on-skip they are a failure.

            Paths are written as $.items[*].price, and $..timestamp for a member at any depth.

            EXIT CODES
              0     all answers are what was recorded; without --diff, all came; skipped entries don't count
              103   entries were skipped, with --fail-on-skip
              104   answers differ, or their bodies were not compared
              1-99  answers are missing; the number is libcurl's for the first of them
              101   all answers are as they should be, but the recording is broken: what comes behind was not sent
              26    the recording cannot be read, or is empty
              64    the command line cannot be understood

            EXAMPLE
              beagle replay app.har --diff --target https://staging.example.com \\
                --map-header 'Authorization=env:TOKEN' --ignore '$..timestamp' --array-key '$.items=id'
              beagle replay app.har --target http://127.0.0.1:8080 --concurrency 50 --rps 200 --repeat 10
            """
    )

    /// How the report is written.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, junit
    }

    @Argument(help: "The recording: an HTTP Archive (.har, or a .zip of Playwright) or a log (.bglog).")
    var path: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where messages go: http://HOST:PORT for all, HOST=http://HOST:PORT for one recorded host. Repeatable.",
            valueName: "url"
        )
    )
    var target: [String] = []

    @Flag(name: .long, help: "Compare the answers with the recorded ones.")
    var diff = false

    @Flag(name: .long, help: "Status and headers are enough where the recording has no whole body.")
    var allowMissingBodies = false

    @Flag(name: .long, help: "Exit with 103 if an entry was skipped.")
    var failOnSkip = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A header in place of the recorded one: Name=env:VARIABLE takes it from the environment, as \
            'Authorization=Bearer env:TOKEN' does, Name=value as it is. Repeatable.
            """,
            valueName: "mapping"
        )
    )
    var mapHeader: [String] = []

    @Option(name: .long, help: ArgumentHelp("Send only these methods, with commas between.", valueName: "methods"))
    var methods: String?

    @Flag(name: .long, help: "Send methods that may change something on the server too, such as POST.")
    var unsafeMethods = false

    @Flag(
        name: .long,
        help: """
            Follow redirects and compare where they end; else each hop is compared. Mapped headers and unsafe methods go \
            to the targets alone.
            """
    )
    var followRedirects = false

    @Option(name: .long, help: ArgumentHelp("Let this many messages be under way at a time.", valueName: "number"))
    var concurrency = 1

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Send this many messages a second, whether or not answers come; latency counts from when they were due.",
            valueName: "number"
        )
    )
    var rps: Double?

    @Option(name: .customLong("repeat"), help: ArgumentHelp("Send each message this often.", valueName: "times"))
    var turns = 1

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Keep the order of what belongs together: free (nothing), connection, page.",
            valueName: "by"
        ),
        transform: Self.order
    )
    var order = Reissuer.Order.free

    @Option(
        name: [.customShort("m"), .long],
        help: ArgumentHelp("Each answer may take this long.", valueName: "seconds")
    )
    var maxTime: Double?

    @Option(name: .long, help: ArgumentHelp("Trust only the authorities in this PEM file.", valueName: "file"))
    var cacert: String?

    @OptionGroup var recorder: RecordingFlags

    @OptionGroup(title: "COMPARING") var comparison: ComparisonFlags

    @Option(name: .long, help: ArgumentHelp("How the report is written: text, json or junit.", valueName: "format"))
    var format: Format?

    @Flag(name: .long, help: "Write one JSON object on standard output, also when it fails.")
    var json = false

    private static func order(_ text: String) throws -> Reissuer.Order {
        guard let order = Reissuer.Order(rawValue: text) else {
            throw ValidationError("'--order' takes free, connection or page.")
        }
        return order
    }

    func validate() throws {
        if target.isEmpty {
            throw ValidationError("'--target' is missing: where should messages go? As --target http://HOST:PORT.")
        }
        if json, format != nil { throw ValidationError("'--json' and '--format' exclude each other.") }
        if !diff {
            if comparison.isGiven { throw ValidationError("\(ComparisonFlags.names) go with '--diff'.") }
            if allowMissingBodies { throw ValidationError("'--allow-missing-bodies' goes with '--diff'.") }
            if format == .junit { throw ValidationError("'--format junit' goes with '--diff'.") }
        }
        if concurrency < 1 || concurrency > 512 {
            throw ValidationError("'--concurrency' takes a number from 1 to 512.")
        }
        if turns < 1 { throw ValidationError("'--repeat' takes a number above 0.") }
        if let rps, !(1e-6...1e9).contains(rps) {
            throw ValidationError("'--rps' takes a number from a millionth to a billion.")
        }
        if let maxTime, !(maxTime > 0 && maxTime <= 1e9) {
            throw ValidationError("'--max-time' takes a number above 0.")
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
            guard let breakage = recording.breakage else { return result.telling(of: recording) }
            var failure = Failure(breakage, recording)
            failure.output = result.output
            failure.details["report"] = result.json
            throw failure
        } catch var failure as Failure {
            if !recording.warnings.isEmpty {
                failure.details["warnings"] = .array(recording.told.map { .string($0) })
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
                    advice: "record something first"
                )
            }
            return recording
        } catch {
            throw failure(error.kind.rawValue, error.message, error.advice)
        }
    }

    private func reissuer(over transport: any HTTPTransport = CurlTransport()) throws -> Reissuer {
        var (fallback, hosts): (ReissueTarget?, [String: ReissueTarget]) = (nil, [:])
        for target in target {
            let parts = target.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2, !parts[0].contains("/") {
                hosts[parts[0].lowercased()] = try ReissueTarget(parts[1])
            } else if fallback == nil {
                fallback = try ReissueTarget(target)
            } else {
                throw ValidationError(
                    "'--target' names a host for all twice; write HOST=http://HOST:PORT for one of them."
                )
            }
        }
        var reissuer = Reissuer(to: fallback, transport: transport)
        reissuer.hosts = hosts
        let environment = ProcessInfo.processInfo.environment
        reissuer.headers = try mapHeader.map { text throws in try HeaderMapping(text, environment: environment) }
        reissuer.methods = methods.map { Set($0.uppercased().split { $0 == "," || $0 == " " }.map(String.init)) }
        reissuer.allowsUnsafeMethods = unsafeMethods
        reissuer.followsRedirects = followRedirects
        reissuer.allowsMissingBodies = allowMissingBodies
        reissuer.concurrency = concurrency
        reissuer.rate = rps
        reissuer.repeats = turns
        reissuer.order = order
        if let maxTime {
            reissuer.options.timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(maxTime))
        }
        if let cacert { reissuer.options.trust = .file(path: cacert) }
        reissuer.rules = try comparison.rules()
        return reissuer
    }

    // MARK: - What is told

    private func result(of report: ComparisonReport) throws -> CommandResult {
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
            let note = isNothing ? "beagle: no answer was compared; skipped entries: \(report.skipped)" : nil
            return CommandResult(json: report.json, output: output, note: note)
        }
        failure.output = output
        failure.details["report"] = report.json
        throw failure
    }

    private func result(of report: LoadReport) throws -> CommandResult {
        let output = output(report.description, report.json, junit: "")
        var failure: Failure
        if let error = report.error {
            failure = Failure(error)
        } else if failOnSkip, !report.skipped.isEmpty {
            failure = Failure(skipped: report.skipped.count)
        } else {
            let isNothing = report.latency.count == 0
            let note = isNothing ? "beagle: nothing was sent: all entries were skipped" : nil
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
    /// The failure for entries that were not sent.
    fileprivate init(skipped: Int, of count: Int? = nil) {
        let entries = count.map { "\(skipped) of \($0)" } ?? "\(skipped)"
        self.init(
            exit: ExitCode.notInRecording,
            code: "skipped",
            phase: .build,
            "skipped entries: \(entries); '--fail-on-skip' allows none"
        )
    }
}

extension CommandResult {
    /// With what is wrong with the recording, where something is.
    fileprivate func telling(of recording: Recording) -> CommandResult {
        guard !recording.warnings.isEmpty, case .object(var members) = json else { return self }
        members["warnings"] = .array(recording.told.map { .string($0) })
        var result = self
        result.json = .object(members)
        return result
    }
}

extension ComparisonReport {
    /// Why the comparison has failed although all messages were answered; `nil` if it has not.
    fileprivate var reason: String? {
        if different > 0 { return "answers differ" }
        guard unchecked > 0 else { return nil }
        return "bodies were not compared, which '--allow-missing-bodies' allows"
    }
}
