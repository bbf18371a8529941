import BeagleNetHTTP
import Foundation
import Testing

@testable import beagle

struct CrawlBaselineTests {
    private func finding(_ target: String, on screen: String = "https://site/a?b=1", _ message: String = "")
        -> CrawlFinding
    {
        CrawlFinding(
            rule: .broken,
            severity: .error,
            screen: screen,
            pointer: "/child/url",
            target: target,
            message: message,
            advice: nil
        )
    }

    @Test func baselineIsValidOnOtherHostsAndWithOtherMessages() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/baseline.jsonl"
            let findings = [finding("https://site/gone", "500"), finding("https://cdn/i")]
            try CrawlBaseline(findings, on: ScriptedSite.origin).write(to: path)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(
                text == """
                    {"pointer":"/child/url","rule":"broken","screen":"/a?b=1","target":"/gone"}
                    {"pointer":"/child/url","rule":"broken","screen":"/a?b=1","target":"https://cdn/i"}

                    """
            )
            let baseline = try CrawlBaseline(contentsOf: path)
            let staging = Origin(scheme: "http", host: "127.0.0.1", port: 8080)
            let url = "http://127.0.0.1:8080"
            #expect(baseline.contains(finding("\(url)/gone", on: "\(url)/a?b=1", "404"), on: staging))
            #expect(baseline.contains(finding("https://cdn/i", on: "\(url)/a?b=1"), on: staging))
            #expect(!baseline.contains(finding("\(url)/gone", on: "\(url)/a?b=2"), on: staging))
            #expect(!baseline.contains(finding("\(url)/other", on: "\(url)/a?b=1"), on: staging))
        }
    }

    private static let malformed = [
        ("{\"rule\":\"broken\"}\n", "entry 1"), ("[]", "is missing"), ("\n{", "entry 1"),
    ]

    @Test(arguments: malformed)
    func malformedBaselineIsRejected(_ text: String, _ message: String) async throws {
        try await withDirectory { directory in
            let path = "\(directory)/baseline.jsonl"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let failure = #expect(throws: Failure.self) { _ = try CrawlBaseline(contentsOf: path) }
            #expect(failure?.exit == 101 && failure?.message.contains(message) == true, "\(failure?.message ?? "")")
        }
    }

    private static let paths = [
        ("https://site/a?b#c", "/a?b#c"), ("https://SITE:443", "/"), ("https://site?x", "/?x"),
        ("http://site/a", "http://site/a"),
        ("https://site:444/a", "https://site:444/a"), ("@{a}", "@{a}"), ("/a", "/a"),
    ]

    @Test(arguments: paths)
    func urlsOfTheOriginAreShortened(_ url: String, _ path: String) {
        #expect(ScriptedSite.origin.path(of: url) == path)
    }
}
