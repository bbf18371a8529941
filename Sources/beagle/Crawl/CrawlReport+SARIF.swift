import BeagleNet
import BeagleNetHTTP
import Foundation

extension CrawlReport {
    /// The report in the Static Analysis Results Interchange Format, which code hosts show.
    ///
    /// Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
    ///
    /// - Throws: `NetworkError` if SHA-256 isn't available.
    func sarif() throws(NetworkError) -> JSONValue {
        var results: [JSONValue] = []
        for finding in findings { results.append(try result(finding)) }
        return [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [
                [
                    "tool": [
                        "driver": [
                            "name": "beagle crawl",
                            "version": .string(beagleNetVersion),
                            "rules": .array(CrawlRule.allCases.map(\.sarif)),
                        ]
                    ],
                    "invocations": [["executionSuccessful": true]],
                    "columnKind": "unicodeCodePoints",
                    "results": .array(results),
                ]
            ],
        ]
    }

    private func result(_ finding: CrawlFinding) throws(NetworkError) -> JSONValue {
        let fingerprint = CrawlFingerprint(finding, on: origin)
        let index = CrawlRule.allCases.firstIndex(of: finding.rule) ?? -1
        var location: [String: JSONValue] = [
            "physicalLocation": ["artifactLocation": ["uri": .string(finding.screen)]]
        ]
        if !finding.pointer.isEmpty {
            location["logicalLocations"] = [["fullyQualifiedName": .string(finding.pointer), "kind": "value"]]
        }
        return [
            "ruleId": .string(finding.rule.rawValue),
            "ruleIndex": .integer(Int64(index)),
            "level": .string(finding.severity.sarif),
            "message": ["text": .string("\(origin.path(of: finding.target)): \(finding.sentence)")],
            "locations": [.object(location)],
            "partialFingerprints": [
                "beagleCrawl/v1": .string(try SHA256Digest.hex(of: Data("\(fingerprint.json)".utf8)))
            ],
            "properties": ["target": .string(finding.target)],
        ]
    }
}

extension CrawlRule {
    fileprivate var sarif: JSONValue {
        [
            "id": .string(rawValue),
            "shortDescription": ["text": .string(summary)],
            "defaultConfiguration": ["level": .string(severity.sarif)],
        ]
    }
}

extension CrawlSeverity {
    /// The level (SARIF 2.1.0, 3.27.10).
    fileprivate var sarif: String { self == .info ? "note" : rawValue }
}
