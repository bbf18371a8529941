import BeagleNet
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct ScreenPageTests {
    private func body(_ screen: String, images: [String: ScreenImages.Image] = [:]) throws -> String {
        let html = ScreenPage.html(of: try JSONValue(parsing: screen), images: images)
        let start = try #require(html.firstRange(of: "<body>")).upperBound
        let end = try #require(html.firstRange(of: "</body>")).lowerBound
        return String(html[start..<end])
    }

    private static let components: [(String, String)] = [
        (
            #"{"_beagleComponent_":"beagle:text","text":"a","alignment":"CENTER"}"#,
            #"<p data-component="text" style="text-align:center">a</p>"#
        ),
        (#"{"_beagleComponent_":"beagle:button","text":"a"}"#, #"<button data-component="button">a</button>"#),
        (
            #"{"_beagleComponent_":"beagle:textInput","placeholder":"b","type":"EMAIL"}"#,
            #"<input data-component="textInput" type="email" placeholder="b">"#
        ),
        (
            #"{"_beagleComponent_":"beagle:screenComponent","navigationBar":{"title":"a"},"child":{"_beagleComponent_":"beagle:container"}}"#,
            #"<main data-component="screenComponent"><header>a</header><div data-component="container"></div></main>"#
        ),
        (
            #"{"_beagleComponent_":"beagle:listView","dataSource":"@{a}","templates":[{"view":{"_beagleComponent_":"beagle:text","text":"@{item}"}}]}"#,
            #"<ul data-component="listView"><li><p data-component="text" class="expression">@{item}</p></li></ul>"#
        ),
        (
            #"{"_beagleComponent_":"beagle:tabView","children":[{"title":"t","child":{"_beagleComponent_":"beagle:text","text":"a"}}]}"#,
            #"<div data-component="tabView"><section><h2>t</h2><p data-component="text">a</p></section></div>"#
        ),
        (
            #"{"_beagleComponent_":"beagle:lazyComponent","path":"/l","initialState":{"_beagleComponent_":"beagle:text","text":"a"}}"#,
            #"<div data-component="lazyComponent" class="box"><span>lazy /l</span><p data-component="text">a</p></div>"#
        ),
        (
            #"{"_beagleComponent_":"custom:chart","children":[{"_beagleComponent_":"beagle:text","text":"a"}]}"#,
            #"<div data-component="custom:chart" class="box"><span>custom:chart</span><p data-component="text">a</p></div>"#
        ),
        (
            #"{"_beagleComponent_":"custom:card","parts":{"a":[{"_beagleComponent_":"beagle:text","text":"a"}]},"onPress":[{"_beagleAction_":"beagle:addChildren","value":[{"_beagleComponent_":"beagle:text"}]}],"context":{"value":{"_beagleComponent_":"beagle:text"}}}"#,
            #"<div data-component="custom:card" class="box"><span>custom:card</span><p data-component="text">a</p></div><details class="box"><summary>onPress: addChildren</summary><p data-component="text"></p></details>"#
        ),
        (
            #"{"_:component":"layout:row","children":[{"_:component":"layout:text","properties":{"text":"a"}}]}"#,
            #"<div data-component="layout:row" style="flex-direction:row"><p data-component="layout:text">a</p></div>"#
        ),
    ]

    @Test(arguments: components)
    func componentsAreWrittenAsElements(_ screen: String, _ html: String) throws {
        #expect(try body(screen) == html)
    }

    // MARK: - Expressions

    /// The members of a container around a component, the component, and its element.
    private static let expressions: [(String, String, String)] = [
        (
            #""context":{"id":"c","value":{"n":"Ada","k":3}}"#, #""beagle:text","text":"Hi @{c.n}, @{sum(c.k, 1)}""#,
            #"<p data-component="text">Hi Ada, 4</p>"#
        ),
        (
            #""context":{"id":"c","value":1}"#, #""beagle:button","text":"@{c} @{d}""#,
            #"<button data-component="button" class="expression">@{c} @{d}</button>"#
        ),
        (
            #""context":{"id":"c","value":{"v":"x"}}"#, #""beagle:textInput","value":"@{c.v}","placeholder":"@{d}""#,
            #"<input data-component="textInput" class="expression" type="text" value="x" placeholder="@{d}">"#
        ),
        (
            #""context":{"id":"c","value":"<b>@{d}"}"#, #""beagle:text","text":"@{c}""#,
            #"<p data-component="text">&lt;b&gt;@{d}</p>"#
        ),
        ("", #""beagle:text","text":"\\@{c}""#, #"<p data-component="text">@{c}</p>"#),
        (
            ##""context":{"id":"c","value":"#ff0000"}"##,
            #""beagle:text","textColor":"@{c}","style":{"backgroundColor":"@{c}","cornerRadius":{"radius":"@{d}"}}"#,
            ##"<p data-component="text" style="background-color:#ff0000;color:#ff0000"></p>"##
        ),
        (
            #""context":{"id":"c","value":"/p"}"#, #""beagle:webView","url":"https://h@{c}""#,
            #"<div data-component="webView" class="box"><span>web page https://h/p</span></div>"#
        ),
        (
            #""context":{"id":"c","value":["a","b"]}"#,
            #""beagle:listView","dataSource":"@{insert(c, 'c')}","iteratorName":"x","templates":[{"case":"@{eq(x, 'b')}","view":{"_beagleComponent_":"beagle:text","text":"B"}},{"view":{"_beagleComponent_":"beagle:text","text":"@{x}@{index}"}}]"#,
            #"<ul data-component="listView"><li><p data-component="text">a0</p></li><li><p data-component="text">B</p></li><li><p data-component="text">c2</p></li></ul>"#
        ),
    ]

    @Test(arguments: expressions)
    func expressionsHaveTheirValues(_ members: String, _ component: String, _ html: String) throws {
        let members = members.isEmpty ? "" : members + ","
        let screen = """
            {"_beagleComponent_":"beagle:container",\(members)"children":[{"_beagleComponent_":\(component)}]}
            """
        #expect(try body(screen) == #"<div data-component="container">\#(html)</div>"#)
    }

    @Test func nimbusListHasAnItemForEachElement() throws {
        let screen = #"""
            {"_:component":"layout:column","state":{"id":"s","value":[{"n":1},{"n":2}]},"children":[{"_:component":"forEach",
            "properties":{"items":"@{s}"},"children":[{"_:component":"layout:text","properties":{"text":"@{item.n}"}}]}]}
            """#
        #expect(try body(screen).ranges(of: "<li>").count == 2)
        #expect(try body(screen).contains(#"<li><p data-component="layout:text">2</p></li>"#))
    }

    @Test func longListIsCut() throws {
        let items = (0...ScreenPage.maxRows).map(String.init).joined(separator: ",")
        let screen = #"""
            {"_beagleComponent_":"beagle:listView","dataSource":[\#(items)],
            "template":{"_beagleComponent_":"beagle:text","text":"@{item}"}}
            """#
        #expect(try body(screen).hasSuffix(#"<li class="box">and 1 more</li></ul>"#))
        #expect(try body(screen).ranges(of: "<p ").count == ScreenPage.maxRows)
    }

    // MARK: - Actions

    private static let actions: [(String, String)] = [
        (
            #"{"_beagleAction_":"beagle:pushView","route":{"screen":{"navigationBar":{"title":"t"},"child":{"_beagleComponent_":"beagle:text","text":"a"}}}}"#,
            #"<details class="box"><summary>onPress: pushView</summary><main data-component="screenComponent"><header>t</header><p data-component="text">a</p></main></details>"#
        ),
        (
            #"{"_beagleAction_":"beagle:pushView","route":{"url":"/a","fallback":{"_beagleComponent_":"beagle:text","text":"f"}}}"#,
            #"<details class="box"><summary>onPress: pushView</summary><p data-component="text">f</p></details>"#
        ),
        (
            #"{"_beagleAction_":"beagle:confirm","title":"<i>","message":"Hi @{c.n}","onPressOk":{"_beagleAction_":"beagle:alert","message":"@{onSuccess.data}"}}"#,
            #"<details class="box"><summary>onPress: confirm</summary><p>&lt;i&gt;</p><p>Hi Ada</p><details class="box"><summary>onPressOk: alert</summary><p class="expression">@{onSuccess.data}</p></details></details>"#
        ),
        (
            #"{"_beagleAction_":"beagle:sendRequest","url":"/q","data":{"x":{"_beagleComponent_":"beagle:text"}},"onSuccess":[{"_beagleAction_":"beagle:addChildren","componentId":"x","value":[{"_beagleComponent_":"beagle:text","text":"new"}]}]}"#,
            #"<details class="box"><summary>onPress: sendRequest</summary><details class="box"><summary>onSuccess: addChildren</summary><p data-component="text">new</p></details></details>"#
        ),
        (
            #"{"_beagleAction_":"beagle:addChildren","value":"@{c.add}"}"#,
            #"<details class="box"><summary>onPress: addChildren</summary><p data-component="text">added</p></details>"#
        ),
        (#"{"_beagleAction_":"beagle:setContext","contextId":"x","value":{"_beagleComponent_":"beagle:text"}}"#, ""),
        (#"{"_beagleAction_":"beagle:pushView","route":{"url":"/a"}}"#, ""),
    ]

    @Test(arguments: actions)
    func contentsOfActionsAreBesideTheElement(_ action: String, _ html: String) throws {
        let screen = #"""
            {"_beagleComponent_":"beagle:container",
            "context":{"id":"c","value":{"n":"Ada","add":{"_beagleComponent_":"beagle:text","text":"added"}}},
            "children":[{"_beagleComponent_":"beagle:button","text":"b","onPress":[\#(action)]}]}
            """#
        let button = #"<button data-component="button">b</button>"#
        #expect(try body(screen) == #"<div data-component="container">\#(button)\#(html)</div>"#)
    }

    @Test func contextThatAnActionChangesIsNotKnownInActions() throws {
        let screen = #"""
            {"_beagleComponent_":"beagle:container","context":{"id":"c","value":"a"},"children":[
            {"_beagleComponent_":"beagle:text","text":"@{c}"},{"_beagleComponent_":"beagle:button","text":"b","onPress":[
            {"_beagleAction_":"beagle:setContext","contextId":"c","value":"d"},
            {"_beagleAction_":"beagle:alert","message":"@{c}"}]}]}
            """#
        let parsed = try ParsedScreen(parsing: Data(screen.utf8))
        let html = ScreenPage.html(
            of: try JSONValue(parsing: screen),
            changedContexts: parsed.changedContexts,
            images: [:]
        )
        #expect(html.contains(#"<p data-component="text">a</p>"#))
        #expect(html.contains(#"<p class="expression">@{c}</p>"#))
    }

    /// Each action takes three levels of the JSON.
    @Test func deepActionsAreWritten() throws {
        let count = 160
        let screen =
            #"{"_beagleComponent_":"beagle:button","onPress":"#
            + String(repeating: #"{"_beagleAction_":"beagle:alert","message":"m","onPressOk":["#, count: count)
            + String(repeating: "]}", count: count) + "}"
        #expect(try body(screen).ranges(of: "<details ").count == count)
    }

    @Test func imageWithAnotherSchemeIsNotRequested() async throws {
        let screen = ScriptedSite.Page.screen(remoteImage("file:///etc/hostname")).document
        let server = try LoopbackServer(.response(200, [:], screen))
        try await withDirectory { directory in
            let run = try await beagle("fetch", "\(server.url)/", "--html", "\(directory)/a.html")
            #expect(run.exit == 0, "\(run.errors)")
            let html = try String(contentsOfFile: "\(directory)/a.html", encoding: .utf8)
            #expect(html.contains("<span>image file:///etc/hostname</span>"))
            #expect(server.requests.count == 1)
        }
    }

    @Test func textsAreEscaped() throws {
        let hostile = #"<script>alert('x')</script>\"><img src=x onerror=a&b;"#
        let texts = ["text", "button"].map { #"{"_beagleComponent_":"beagle:\#($0)","text":"\#(hostile)"}"# }
        let more = [
            #"{"_beagleComponent_":"\#(hostile)"}"#, #"{"_beagleComponent_":"beagle:webView","url":"\#(hostile)"}"#,
            #"{"_beagleComponent_":"beagle:textInput","placeholder":"\#(hostile)","value":"\#(hostile)"}"#,
            #"{"_beagleComponent_":"beagle:image","path":{"_beagleImagePath_":"remote","url":"\#(hostile)"}}"#,
        ]
        let screen = """
            {"_beagleComponent_":"beagle:screenComponent","navigationBar":{"title":"\(hostile)"},
             "child":{"_beagleComponent_":"beagle:container","children":[\((texts + more).joined(separator: ","))]}}
            """
        let html = ScreenPage.html(of: try JSONValue(parsing: screen), images: [:])
        #expect(!html.contains("<script") && !html.contains("<img") && !html.contains("x\" onerror"))
        #expect(html.contains("&lt;script&gt;alert"))
        #expect(html.contains(#"content="default-src 'none'; img-src data:; style-src 'unsafe-inline'""#))
    }

    @Test func imagesAreInlinedUpToALimit() throws {
        let same = remoteImage("/i")
        let screen = ScriptedSite.Page.screen(same, same, same, remoteImage("/x")).document
        let image = ScreenImages.Image.data(Data(count: ScreenPage.maxImageBytes / 2), "image/png")
        let html = try body(screen, images: ["/i": image, "/x": .missing("404 Not Found")])
        #expect(html.ranges(of: #"src="data:image/png;base64,AAAA"#).count == 2)
        #expect(html.contains("image /i: the images of the page are too large"))
        #expect(html.contains("image /x: 404 Not Found"))
    }

    /// JSON may be nested 512 levels deep.
    @Test func deepScreenIsWritten() throws {
        let count = 511
        let screen =
            String(repeating: #"{"_beagleComponent_":"beagle:container","child":"#, count: count) + "0"
            + String(repeating: "}", count: count)
        #expect(try body(screen).ranges(of: "<div ").count == count)
    }

    // MARK: - The command

    @Test func pageOfAScreenIsWritten() async throws {
        try await withDirectory { directory in
            try await withBackend { url in
                let file = "\(directory)/home.html"
                let run = try await beagle("fetch", "\(url)/home", "--html", file)
                #expect(run.exit == 0 && run.output.isEmpty, "\(run.errors)")
                let html = try String(contentsOfFile: file, encoding: .utf8)
                #expect(html.contains("<title>Home</title>") && html.contains("src=\"data:image/png;base64,iVBOR"))
                #expect(html.contains(">Hello, Ana</p>") && !html.contains("src=\"/"))
                let other = try await beagle("fetch", "\(url)/", "--html", "\(directory)/no.html")
                #expect(other.exit == 101 && other.output.isEmpty)
                #expect(!FileManager.default.fileExists(atPath: "\(directory)/no.html"))
            }
        }
    }

    /// Components around an image whose URL is an expression, in each place where the page shows components.
    private static let contexts: [(String, String, String)] = [
        (
            #"{"_beagleComponent_":"beagle:container","context":{"id":"u","value":"URL"},"children":["#, "@{u}", "]}"
        ),
        (#"{"_beagleComponent_":"beagle:scrollView","context":{"id":"u","value":"URL"},"child":"#, "@{u}", "}"),
        (
            #"{"_beagleComponent_":"beagle:tabView","context":{"id":"u","value":"URL"},"children":[{"child":"#,
            "@{u}", "}]}"
        ),
        (
            #"{"_beagleComponent_":"beagle:listView","context":{"id":"u","value":["URL"]},"dataSource":"@{u}","templates":[{"view":"#,
            "@{item}", "}]}"
        ),
    ]

    @Test(arguments: contexts)
    func sameExpressionShowsTheImageOfEachContext(_ opening: String, _ path: String, _ closing: String) async throws {
        let urls = ["/1", "/2"]
        let parts = urls.map { opening.replacing("URL", with: $0) + remoteImage(path) + closing }
        let screen = ScriptedSite.Page.screen(parts.joined(separator: ",")).document
        let server = try LoopbackServer { request in
            if request.target == "/" { return .response(200, [:], screen) }
            return .response(200, [:], Self.png + Data(request.target.utf8))
        }
        try await withDirectory { directory in
            let file = "\(directory)/a.html"
            let run = try await beagle("fetch", "\(server.url)/", "--html", file)
            #expect(run.exit == 0, "\(run.errors)")
            let html = try String(contentsOfFile: file, encoding: .utf8)
            for url in urls {
                let data = (Self.png + Data(url.utf8)).base64EncodedString()
                #expect(html.ranges(of: "base64,\(data)").count == 1, "\(url)")
            }
        }
    }

    @Test func imageIsRequestedOnce() async throws {
        let screen = ScriptedSite.Page.screen(remoteImage("/i"), remoteImage("/i")).document
        let server = try LoopbackServer { request in
            request.target == "/" ? .response(200, [:], screen) : .response(200, [:], Self.png)
        }
        try await withDirectory { directory in
            let file = "\(directory)/a.html"
            #expect(try await beagle("fetch", "\(server.url)/", "--html", file).exit == 0)
            let html = try String(contentsOfFile: file, encoding: .utf8)
            #expect(html.ranges(of: "base64,\(Self.png.base64EncodedString())").count == 2)
            #expect(server.requests.map(\.target) == ["/", "/i"])
        }
    }

    private static let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13])

    @Test func imagesOfOtherOriginsGetNoCredentials() async throws {
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13])
        let other = try LoopbackServer(.response(200, [:], png))
        let screen = ScriptedSite.Page.screen(remoteImage("\(other.url)/i")).document
        let server = try LoopbackServer(.response(200, [:], screen))
        try await withDirectory { directory in
            let file = "\(directory)/a.html"
            let run = try await beagle("fetch", server.url, "--html", file, "--user", "a:b", "-H", "X-Api-Key: c")
            #expect(run.exit == 0, "\(run.errors)")
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains("base64,\(png.base64EncodedString())"))
            #expect(other.requests.count == 1)
            #expect(!other.requests.contains { $0.has("authorization") || $0.has("x-api-key") })
        }
    }

    /// The server confirms the stored screen with 304, also if the command line has a condition of its own.
    @Test(arguments: [[], ["-H", "If-None-Match: \"a\""], ["--cache-mode", "cache-only"]])
    func pageOfAStoredScreenIsWritten(_ flags: [String]) async throws {
        let screen = ScriptedSite.Page.screen(#"{"_beagleComponent_":"beagle:text","text":"stored"}"#).document
        let server = try LoopbackServer { request in
            request.has("if-none-match")
                ? .response(304, ["ETag": "\"a\""])
                : .response(200, ["ETag": "\"a\"", "Cache-Control": "max-age=60"], screen)
        }
        try await withDirectory { directory in
            let stored = ["fetch", server.url, "--cache", "\(directory)/cache"]
            #expect(try await beagle(stored).exit == 0)
            let run = try await beagle(stored + ["--html", "\(directory)/a.html"] + flags)
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.errors.contains("from the cache"))
            #expect(try String(contentsOfFile: "\(directory)/a.html", encoding: .utf8).contains(">stored</p>"))
        }
    }

    @Test func pageWithoutANetworkHasTheStoredImages() async throws {
        let screen = ScriptedSite.Page.screen(remoteImage("/i")).document
        let server = try LoopbackServer { request in
            .response(200, ["Cache-Control": "max-age=0"], request.target == "/" ? Data(screen.utf8) : Self.png)
        }
        try await withDirectory { directory in
            let (file, url) = ("\(directory)/a.html", "\(server.url)/")
            for _ in 1...2 {
                let run = try await beagle("fetch", url, "--cache", "\(directory)/cache", "--html", file)
                #expect(run.exit == 0, "\(run.errors)")
                #expect(try String(contentsOfFile: file, encoding: .utf8).contains("<img "))
                server.stop()
            }
        }
    }

    @Test func missingPageOfAnUnchangedScreenIsReported() async throws {
        let server = try LoopbackServer(.response(304))
        try await withDirectory { directory in
            let file = "\(directory)/a.html"
            let run = try await beagle("fetch", server.url, "--html", file, "-H", "If-None-Match: \"a\"")
            #expect(run.exit == 0)
            #expect(run.errors == "beagle: \(file) was not written: status 304\n304 Not Modified\n")
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }
}
