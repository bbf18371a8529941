import BeagleNet
import BeagleNetHTTP
import Foundation

/// The report of a crawl: the findings that the baseline doesn't have, and totals.
struct CrawlReport: Sendable {
    let crawl: CrawlResult
    let origin: Origin
    /// The findings that are reported, in the order of the screens.
    let findings: [CrawlFinding]
    /// The number of findings that are in the baseline.
    let baselineCount: Int

    init(_ crawl: CrawlResult, _ findings: [CrawlFinding], on origin: Origin, baseline: CrawlBaseline?) {
        self.crawl = crawl
        self.origin = origin
        self.findings = findings.filter { baseline?.contains($0, on: origin) != true }
        baselineCount = findings.count - self.findings.count
    }

    func count(_ severity: CrawlSeverity) -> Int { findings.count { $0.severity == severity } }

    /// The number of findings that make the command fail.
    var faultCount: Int { count(.error) + count(.warning) }

    /// The findings of each screen, in the order of the screens.
    var groups: [(screen: String, findings: [CrawlFinding])] {
        var groups: [(screen: String, findings: [CrawlFinding])] = []
        var indices: [String: Int] = [:]
        for finding in findings {
            if let index = indices[finding.screen] {
                groups[index].findings.append(finding)
            } else {
                indices[finding.screen] = groups.count
                groups.append((finding.screen, [finding]))
            }
        }
        return groups
    }

    /// A note about targets that weren't requested, or `nil`.
    var note: String? {
        guard crawl.unrequestedCount > 0 else { return nil }
        return "beagle: not requested because of --max-requests: \(crawl.unrequestedCount)"
    }

    // MARK: - Text

    func text(_ console: Console) -> String {
        var lines: [String] = []
        for group in groups {
            lines.append(console.styled(origin.path(of: group.screen), .bold))
            lines += self.lines(of: group.findings, console)
        }
        return (lines + [summary]).map { "\($0)\n" }.joined()
    }

    private func lines(of findings: [CrawlFinding], _ console: Console) -> [String] {
        let rows = findings.map { finding in
            [finding.rule.rawValue, origin.path(of: finding.target), finding.pointer.isEmpty ? "/" : finding.pointer]
        }
        let widths = (0..<3).map { column in rows.map { min(48, $0[column].count) }.max() ?? 0 }
        return zip(findings, rows).map { finding, row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
            let severity = finding.severity.rawValue
            let padding = String(repeating: " ", count: 7 - severity.count)
            let style: Style = finding.severity == .error ? .red : finding.severity == .warning ? .yellow : .dim
            return
                "  \(console.styled(severity, style))\(padding)  \(cells.joined(separator: "  "))  \(finding.sentence)"
        }
    }

    /// The totals: `screens 5 · images 3 · errors 2 · warnings 4 · info 1`.
    private var summary: String {
        var parts = [
            "screens \(crawl.screens.count)", "images \(crawl.pages.count(where: \.target.isImage))",
            "requests \(crawl.pages.count)", "errors \(count(.error))", "warnings \(count(.warning))",
            "info \(count(.info))",
        ]
        if baselineCount > 0 { parts.append("in the baseline \(baselineCount)") }
        if !crawl.tooDeep.isEmpty { parts.append("too deep \(crawl.tooDeep.count)") }
        return parts.joined(separator: " · ")
    }

    // MARK: - JSON

    var json: JSONValue {
        [
            "start": .string(Redactor.standard.redact(url: crawl.start.url)),
            "pages": .array(crawl.pages.map(\.json)),
            "findings": .array(findings.map(\.json)),
            "summary": [
                "screens": .integer(Int64(crawl.screens.count)),
                "images": .integer(Int64(crawl.pages.count(where: \.target.isImage))),
                "requests": .integer(Int64(crawl.pages.count)),
                "errors": .integer(Int64(count(.error))),
                "warnings": .integer(Int64(count(.warning))),
                "info": .integer(Int64(count(.info))),
                "baseline": .integer(Int64(baselineCount)),
                "unrequested": .integer(Int64(crawl.unrequestedCount)),
                "tooDeep": .integer(Int64(crawl.tooDeep.count)),
            ],
        ]
    }
}

extension CrawlPage {
    fileprivate var json: JSONValue {
        [
            "url": .string(Redactor.standard.redact(url: target.url)),
            "kind": target.isImage ? "image" : isScreen ? "screen" : "other",
            "depth": .integer(Int64(depth)),
            "bytes": .integer(Int64(bytes)),
            "ms": .number(duration.milliseconds.rounded()),
            "loaded": .bool(failure == nil),
        ]
    }
}

extension CrawlFinding {
    fileprivate var json: JSONValue {
        [
            "rule": .string(rule.rawValue), "severity": .string(severity.rawValue), "screen": .string(screen),
            "pointer": .string(pointer), "target": .string(target), "message": .string(message),
            "advice": advice.map { .string($0) } ?? nil,
        ]
    }
}
