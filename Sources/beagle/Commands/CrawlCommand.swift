import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The `beagle crawl` command, which checks a screen and the screens that it leads to.
struct CrawlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crawl",
        abstract: "Check a screen, the screens that it leads to, and their images.",
        discussion: """
            Follows routes, lazy components and forms that use GET, and loads images, on the origin of the first \
            screen only. Other origins are listed. Requests that may have side effects are never sent. Reports what is \
            broken, slow or heavy, URLs that are not known or not declared, and cycles. Exits with 107 if there are \
            errors or warnings.

            --write-baseline accepts all findings, and writes them to a file. A later crawl with --baseline reports \
            only new ones. Both fail if the first screen cannot be loaded. A finding is identified by its rule, the \
            path of the screen, the JSON pointer and the target, so that a baseline is valid on other hosts.

            The report is written to standard output, or to the -o file. Secrets in it are redacted.

            RULES
              broken         error    a target cannot be loaded, or is no screen or image
              slow, heavy    warning  see --slow, --heavy and --heavy-screen
              unevaluable    warning  an expression has no known value
              unknown        warning  the meaning of a URL is not declared; see --custom
              method         warning  a GET with a body, or a route with an unsafe method
              mixed-content  warning  a screen over https refers to an http URL
              omitted        warning  a screen has too many references
              unrequested    warning  the crawl has more targets than --max-requests
              cyclic         info     a route leads back; an error for lazy components
              other-origin   info     the target is on another origin

            EXAMPLE
              beagle crawl http://127.0.0.1:8080/faults
              beagle crawl http://127.0.0.1:8080/home --write-baseline crawl.jsonl
              beagle crawl http://127.0.0.1:8080/home --baseline crawl.jsonl \\
                --format junit -o crawl.xml
            """
    )

    /// The format of the report.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, junit, sarif
    }

    @OptionGroup var address: Address

    @Option(name: .long, help: ArgumentHelp("Maximum number of routes from the first screen.", valueName: "number"))
    var depth = 3

    @Option(name: .long, help: ArgumentHelp("Maximum number of requests.", valueName: "number"))
    var maxRequests = 200

    @Option(name: .long, help: ArgumentHelp("Maximum number of requests at the same time.", valueName: "number"))
    var concurrency = 4

    @Option(name: .long, help: ArgumentHelp("Report responses that take longer.", valueName: "milliseconds"))
    var slow = 1_000

    @Option(
        name: .long,
        help: ArgumentHelp("Report larger images, such as 500k or 2M bytes. (default: 1 MB)", valueName: "bytes")
    )
    var heavy: ByteSize?

    @Option(
        name: .long,
        help: ArgumentHelp("Report larger screens and lazy components. (default: 100 kB)", valueName: "bytes")
    )
    var heavyScreen: ByteSize?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Leave out the findings in this file of --write-baseline.",
            valueName: "file"
        )
    )
    var baseline: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Write all findings to this file, and exit with 0.", valueName: "file")
    )
    var writeBaseline: String?

    @Option(name: .long, help: "Format of the report.")
    var format: Format?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the report to this file. '-' is standard output.", valueName: "file")
    )
    var output: String?

    @OptionGroup var vocabulary: VocabularyFlags
    @OptionGroup var retries: RetryFlags
    @OptionGroup var flags: CommonFlags

    func validate() throws {
        if depth < 0 { throw ValidationError("'--depth' must be 0 or greater.") }
        if maxRequests < 1 { throw ValidationError("'--max-requests' must be 1 or greater.") }
        if !(1...64).contains(concurrency) { throw ValidationError("'--concurrency' must be from 1 to 64.") }
        if !(1...3_600_000).contains(slow) { throw ValidationError("'--slow' must be from 1 to 3600000.") }
        if baseline == "" { throw ValidationError("'--baseline' requires a file name.") }
        if writeBaseline == "" { throw ValidationError("'--write-baseline' requires a file name.") }
        if flags.json, format != nil { throw ValidationError("'--json' and '--format' cannot be used together.") }
        if output == "" { throw ValidationError("'-o' requires a file name.") }
        if flags.json, file != nil { throw ValidationError("'--json' and '-o' cannot be used together.") }
    }

    /// The file of `-o`, or `nil` if the report is written to standard output.
    private var file: String? { output == "-" ? nil : output }

    private var limits: CrawlLimits {
        var limits = CrawlLimits(slow: .milliseconds(slow))
        if let heavy { limits.heavyImage = heavy.bytes }
        if let heavyScreen { limits.heavyScreen = heavyScreen.bytes }
        return limits
    }

    func run() async throws {
        let session = Session(flags, retries.interceptors)
        do {
            let result = try await Interrupt.cancelling { try await self.result(in: session) }
            session.show(result)
        } catch {
            let failure = flags.failure(for: error)
            session.show(failure)
            throw ExitCode(failure.exit)
        }
    }

    private func result(in session: Session) async throws -> CommandResult {
        let old = try baseline.map { try CrawlBaseline(contentsOf: $0) }
        _ = try session.flags.options()
        let (crawl, origin) = try await crawl(in: session)
        let findings = CrawlInspection.findings(of: crawl, limits)
        // A baseline with this finding would accept a server that doesn't respond.
        if writeBaseline != nil || old != nil, let failure = crawl.pages.first?.failure { throw failure }
        if let writeBaseline {
            let accepted = CrawlBaseline(findings, on: origin)
            try accepted.write(to: writeBaseline)
            session.console.note("beagle: \(writeBaseline) accepts \(counted(accepted.count, "finding"))".printable)
        }
        let report = CrawlReport(crawl, findings, on: origin, baseline: old)
        return try result(of: report, on: session.console)
    }

    private func crawl(in session: Session) async throws -> (CrawlResult, Origin) {
        let site = try CrawlSite(address)
        let client = CrawlClient(session: session, origin: site.origin, vocabulary: try vocabulary.vocabulary())
        let crawler = Crawler(
            base: site.base,
            origin: site.origin,
            depth: depth,
            maxRequests: maxRequests,
            concurrency: concurrency,
            fetch: client.response
        )
        defer { session.console.showBar("") }
        return try await session.withSavedState {
            (try await crawler.crawl(from: CrawlTarget(site.start)), site.origin)
        }
    }

    // MARK: - Report

    private func result(of report: CrawlReport, on console: Console) throws -> CommandResult {
        var output = try self.output(of: report, console)
        if let file {
            try FileSink.write(output, to: file)
            output = Data()
        }
        guard report.faultCount > 0, writeBaseline == nil else {
            return CommandResult(json: report.json, output: output, note: report.note)
        }
        var failure = Failure(
            exit: ExitCode.faultsFound,
            code: "faults",
            phase: .response,
            "the crawl found \(counted(report.count(.error), "error")) and \(counted(report.count(.warning), "warning"))"
        )
        failure.output = output
        failure.advice = report.note
        failure.details["report"] = report.json
        throw failure
    }

    private func output(of report: CrawlReport, _ console: Console) throws -> Data {
        switch format ?? .text {
        case .text: Data(report.text(console).utf8)
        case .json: try report.json.data(.pretty) + Data("\n".utf8)
        case .junit: Data(report.junit.utf8)
        case .sarif: try report.sarif().data(.pretty) + Data("\n".utf8)
        }
    }
}
