import BeagleNetHTTP
import Foundation
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

@testable import beagle

struct CrawlReportTests {
    private func report(_ pages: [String: ScriptedSite.Page]) async throws -> CrawlReport {
        let crawl = try await ScriptedSite(pages).crawl()
        let findings = CrawlInspection.findings(of: crawl, CrawlLimits())
        return CrawlReport(crawl, findings, on: ScriptedSite.origin, baseline: nil)
    }

    private static let pages: [String: ScriptedSite.Page] = [
        "/": .screen(routeButton("/a"), routeButton("/gone?<&\\\"'>"), remoteImage("@{a}")),
        "/a": .screen(routeButton("/")),
    ]

    @Test func junitHasATestCaseForEachScreen() async throws {
        let xml = try await report(Self.pages).junit
        let document = try XMLDocument(xmlString: xml)
        let suite = try #require(document.rootElement()?.elements(forName: "testsuite").first)
        #expect(suite.attribute(forName: "tests")?.stringValue == "2")
        #expect(suite.attribute(forName: "failures")?.stringValue == "1")
        let cases = suite.elements(forName: "testcase")
        #expect(cases.map { $0.attribute(forName: "name")?.stringValue } == ["/", "/a"])
        let failure = try #require(cases[0].elements(forName: "failure").first)
        #expect(failure.attribute(forName: "message")?.stringValue == "2 findings: 404 Not Found")
        #expect(failure.attribute(forName: "type")?.stringValue == "broken")
        #expect(failure.stringValue?.split(separator: "\n").count == 2)
        #expect(cases[1].elements(forName: "failure").isEmpty)
        #expect(cases[1].elements(forName: "system-out").first?.stringValue?.contains("info cyclic") == true)
    }

    @Test func junitHasACaseForAFirstScreenThatCannotBeLoaded() async throws {
        let xml = try await report([:]).junit
        #expect(xml.contains(#"tests="1" failures="1""#) && xml.contains(#"name="/""#))
    }

    @Test func everyFormatSaysThatRequestsWereLeftOut() async throws {
        let site = ScriptedSite(["/": .screen(routeButton("/a"), routeButton("/b")), "/a": .screen()])
        let crawl = try await site.crawl(maxRequests: 2)
        let findings = CrawlInspection.findings(of: crawl, CrawlLimits())
        let report = CrawlReport(crawl, findings, on: ScriptedSite.origin, baseline: nil)
        let message = "targets that were not requested: 1"
        #expect(report.faultCount == 1)
        #expect(report.text(Console(.never)).contains("\(message); increase --max-requests"))
        #expect(report.json["findings"]?[0]?["rule"] == "unrequested")
        #expect(report.junit.contains(#"tests="2" failures="1""#) && report.junit.contains(message))
        let result = try report.sarif()["runs"]?[0]?["results"]?[0]
        #expect(result?["level"] == "warning")
        #expect(result?["message"]?["text"]?.string?.contains(message) == true)
    }

    /// The members that the SARIF 2.1.0 schema requires, and the values that it allows.
    @Test func sarifHasTheRequiredMembers() async throws {
        let sarif = try await report(Self.pages).sarif()
        #expect(sarif["version"] == "2.1.0")
        let run = try #require(sarif["runs"]?[0])
        let rules = try #require(run["tool"]?["driver"]?["rules"]?.array)
        #expect(run["tool"]?["driver"]?["name"]?.string?.isEmpty == false)
        #expect(run["invocations"]?[0]?["executionSuccessful"] == true)
        let results = try #require(run["results"]?.array)
        #expect(results.map { $0["level"]?.string } == ["error", "warning", "note"])
        for result in results {
            let index = try #require(result["ruleIndex"]?.integer)
            #expect(rules[Int(index)]["id"] == result["ruleId"])
            #expect(result["message"]?["text"]?.string?.isEmpty == false)
            let location = result["locations"]?[0]
            #expect(location?["physicalLocation"]?["artifactLocation"]?["uri"]?.string?.hasPrefix("https://") == true)
            #expect(location?["logicalLocations"]?[0]?["fullyQualifiedName"]?.string?.hasPrefix("/children") == true)
            #expect(result["partialFingerprints"]?["beagleCrawl/v1"]?.string?.count == 64)
        }
    }
}
