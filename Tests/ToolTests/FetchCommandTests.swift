import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct FetchCommandTests {
    @Test func treeIsTheOnlyOutput() async throws {
        try await withBackend { url in
            let run = try await beagle("fetch", "\(url)/details", "--tree")
            #expect(run.exit == 0)
            #expect(
                run.lines == [
                    #"screenComponent  "Details""#,
                    "└─ scrollView",
                    "   ├─ image   /img/logo.png",
                    #"   ├─ text    "This screen was prefetched""#,
                    #"   └─ button  "Back"  → popView"#,
                    "links 0 · images 1 · forms 0 · unknown 0",
                ]
            )
            #expect(run.errors.isEmpty)
        }
    }

    @Test func screenIsPrintedUnchanged() async throws {
        try await withBackend { url in
            let run = try await beagle("fetch", "/home", "--base", url)
            #expect(run.exit == 0)
            #expect(run.text == "\(DemoScreens.home)\n")
        }
    }

    @Test func screenWithAnInexactValueIsAccepted() async throws {
        let screen = #"{"_beagleComponent_":"beagle:text","text":"a\ud800b","flex":1e999}"#
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], screen))
        let run = try await beagle("fetch", server.url)
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.text.hasPrefix(screen))
        #expect(try await beagle("fetch", server.url, "--json").exit == 0)
    }

    @Test(arguments: ["/", "/img/logo.png"])
    func responseThatIsNotAScreenExitsWith101(_ path: String) async throws {
        try await withBackend { url in
            let tree = try await beagle("fetch", "\(url)\(path)", "--tree")
            #expect(tree.exit == 101)
            #expect(tree.output.isEmpty)
            #expect(tree.errors.contains("not a screen"))

            let plain = try await beagle("fetch", "\(url)\(path)")
            #expect(plain.exit == 101)
            #expect(!plain.output.isEmpty, "the body is printed anyway")
        }
    }

    private static let pageIsNotAScreenArguments: [(String, String, String)] = [
        ("text/html; charset=utf-8", "Sign in", "HTML (text/html; charset=utf-8)"),
        ("application/json", "\n<!doctype html>", "looks like HTML or XML, such as an error page (application/json)"),
    ]

    @Test(arguments: Self.pageIsNotAScreenArguments)
    func pageIsNotAScreen(_ type: String, _ page: String, _ message: String) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": type], page))
        for command in ["fetch", "plan"] {
            let run = try await beagle(command, server.url)
            #expect(run.exit == 101)
            #expect(run.errors.contains("the response is not a screen but \(message)"), "\(run.errors)")
            #expect(run.errors.contains("use 'beagle raw'"), "\(run.errors)")
        }
    }

    @Test func unfollowedRedirectIsNotAScreen() async throws {
        try await withBackend { url in
            let run = try await beagle("fetch", "\(url)/redirect", "--max-redirs", "0")
            #expect(run.exit == 101)
            #expect(run.errors.contains("302 Found") && run.errors.contains("--max-redirs"))
            #expect(try await beagle("fetch", "\(url)/redirect").exit == 0)
            #expect(try await beagle("raw", "\(url)/redirect", "--max-redirs", "0").exit == 0)
        }
    }

    @Test func notModifiedIsNotAFailure() async throws {
        let server = try LoopbackServer(.response(304))
        #expect(try await beagle("fetch", server.url, "-H", "If-None-Match: \"a\"").exit == 0)
    }

    @Test func screenIsWrittenToAFileAndItsTreeToTheTerminal() async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let run = try await beagle("fetch", "\(url)/home", "-o", "\(directory)/home.json", "--tree")
                #expect(run.exit == 0)
                #expect(run.lines.last == "links 3 · images 1 · forms 1 · unknown 1")
                let file = try String(contentsOfFile: "\(directory)/home.json", encoding: .utf8)
                #expect(file == "\(DemoScreens.home)\n")

                let silent = try await beagle("fetch", "\(url)/home", "-o", "\(directory)/home.json")
                #expect(silent.exit == 0)
                #expect(silent.output.isEmpty)
            }
        }
    }

    @Test func unchangedScreenPrintsNotModified() async throws {
        try await withBackend { url in
            let head = try await beagle("raw", "\(url)/home", "--json").json()["result"]?["headers"]?.array
            let tag = try #require(head?.first { $0[0] == "ETag" }?[1]?.string)
            let run = try await beagle("fetch", "\(url)/home", "-H", "If-None-Match: \(tag)")
            #expect(run.exit == 0)
            #expect(run.output.isEmpty)
            #expect(run.errors == "304 Not Modified\n")
        }
    }
}
