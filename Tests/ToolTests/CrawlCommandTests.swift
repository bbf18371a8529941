import BeagleNet
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct CrawlCommandTests {
    @Test func plantedFaultsAreFound() async throws {
        try await withBackend { url in
            let run = try await beagle("crawl", "\(url)/faults", "--json")
            #expect(run.exit == 107, "\(run.errors)")
            let report = try #require(try run.json()["error"]?["report"])
            // On a busy computer, other responses may be slow too.
            let findings = try #require(report["findings"]?.array).filter { finding in
                finding["rule"] != "slow" || finding["target"]?.string?.hasSuffix("delay=1200") == true
            }
            let found = findings.map { finding in
                let target = finding["target"]?.string?.replacing(url, with: "") ?? ""
                return "\(finding["severity"]?.string ?? "") \(finding["rule"]?.string ?? "") \(target)"
            }
            #expect(
                found.sorted() == [
                    "error broken /faults/malformed", "error broken /faults/missing",
                    "error broken /faults/missing.png",
                    "error broken /faults/text.png", "info cyclic /faults", "warning heavy /faults/heavy.png",
                    "warning method /details", "warning slow /faults/slow?delay=1200",
                    "warning unevaluable @{user.photo}", "warning unknown https://cdn.example.com/banner.png",
                ]
            )
            let malformed = findings.first { $0["target"] == .string("\(url)/faults/malformed") }
            #expect(
                malformed?["message"]?.string?.contains("line 3, column 68 ($.children[0].text)") == true,
                "\(findings)"
            )
            #expect(malformed?["pointer"] == "/child/children/6/onPress/0/route/url")
            #expect(report["summary"]?["errors"] == 4)
        }
    }

    @Test func soundScreenExitsWithZero() async throws {
        try await withBackend { url in
            let run = try await beagle("crawl", "\(url)/home", "--slow", "60000", "--custom", "custom:chart.a=image")
            #expect(run.exit == 0, "\(run.text)")
            #expect(run.lines.last == "screens 4 · images 2 · requests 6 · errors 0 · warnings 0 · info 1")
            #expect(run.lines.contains { $0.contains("other-origin") && $0.contains("https://usebeagle.io") })
        }
    }

    @Test func crawlWithItsBaselineIsQuiet() async throws {
        try await withDirectory { directory in
            try await withBackend { url in
                let file = "\(directory)/baseline.jsonl"
                let arguments = ["crawl", "\(url)/faults", "--slow", "60000"]
                let first = try await beagle(arguments + ["--write-baseline", file])
                #expect(first.exit == 0 && first.lines.count > 5, "\(first.errors)")
                #expect(first.errors == "beagle: \(file) accepts 9 findings\n")
                let second = try await beagle(arguments + ["--baseline", file])
                #expect(second.exit == 0 && second.lines.count == 1, "\(second.text)")
                #expect(second.text.hasSuffix("in the baseline 9\n"))
                // A finding that isn't in the baseline is reported alone.
                let third = try await beagle(arguments + ["--baseline", file, "--heavy-screen", "10"])
                #expect(third.exit == 107 && third.text.contains("heavy") && !third.text.contains("broken"))
            }
        }
    }

    @Test func reportIsWrittenToAFile() async throws {
        try await withDirectory { directory in
            try await withBackend { url in
                let file = "\(directory)/report"
                let junit = try await beagle("crawl", "\(url)/home", "--slow", "60000", "--format", "junit", "-o", file)
                #expect(junit.exit == 0 && junit.output.isEmpty)
                #expect(try String(contentsOfFile: file, encoding: .utf8).contains("<testcase name=\"/details\""))
                let sarif = try await beagle("crawl", "\(url)/home", "--slow", "60000", "--format", "sarif")
                #expect(try JSONValue(parsing: sarif.output)["version"] == "2.1.0")
                let json = try await beagle("crawl", "\(url)/home", "--slow", "60000", "--format", "json")
                #expect(try JSONValue(parsing: json.output)["summary"]?["screens"] == 4)
            }
        }
    }

    @Test func cutOffCrawlExitsWith107() async throws {
        try await withBackend { url in
            let arguments = ["crawl", "\(url)/home", "--slow", "60000", "--max-requests", "2", "--format"]
            for format in CrawlCommand.Format.allCases {
                let run = try await beagle(arguments + [format.rawValue])
                #expect(run.exit == 107 && run.text.contains("unrequested"), "\(run.text)")
                #expect(run.text.contains("targets that were not requested: "), "\(run.text)")
            }
        }
    }

    @Test func responsesOverALimitAreErrors() async throws {
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data(count: 2_000)
        let screen = ScriptedSite.Page.screen(remoteImage("/i"), routeButton("/large")).document
        let large = Data(screen.utf8) + Data(repeating: UInt8(ascii: " "), count: ParsedScreen.maxBytes)
        let server = try LoopbackServer { request in
            switch request.target {
            case "/i": .response(200, [:], png)
            case "/large": .response(200, [:], large)
            default: .response(200, [:], screen)
            }
        }
        let small = try await beagle("crawl", server.url, "--slow", "60000", "--max-filesize", "1000")
        #expect(small.exit == 107 && !small.text.contains("-o"), "\(small.text)")
        for target in ["/i", "/large"] {
            let line = small.lines.first { $0.contains(" \(target) ") } ?? ""
            #expect(line.contains("error") && line.contains("broken"), "\(small.text)")
            #expect(line.hasSuffix("the 1000 bytes allowed; increase --max-filesize"), "\(small.text)")
        }
        let great = try await beagle("crawl", server.url, "--slow", "60000", "--max-filesize", "1G")
        let line = great.lines.first { $0.contains(" /large ") } ?? ""
        #expect(line.contains("the \(ParsedScreen.maxBytes) bytes allowed; divide the screen"), "\(great.text)")
    }

    @Test func credentialsStayOnTheOrigin() async throws {
        let other = try LoopbackServer(.response(200, [:], "{}"))
        let server = try LoopbackServer { request in
            if request.target == "/away" { return .response(302, ["Location": "\(other.url)/b"]) }
            let screen = ScriptedSite.Page.screen(
                routeButton("/away"),
                remoteImage("\(other.url)/i"),
                routeButton("/x")
            )
            return .response(200, ["Content-Type": "application/json"], screen.document)
        }
        let run = try await beagle("crawl", server.url, "--user", "ana:s3cret", "--slow", "60000")
        #expect(run.exit == 0, "\(run.text)")
        #expect(other.requests.isEmpty)
        #expect(Set(server.requests.map(\.target)) == ["/", "/away", "/x"])
        #expect(
            server.requests.allSatisfy { request in
                request.method == "GET" && request.has("authorization")
            }
        )
        #expect(!run.text.contains("s3cret"))
    }

    @Test func serverThatCannotBeReachedIsNotAcceptedByABaseline() async throws {
        try await withDirectory { directory in
            let arguments = ["crawl", "http://127.0.0.1:1/home", "--write-baseline", "\(directory)/baseline.jsonl"]
            let run = try await beagle(arguments)
            #expect(run.exit != 0, "\(run.text)\(run.errors)")
            let baseline = "\(directory)/baseline.jsonl"
            #expect(!FileManager.default.fileExists(atPath: baseline))
            let finding = #"{"pointer":"","rule":"broken","screen":"/home","target":"/home"}"#
            try Data("\(finding)\n".utf8).write(to: URL(filePath: baseline))
            let later = try await beagle("crawl", "http://127.0.0.1:1/home", "--baseline", baseline)
            #expect(later.exit != 0, "\(later.text)\(later.errors)")
        }
    }

    @Test func serverThatCannotBeReachedIsAFinding() async throws {
        let url = try LoopbackServer(.response(200, [:], "")).url
        let run = try await beagle("crawl", url)
        #expect(run.exit == 107 && run.text.contains("broken"), "\(run.text)")
        #expect(run.errors.contains("the crawl found 1 error and 0 warnings"), "\(run.errors)")
    }

    @Test(arguments: [
        [], ["http://h", "--depth", "-1"], ["http://h", "--concurrency", "0"],
        ["http://h", "--json", "--format", "junit"],
        ["http://h", "--slow", "0"], ["http://h", "--custom", "x"], ["http://h", "--offline"],
        ["http://h", "--include"],
    ])
    func invalidCommandLineExitsWith64(_ arguments: [String]) async throws {
        let run = try await beagle(["crawl"] + arguments)
        #expect(run.exit == 64 && run.output.isEmpty || run.text.contains("usage"))
    }
}
