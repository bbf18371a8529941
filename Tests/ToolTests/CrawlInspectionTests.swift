import BeagleNetHTTP
import Foundation
import Testing

@testable import beagle

struct CrawlInspectionTests {
    /// Returns the findings as lines: severity, rule, screen, pointer, target.
    private func lines(_ findings: [CrawlFinding]) -> [String] {
        findings.map { finding in
            let (screen, target) = (finding.screen, finding.target)
            return "\(finding.severity) \(finding.rule.rawValue) \(ScriptedSite.origin.path(of: screen)) "
                + "\(finding.pointer) \(ScriptedSite.origin.path(of: target))"
        }
    }

    @Test func soundScreensHaveNoFindings() async throws {
        let site = ScriptedSite([
            "/": .screen(routeButton("/a"), remoteImage("/i")), "/a": .screen(), "/i": .init(image: Data()),
        ])
        #expect(try await lines(site.findings()) == [])
    }

    @Test func brokenTargetIsReportedForEachReference() async throws {
        let site = ScriptedSite([
            "/": .screen(routeButton("/a"), routeButton("/gone"), remoteImage("/i")),
            "/a": .screen(lazyComponent("/gone")), "/i": .init(failure: .status("500 Internal Server Error")),
        ])
        let findings = try await site.findings()
        #expect(
            lines(findings) == [
                "error broken / /children/1/onPress/0/route/url /gone", "error broken / /children/2/path/url /i",
                "error broken /a /children/0/path /gone",
            ]
        )
        #expect(findings.map(\.message) == ["404 Not Found", "500 Internal Server Error", "404 Not Found"])
    }

    @Test func brokenFirstScreenIsReported() async throws {
        #expect(try await lines(ScriptedSite([:]).findings()) == ["error broken /  /"])
    }

    @Test func slowAndHeavyResponsesAreReportedOnce() async throws {
        let site = ScriptedSite([
            "/": .screen(routeButton("/slow"), routeButton("/slow"), remoteImage("/big")),
            "/slow": .init(document: #"{"_beagleComponent_":"a:b"}"#, duration: .milliseconds(1_001)),
            "/big": .init(image: Data(count: 1_001), duration: .seconds(1)),
        ])
        let findings = try await site.findings(CrawlLimits(heavyImage: 1_000, heavyScreen: 10_000))
        #expect(
            lines(findings) == [
                "warning slow / /children/0/onPress/0/route/url /slow", "warning heavy / /children/2/path/url /big",
            ]
        )
        #expect(findings[0].message == "the response took 1001 ms, more than 1000 ms")
        #expect(findings[1].message == "the image has 1.0 kB, more than 1.0 kB")
        let heavy = try await site.findings(CrawlLimits(slow: .seconds(2), heavyScreen: 30))
        #expect(lines(heavy) == ["warning heavy /  /"])
    }

    @Test func urlsThatCannotBeCheckedAreReported() async throws {
        let site = ScriptedSite([
            "/": .screen(
                remoteImage("@{a.b}"),
                #"{"_beagleComponent_":"custom:a","u":"https://cdn/u"}"#,
                routeButton("other"),
                #"{"_beagleComponent_":"beagle:button","onPress":[{"_beagleAction_":"beagle:sendRequest","url":"@{a}"}]}"#
            )
        ])
        #expect(
            try await lines(site.findings()) == [
                "warning unevaluable / /children/0/path/url @{a.b}", "warning unknown / /children/1/u https://cdn/u",
                "error broken / /children/2/onPress/0/route/url other",
                "info unevaluable / /children/3/onPress/0/url @{a}",
            ]
        )
    }

    @Test func methodsThatDoNotSuitARouteAreReported() async throws {
        let site = ScriptedSite([
            "/": .screen(
                routeButton("/a", #","httpAdditionalData":{"method":"DELETE"}"#),
                routeButton("/b", #","httpAdditionalData":{"body":"x"}"#),
                #"{"_beagleComponent_":"beagle:button","onPress":[{"_beagleAction_":"beagle:sendRequest","url":"/c","method":"POST","data":"x"}]}"#
            )
        ])
        let findings = try await site.findings()
        #expect(
            lines(findings) == [
                "warning method / /children/0/onPress/0/route/url /a",
                "warning method / /children/1/onPress/0/route/url /b",
            ]
        )
        #expect(findings[0].message.contains("DELETE") && findings[1].message.contains("GET request has a body"))
    }

    @Test func otherOriginsAreListed() async throws {
        let site = ScriptedSite([
            "/": .screen(
                routeButton("https://other/a"),
                remoteImage("http://cdn/i"),
                routeButton("/away"),
                #"{"_beagleComponent_":"beagle:webView","url":"http://web/"}"#,
                routeButton("/nowhere")
            ),
            "/away": .init(redirect: "https://other/b"), "/nowhere": .init(redirect: "/somewhere"),
        ])
        #expect(
            try await lines(site.findings()) == [
                "info other-origin / /children/0/onPress/0/route/url https://other/a",
                "warning mixed-content / /children/1/path/url http://cdn/i",
                "info other-origin / /children/2/onPress/0/route/url /away",
                "info other-origin / /children/3/url http://web/",
                "error broken / /children/4/onPress/0/route/url /nowhere",
            ]
        )
    }

    @Test func redirectThatIsNotFollowedEndsWithItsURL() async throws {
        let site = ScriptedSite([
            "/": .screen(routeButton("/away")), "/away": .init(redirect: "https://other/b?token=s3cretvalue"),
        ])
        let finding = try #require(try await site.findings().first)
        #expect(finding.sentence == "the redirect was not followed: https://other/b?token=REDACTED")
    }

    // MARK: - Cycles

    @Test func routesThatLeadBackAreListed() async throws {
        let site = ScriptedSite([
            "/": .screen(routeButton("/"), routeButton("/a"), routeButton("/b")),
            "/a": .screen(routeButton("/b")), "/b": .screen(routeButton("/c")),
            "/c": .screen(lazyComponent("/lazy")), "/lazy": .screen(routeButton("/b")),
        ])
        #expect(
            try await lines(site.findings()) == [
                "info cyclic / /children/0/onPress/0/route/url /",
                "info cyclic /lazy /children/0/onPress/0/route/url /b",
            ]
        )
    }

    @Test func lazyComponentThatLeadsBackThroughARouteIsListed() async throws {
        let site = ScriptedSite([
            "/": .screen(lazyComponent("/a")), "/a": .screen(routeButton("/b")), "/b": .screen(lazyComponent("/a")),
        ])
        let findings = try await site.findings()
        #expect(lines(findings) == ["info cyclic /b /children/0/path /a"])
        #expect(findings.first?.message == "the lazy component leads back to a screen before this one")
    }

    @Test func lazyComponentThatLoadsItselfIsAnError() async throws {
        let site = ScriptedSite([
            "/": .screen(lazyComponent("/a")), "/a": .screen(lazyComponent("/b")), "/b": .screen(lazyComponent("/a")),
        ])
        #expect(try await lines(site.findings()) == ["error cyclic /b /children/0/path /a"])
    }

    @Test func longChainsAreSearched() async throws {
        var pages = Dictionary(
            uniqueKeysWithValues: (1...3_000).map { ("/\($0)", ScriptedSite.Page.screen(lazyComponent("/\($0 + 1)"))) }
        )
        pages["/"] = .screen(lazyComponent("/1"))
        pages["/3001"] = .screen(lazyComponent("/1"))
        let crawl = try await ScriptedSite(pages).crawl(maxRequests: 4_000)
        let findings = CrawlInspection.findings(of: crawl, CrawlLimits())
        #expect(lines(findings) == ["error cyclic /3001 /children/0/path /1"])
    }

    // MARK: - Texts

    @Test func findingsHaveNoSecretsAndNoControlCharacters() async throws {
        let site = ScriptedSite([
            "/": .screen(
                routeButton("/a?token=s3cretvalue"),
                #"{"_beagleComponent_":"a:b","x\u001b[31m":"https://h/"}"#
            ),
            "/a?token=s3cretvalue": .init(failure: .status("500 \u{1B}[31m Bearer abcdefghijklmnop1234567890")),
        ])
        let findings = try await site.findings()
        #expect(findings.count == 2)
        #expect(findings[0].target == "https://site/a?token=REDACTED")
        for finding in findings {
            let text = "\(finding)"
            #expect(!text.contains("s3cretvalue") && !text.contains("abcdefghijklmnop") && !text.contains("\u{1B}"))
        }
    }
}
