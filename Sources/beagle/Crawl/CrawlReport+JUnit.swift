import BeagleNetHTTP
import BeagleNetReplay

extension CrawlReport {
    /// The report as JUnit XML in the format that Jenkins reads, with a test case for each screen.
    ///
    /// A test case fails if its screen has findings that are errors or warnings.
    /// Source: https://github.com/jenkinsci/xunit-plugin, junit-10.xsd
    var junit: String {
        let cases = cases
        let failures = cases.count { $0.findings.contains(where: \.isFault) }
        let time = Self.seconds(crawl.pages.reduce(Duration.zero) { $0 + $1.duration })
        let counts = "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\" time=\"\(time)\""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="crawl" \(counts)>
              <testsuite name="crawl" \(counts)>
            \(cases.map(testCase).joined(separator: "\n"))
              </testsuite>
            </testsuites>

            """
    }

    private typealias Case = (url: String, duration: Duration, findings: [CrawlFinding])

    /// The screens, and the first one even if it couldn't be loaded.
    private var cases: [Case] {
        let groups = Dictionary(grouping: findings, by: \.screen)
        var known: Set<String> = []
        return crawl.pages.enumerated().compactMap { index, page in
            let url = Redactor.standard.redact(url: page.target.url).printable
            guard page.isScreen || index == 0, known.insert(url).inserted else { return nil }
            return (url, page.duration, groups[url] ?? [])
        }
    }

    private func testCase(_ screen: Case) -> String {
        let name = origin.path(of: screen.url).xml
        let attributes = "name=\"\(name)\" classname=\"crawl.screen\" time=\"\(Self.seconds(screen.duration))\""
        let (faults, notes) = (screen.findings.filter(\.isFault), screen.findings.filter { !$0.isFault })
        var contents: [String] = []
        if let first = faults.first {
            let message = faults.count == 1 ? first.message : "\(faults.count) findings: \(first.message)"
            contents.append(
                "<failure message=\"\(message.xml)\" type=\"\(first.rule.rawValue)\">\(text(faults).xml)</failure>"
            )
        }
        if !notes.isEmpty { contents.append("<system-out>\(text(notes).xml)</system-out>") }
        guard !contents.isEmpty else { return "    <testcase \(attributes)/>" }
        let lines = contents.map { "      \($0)\n" }.joined()
        return "    <testcase \(attributes)>\n\(lines)    </testcase>"
    }

    private func text(_ findings: [CrawlFinding]) -> String {
        findings.map { finding in
            let place = "\(origin.path(of: finding.target)) at \(finding.pointer.isEmpty ? "/" : finding.pointer)"
            return "\(finding.severity.rawValue) \(finding.rule.rawValue): \(place): \(finding.sentence)"
        }.joined(separator: "\n")
    }

    /// Returns a duration in seconds with three decimal digits.
    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = Int64(duration.milliseconds.rounded())
        return "\(milliseconds / 1000).\(String(milliseconds % 1000 + 1000).dropFirst())"
    }
}

extension CrawlFinding {
    /// Whether the finding makes the command fail.
    var isFault: Bool { severity != .info }
}
