import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct PlanCommandTests {
    private static let home = [
        "web page  action  https://usebeagle.io  opened elsewhere  /navigationBar/navigationBarItems/0/onPress/0/url",
        "image     render  /img/banner.png       prefetch          /child/children/0/path/url",
        "route     action  /details              prefetch          /child/children/2/onPress/0/route/url",
        "route     action  /signup               not marked        /child/children/3/onPress/0/route/url",
        "lazy      render  /lazy/news            prefetch          /child/children/4/path",
        "form      action  POST /signup          unsafe method     /child/children/6/onSubmit/0/url",
        "references 6 · web page 1 · image 1 · route 2 · lazy 1 · form 1 · prefetch 3",
    ]

    @Test func fetchedScreenIsListed() async throws {
        try await withBackend { url in
            let run = try await beagle("plan", "\(url)/home")
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.lines == Self.home)
            #expect(try await beagle("plan", "/home", "--base", url).lines == Self.home)
        }
    }

    @Test func screenMayBeAFileOrStandardInput() async throws {
        try await withFiles([DemoScreens.home]) { files in
            let run = try await beagle("plan", files[0])
            #expect(run.lines == Self.home)
        }
        #expect(try await BeagleProcess(["plan", "-"], input: DemoScreens.home).outcome().lines == Self.home)
    }

    @Test func linesAreWrittenToAFile() async throws {
        let other = #"{"_beagleComponent_":"beagle:text","text":"other"}"#
        try await withFiles([DemoScreens.home, other, ""]) { files in
            let run = try await beagle(["plan", files[0], "-o", files[2]])
            #expect(run.exit == 0 && run.output.isEmpty)
            let lines = try String(contentsOfFile: files[2], encoding: .utf8).split(separator: "\n").map(String.init)
            #expect(lines == Self.home)
            let difference = try await beagle(["plan", "--diff", files[0], files[1], "-o", files[2]])
            #expect(difference.exit == 104 && difference.output.isEmpty)
            #expect(try String(contentsOfFile: files[2], encoding: .utf8).hasPrefix("- "))
            #expect(try await beagle(["plan", files[0], "--json", "-o", files[2]]).exit == 64)
        }
    }

    @Test func jsonHasEachReference() async throws {
        let run = try await BeagleProcess(["plan", "-", "--json"], input: DemoScreens.home).outcome()
        let result = try #require(try run.json()["result"])
        #expect(result["type"] == "beagle:screenComponent" && result["id"] == "home" && result["omitted"] == 0)
        #expect(
            result["references"]?[5] == [
                "pointer": "/child/children/6/onSubmit/0/url", "kind": "form", "when": "action", "url": "/signup",
                "resolved": "/signup", "method": "POST", "events": ["onSubmit"], "prefetch": false,
                "obstacle": "unsafe method", "body": ["name": "@{user.name}", "email": "@{user.email}"],
            ]
        )
        #expect(result["references"]?.array?.count == 6)
    }

    @Test func customMembersAreDeclared() async throws {
        let screen = #"{"_beagleComponent_":"custom:a","photo":"https://x/p","other":"https://x/o"}"#
        let run = try await BeagleProcess(["plan", "-", "--custom", "custom:a.photo=image"], input: screen).outcome()
        #expect(
            run.lines == [
                "image    render  https://x/p  prefetch    /photo", "unknown  render  https://x/o  undeclared  /other",
                "references 2 · image 1 · unknown 1 · prefetch 1",
            ]
        )
    }

    // MARK: - Differences

    @Test func differencesExitWith104() async throws {
        let changed = DemoScreens.home.replacing("/details", with: "/more").replacing(
            "\"method\": \"POST\"",
            with: "\"method\": \"PUT\""
        )
        try await withFiles([DemoScreens.home, changed]) { files in
            let run = try await beagle("plan", "--diff", files[0], files[1])
            #expect(run.exit == 104)
            #expect(
                run.lines == ["- route  /details", "- form   POST /signup", "+ route  /more", "+ form   PUT /signup"]
            )
            #expect(run.errors.contains("removed 2, added 2, changed 0"))

            let error = try #require(try await beagle("plan", "--diff", files[0], files[1], "--json").json()["error"])
            #expect(error["code"] == "different")
            #expect(error["removed"]?[0]?["url"] == "/details" && error["added"]?[0]?["url"] == "/more")
        }
    }

    @Test func detailsThatDifferAreNamed() async throws {
        func button(_ body: String, _ headers: String) -> String {
            #"""
            {"_beagleComponent_":"beagle:button","text":"","onPress":[{"_beagleAction_":"beagle:sendRequest","url":"/x",\#
            "method":"POST","data":\#(body),"headers":\#(headers)}]}
            """#
        }
        try await withFiles([button(#"{"a":1,"b":2}"#, "{}"), button(#"{"b":2,"a":3}"#, #"{"A":"b"}"#)]) { files in
            let run = try await beagle("plan", "--diff", files[0], files[1])
            #expect(run.exit == 104 && run.lines == ["~ request  POST /x: headers, body"], "\(run.lines)")
            #expect(run.errors.contains("removed 0, added 0, changed 1"))
            let error = try await beagle("plan", "--diff", files[0], files[1], "--json").json()["error"]
            #expect(error?["changed"]?[0]?["differs"] == ["headers", "body"])
        }
    }

    @Test func sameReferencesExitWithZero() async throws {
        let compact = try JSONValue(parsing: DemoScreens.home).data()
        try await withFiles([DemoScreens.home, String(decoding: compact, as: UTF8.self)]) { files in
            let run = try await beagle("plan", "--diff", files[0], files[1])
            #expect(run.exit == 0 && run.output.isEmpty && run.errors.isEmpty)
            let result = try await beagle("plan", "--diff", files[0], files[1], "--json").json()["result"]
            #expect(result == ["added": [], "removed": [], "changed": [], "omitted": 0])
        }
    }

    @Test func fileAndURLMayBeCompared() async throws {
        try await withBackend { url in
            let run = try await BeagleProcess(["plan", "--diff", "-", "\(url)/details"], input: DemoScreens.home)
                .outcome()
            #expect(run.exit == 104)
            #expect(run.lines.contains("+ image     /img/logo.png"))
        }
    }

    /// A server with a screen that has an image of this size.
    private func site(_ sizes: [String: Int]) throws -> LoopbackServer {
        let images = sizes.keys.sorted().map { remoteImage($0) }.joined(separator: ",")
        let screen = ScriptedSite.Page.screen(images, images, remoteImage("https://cdn.invalid/same.png")).document
        return try LoopbackServer { request in
            if request.target == "/" { return .response(200, [:], screen) }
            guard let size = sizes[request.target], size > 0 else { return .response(404) }
            return .response(200, [:], Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + Data(count: size - 8))
        }
    }

    @Test func sizesOfImagesAreCompared() async throws {
        let old = try site(["/a": 1_000, "/b": 500, "/c": 100, "/d": 100])
        let new = try site(["/a": 3_000, "/b": 500, "/c": 0, "/d": 50])
        let urls = ["\(old.url)/", "\(new.url)/"]
        #expect(try await beagle(["plan", "--diff"] + urls).exit == 0)
        let run = try await beagle(["plan", "--diff", "--images"] + urls)
        #expect(run.exit == 104)
        #expect(
            run.lines == ["~ image  /a: bytes 1.0 kB -> 3.0 kB", "~ image  /d: bytes 100 B -> 50 B"],
            "\(run.text)"
        )
        #expect(run.errors.contains("not compared: 1, such as /c: 404 Not Found"), "\(run.errors)")
        #expect(old.requests.map(\.target).sorted() == ["/", "/", "/a", "/b", "/c", "/d"])
        let json = try await beagle(["plan", "--diff", "--images", "--json"] + urls).json()["error"]
        #expect(json?["changed"]?[0]?["differs"] == ["bytes"])
        #expect(json?["changed"]?[0]?["bytes"] == ["old": 1_000, "new": 3_000])
        #expect(json?["changed"]?.array?.count == 2)
    }

    @Test func sizesAreThoseOfARecording() async throws {
        let old = try site(["/a": 1_000])
        let new = try site(["/a": 2_000])
        let urls = ["\(old.url)/", "\(new.url)/"]
        try await withDirectory { directory in
            let recorded = ["plan", "--diff", "--images", "--record", "\(directory)/a.bglog"] + urls
            #expect(try await beagle(recorded).exit == 104)
            old.stop()
            new.stop()
            let replayed = ["plan", "--diff", "--replay", "\(directory)/a.bglog"] + urls
            let run = try await beagle(replayed)
            #expect(run.lines == ["~ image  /a: bytes 1.0 kB -> 2.0 kB"], "\(run.text) \(run.errors)")
            #expect(!run.errors.contains("not compared"))
        }
    }

    @Test func imagesOfFilesNeedABase() async throws {
        let screens = [1, 2].map { ScriptedSite.Page.screen(remoteImage("/i"), "{\"a\": \($0)}").document }
        try await withFiles(screens) { files in
            let run = try await beagle(["plan", "--diff", "--images"] + files.prefix(2))
            #expect(run.exit == 0 && run.errors.contains("/i: a file has no base URL; add --base"), "\(run.errors)")
        }
    }

    @Test func contentsOfADataURLAreLeftOut() async throws {
        let url = "data:image/png;base64," + String(repeating: "A", count: 500)
        let screen = ScriptedSite.Page.screen(remoteImage(url)).document
        let run = try await BeagleProcess(["plan", "-"], input: screen).outcome()
        #expect(run.lines.first?.contains("AAAA…  other scheme") == true, "\(run.text)")
    }

    // MARK: - Failures

    private static let failures: [(String, Int32, String)] = [
        (" <html>", 101, "standard input is not a screen but looks like HTML or XML, such as an error page"),
        ("x", 101, "standard input is not a screen: invalid JSON at line 1, column 1 ($): expected a value"),
        ("{\"a\": [1,\n}", 101, "line 2, column 1 ($.a[1])"), ("{}", 101, "its root has no _beagleComponent_"),
        (#"{"_beagleAction_": "beagle:popView"}"#, 101, "not a screen but the action popView"),
    ]

    @Test(arguments: failures)
    func documentThatIsNotAScreenExitsWith101(_ input: String, _ exit: Int32, _ message: String) async throws {
        let run = try await BeagleProcess(["plan", "-"], input: input).outcome()
        #expect(run.exit == exit && run.output.isEmpty)
        #expect(run.errors.contains(message), "\(run.errors)")
        let json = try await BeagleProcess(["plan", "-", "--json"], input: input).outcome().json()
        #expect(json["exit"] == .integer(Int64(exit)) && json["error"]?["code"] == "not_a_screen")
    }

    @Test func responseThatIsNotAScreenExitsWith101() async throws {
        try await withBackend { url in
            let run = try await beagle("plan", "\(url)/img/logo.png")
            #expect(run.exit == 101 && run.errors.contains("not a screen"))
            #expect(try await beagle("plan", "\(url)/fail").exit == 22)
        }
    }

    @Test func missingFileHasAdvice() async throws {
        let run = try await beagle("plan", "/does/not/exist.json")
        #expect(run.exit == 26)
        #expect(run.errors.contains("cannot read /does/not/exist.json: No such file or directory"))
        #expect(run.errors.contains("or a URL such as http://HOST:PORT/PATH"))
    }

    @Test(arguments: [
        (["example.com/home"], "or a URL such as http://example.com/home"),
        (["localhost:8080/home"], "or a URL such as http://localhost:8080/home"),
        (["nohome", "--base", "http://h"], "write /nohome for a path of the server"),
        (["/tmp"], "cannot read /tmp: it is not a regular file"),
    ])
    func unreadableFileHasTheReasonOrAdvice(_ arguments: [String], _ text: String) async throws {
        let run = try await beagle(["plan"] + arguments)
        #expect(run.exit == 26 && run.errors.contains(text), "\(run.errors)")
    }

    @Test func commandForURLsNamesTheOneForFiles() async throws {
        try await withFiles([DemoScreens.home]) { files in
            for command in ["fetch", "crawl"] {
                let run = try await beagle([command, files[0]])
                #expect(run.exit == 3 && run.errors.contains("is a file, not a URL"), "\(run.errors)")
                #expect(run.errors.contains("use 'beagle plan' for the screen in a file"))
            }
        }
    }

    @Test(arguments: [
        [], ["a", "b"], ["--diff", "a"], ["--diff", "-", "-"], ["a", "--custom", "x"], ["a", "--custom", "x=image"],
        ["a", "--images"], [""],
        ["a", "--custom", "custom:a.b=video"],
    ])
    func invalidCommandLineExitsWith64(_ arguments: [String]) async throws {
        let run = try await beagle(["plan"] + arguments)
        #expect(run.exit == 64 && run.output.isEmpty)
    }

    /// Runs a test with temporary files of these contents.
    private func withFiles(_ contents: [String], _ test: ([String]) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = contents.indices.map { folder.appending(path: "\($0).json") }
        for (file, text) in zip(files, contents) { try Data(text.utf8).write(to: file) }
        try await test(files.map(\.path))
    }
}
