import BeagleNet
import BeagleNetHTTP
import Foundation

/// Finds the faults of crawled screens.
struct CrawlInspection {
    private let crawl: CrawlResult
    private let limits: CrawlLimits
    private var found: [CrawlFinding] = []
    /// The targets whose time and size have been judged.
    private var judged: Set<CrawlTarget> = []

    private init(_ crawl: CrawlResult, _ limits: CrawlLimits) {
        self.crawl = crawl
        self.limits = limits
    }

    /// Returns the findings in the order of the screens and their references.
    static func findings(of crawl: CrawlResult, _ limits: CrawlLimits) -> [CrawlFinding] {
        var inspection = CrawlInspection(crawl, limits)
        inspection.run()
        return inspection.found
    }

    private mutating func run() {
        let cycles = CrawlCycles(crawl)
        if let first = crawl.pages.first {
            judge(first, from: first, pointer: "")
            addUnrequested(on: first)
        }
        for (index, page) in crawl.pages.enumerated() {
            if page.omittedCount > 0 {
                add(.omitted, page, "", page.target.url, "references that were not checked: \(page.omittedCount)")
            }
            for (number, reference) in page.references.enumerated() {
                inspect(reference, of: page)
                if let cycle = cycles.cycle(at: index, number) { add(cycle, reference, of: page) }
            }
        }
    }

    /// Adds the number of targets that the crawl left out to the first screen, so that each format of the report has it.
    private mutating func addUnrequested(on first: CrawlPage) {
        guard crawl.unrequestedCount > 0 else { return }
        add(
            .unrequested,
            first,
            "",
            first.target.url,
            "targets that were not requested: \(crawl.unrequestedCount)",
            "increase --max-requests"
        )
    }

    // MARK: - References

    private mutating func inspect(_ reference: CrawlReference, of page: CrawlPage) {
        func add(_ rule: CrawlRule, _ message: String, _ advice: String? = nil, _ severity: CrawlSeverity? = nil) {
            self.add(rule, page, reference.pointer, reference.url, message, advice, severity)
        }
        if reference.hasBody, ["GET", "HEAD"].contains(reference.method) {
            add(.method, "the \(reference.method) request has a body", "use POST, or put the values into the URL")
        }
        switch reference.use {
        case .followed(let target):
            if let index = crawl.index(of: target) { judge(crawl.pages[index], from: page, pointer: reference.pointer) }
        case .ignored: break
        case .otherOrigin(let origin):
            let isMixed = origin.scheme == "http" && page.target.url.hasPrefix("https:")
            if isMixed, reference.kind != .webPage {
                add(.mixedContent, "the screen is loaded over https, but this URL is not encrypted", "use https")
            } else {
                add(.otherOrigin, "the \(reference.kind.rawValue) is on another origin and was not checked")
            }
        case .unevaluable(let isTemplate):
            add(
                .unevaluable,
                isTemplate
                    ? "the URL uses the element of a list that the screen does not contain"
                    : "the screen does not contain the value of an expression",
                isTemplate ? nil : "give its context an initial value",
                isTemplate || !reference.isLoaded ? .info : nil
            )
        case .invalid(let error): add(.broken, error.message, error.advice)
        case .unknown:
            add(.unknown, "the meaning of this URL is not declared", "declare it with --custom TYPE.MEMBER=ROLE")
        case .unsafe:
            add(
                .method,
                "the \(reference.kind.rawValue) uses \(reference.method), which may have side effects",
                "use GET to load screens and images"
            )
        }
    }

    private mutating func add(_ cycle: CrawlCycles.Cycle, _ reference: CrawlReference, of page: CrawlPage) {
        switch cycle {
        case .route:
            let name = reference.kind == .lazy ? "lazy component" : reference.kind.rawValue
            let message = "the \(name) leads back to a screen before this one"
            add(.cyclic, page, reference.pointer, reference.url, message)
        case .lazy:
            add(
                .cyclic,
                page,
                reference.pointer,
                reference.url,
                "the lazy component loads itself without end",
                "remove the lazy component, or load another one",
                .error
            )
        }
    }

    // MARK: - Responses

    /// Adds the findings about a response to the reference that leads to it. A broken response is reported for each
    /// reference, a slow or heavy one only for the first.
    private mutating func judge(_ page: CrawlPage, from screen: CrawlPage, pointer: String) {
        func add(_ rule: CrawlRule, _ message: String, _ advice: String? = nil, _ severity: CrawlSeverity? = nil) {
            self.add(rule, screen, pointer, page.target.url, message, advice, severity)
        }
        let limit = page.target.isImage ? limits.heavyImage : limits.heavyScreen
        if let failure = page.failure {
            if page.isRedirectedElsewhere, page.target != crawl.start {
                add(.otherOrigin, failure.message)
            } else if failure.code == NetworkError.Kind.tooLarge.rawValue {
                add(.broken, failure.message, failure.advice)
            } else {
                add(.broken, failure.sentence, failure.advice)
            }
        }
        guard judged.insert(page.target).inserted else { return }
        if page.duration > limits.slow {
            let times = "\(Int(page.duration.milliseconds)) ms, more than \(Int(limits.slow.milliseconds)) ms"
            add(.slow, "the response took \(times)")
        }
        if page.bytes > limit {
            let sizes = "\(byteCount(Int64(page.bytes))), more than \(byteCount(Int64(limit)))"
            add(
                .heavy,
                "the \(page.target.isImage ? "image" : "screen") has \(sizes)",
                page.target.isImage ? "compress or resize it" : "load parts of it with lazy components"
            )
        }
    }

    private mutating func add(
        _ rule: CrawlRule,
        _ page: CrawlPage,
        _ pointer: String,
        _ target: String,
        _ message: String,
        _ advice: String? = nil,
        _ severity: CrawlSeverity? = nil
    ) {
        let redactor = Redactor.standard
        found.append(
            CrawlFinding(
                rule: rule,
                severity: severity ?? rule.severity,
                screen: redactor.redact(url: page.target.url).printable,
                pointer: redactor.redact(text: pointer).printable,
                target: redactor.redact(url: target).printable,
                message: redactor.redact(text: message).printable,
                advice: advice.map { redactor.redact(text: $0).printable }
            )
        )
    }
}

extension CrawlPage {
    /// Whether the server redirects to another origin.
    fileprivate var isRedirectedElsewhere: Bool {
        guard let redirect, let url = URL(string: target.url) else { return false }
        return Origin(redirect) != Origin(url)
    }
}

/// The limits above which a response is a finding.
struct CrawlLimits: Sendable {
    var slow = Duration.seconds(1)
    /// The maximum size of an image, in bytes.
    var heavyImage = 1_000_000
    /// The maximum size of a screen or lazy component, in bytes.
    var heavyScreen = 100_000
}
