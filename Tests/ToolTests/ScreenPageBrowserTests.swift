import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import TestPrograms
import Testing

@testable import beagle

/// Pages of screens in a browser.
@Suite(.enabled(if: Chromium.isInstalled, "chromium is not installed"), .timeLimit(.minutes(5)))
struct ScreenPageBrowserTests {
    /// The page that `beagle fetch --html` writes.
    private func page(of url: String) async throws -> Data {
        try await withDirectory { directory in
            let run = try await beagle("fetch", url, "--html", "\(directory)/a.html")
            #expect(run.exit == 0, "\(run.errors)")
            return try Data(contentsOf: URL(fileURLWithPath: "\(directory)/a.html"))
        }
    }

    /// The components that `beagle fetch --tree` shows.
    private func tree(of url: String) async throws -> [PageComponent] {
        let root = try await beagle("fetch", url, "--tree", "--json").json()["result"]?["root"]
        return PageComponent.all(below: try #require(root))
    }

    @Test func elementsOfThePageAreTheComponentsOfTheTree() async throws {
        try await withBackend { url in
            let components = PageElements(try await Chromium.open(page(of: "\(url)/home")).elements).components
            var tree = try await tree(of: "\(url)/home")
            let greeting = try #require(tree.firstIndex { $0.text == "Hello, @{user.name}" })
            // The page has the values of expressions.
            tree[greeting].text = "Hello, Ana"
            #expect(components.count == 12)
            #expect(components == tree)
        }
    }

    /// A screen whose button opens another screen, and adds components.
    private static let screenWithActions = """
        {"_beagleComponent_":"beagle:container","context":{"id":"c","value":"Ada"},"children":[
        {"_beagleComponent_":"beagle:text","text":"@{c}"},
        {"_beagleComponent_":"beagle:button","text":"@{d}","onPress":[
        {"_beagleAction_":"beagle:pushView","route":{"screen":{"_beagleComponent_":"beagle:screenComponent","child":
        {"_beagleComponent_":"beagle:text","text":"inner"}}}},
        {"_beagleAction_":"beagle:confirm","title":"Sure?","message":"\(hostile.replacing("\"", with: "'"))","onPressOk":[
        {"_beagleAction_":"beagle:addChildren","value":[{"_beagleComponent_":"beagle:text","text":"added @{c}"}]}]}]}]}
        """

    @Test func contentsOfActionsAreInClosedElements() async throws {
        let screen = Self.screenWithActions
        let server = try LoopbackServer(.response(200, [:], screen))
        let page = try await Chromium.open(page(of: "\(server.url)/"))
        let elements = PageElements(page.elements)
        // Components of actions are beside the button, and in the tree they are below it.
        #expect(
            elements.components.map { "\($0.depth) \($0.name) \($0.text)" } == [
                "0 container ", "1 text Ada", "1 button @{d}", "1 screenComponent ", "2 text inner", "1 text added Ada",
            ]
        )
        let tree = try await tree(of: "\(server.url)/")
        #expect(elements.components.map(\.name) == tree.map(\.name))
        #expect(page.elements.ranges(of: #"<details class="box">"#).count == 3)
        #expect(page.elements.contains("<summary>onPress: confirm</summary><p>Sure?</p>"))
        #expect(page.elements.contains(#"<button data-component="button" class="expression">@{d}</button>"#))
        #expect(!elements.names.contains("script") && !elements.names.contains("b"))
        #expect(!page.notes.contains("Content Security Policy"), "\(page.notes)")
    }

    private static let hostile = #"<script>document.title='x'</script>"'><b>&lt;"#

    /// A screen with markup in all texts.
    private static var hostileScreen: String {
        let text = JSONValue.string(hostile)
        let path = JSONValue.string("/\(hostile)")
        return """
            {"_beagleComponent_":"beagle:screenComponent","navigationBar":{"title":\(text)},"child":
            {"_beagleComponent_":"beagle:container","children":[
            {"_beagleComponent_":"beagle:text","text":\(text)},
            {"_beagleComponent_":"beagle:button","text":\(text)},
            {"_beagleComponent_":"beagle:textInput","placeholder":\(text),"value":\(text)},
            {"_beagleComponent_":"beagle:image","path":{"_beagleImagePath_":"remote","url":\(path)}},
            {"_beagleComponent_":"beagle:lazyComponent","path":\(path)},
            {"_beagleComponent_":"beagle:webView","url":\(path)},
            {"_beagleComponent_":\(JSONValue.string("custom:\(hostile)"))},
            {"_beagleComponent_":"beagle:tabView","children":[{"title":\(text),"child":
            {"_beagleComponent_":"beagle:text","text":"last"}}]}]}}
            """
    }

    @Test func textsOfAHostileScreenAreTexts() async throws {
        let (screen, image) = (Self.hostileScreen, BackendRoutes.logo)
        let server = try LoopbackServer { request in
            request.target == "/" ? .response(200, [:], screen) : .response(200, [:], image)
        }
        let page = try await Chromium.open(page(of: "\(server.url)/"))
        let (elements, tree) = (PageElements(page.elements), try await tree(of: "\(server.url)/"))
        #expect(elements.components.count == 11)
        #expect(elements.components == tree)
        #expect(elements.title == Self.hostile)
        let ours: Set = [
            "html", "head", "meta", "title", "style", "body", "main", "header", "div", "span", "section", "h2", "p",
            "img",
            "button",
            "input",
        ]
        #expect(elements.names == ours)
        #expect(!page.notes.contains("Content Security Policy"), "\(page.notes)")
    }

    /// The page would be safe even if a text weren't escaped.
    @Test func policyOfThePageForbidsScripts() async throws {
        let screen = try JSONValue(parsing: ScriptedSite.Page.screen().document)
        let html = ScreenPage.html(of: screen, images: [:])
            .replacing("</body>", with: "<script>document.title = 'ran'</script></body>")
        #expect(PageElements(try await Chromium.open(Data(html.utf8)).elements).title == "Screen")
        let permissive = html.replacing(/<meta http-equiv[^>]*>/, with: "")
        #expect(PageElements(try await Chromium.open(Data(permissive.utf8)).elements).title == "ran")
    }

    // MARK: - Screenshots

    private static let boxes = ##"""
        {"_beagleComponent_":"beagle:container","style":{"backgroundColor":"#EEEEEE"},"children":[
        {"_beagleComponent_":"beagle:container","style":{"flex":{"flexDirection":"ROW"},
        "size":{"height":{"value":90,"type":"REAL"}}},"children":[
        {"_beagleComponent_":"beagle:container","style":{"backgroundColor":"#CC0000","flex":{"flex":1}}},
        {"_beagleComponent_":"beagle:container","style":{"backgroundColor":"#0000CC","flex":{"flex":2},
        "borderWidth":5,"borderColor":"#000000"},"children":[
        {"_beagleComponent_":"beagle:container","style":{"backgroundColor":"#00CC00","positionType":"ABSOLUTE",
        "position":{"right":{"value":10,"type":"REAL"},"bottom":{"value":10,"type":"REAL"}},
        "size":{"width":{"value":20,"type":"REAL"},"height":{"value":50,"type":"PERCENT"}}}}]}]},
        {"_beagleComponent_":"beagle:container","style":{"backgroundColor":"#CCCC00",
        "margin":{"all":{"value":10,"type":"REAL"}},"size":{"height":{"value":40,"type":"REAL"}}}}]}
        """##

    /// The screen is 430 pixels wide, in the middle of the window.
    @Test func stylesPlaceAndColorTheBoxes() async throws {
        let html = ScreenPage.html(of: try JSONValue(parsing: Self.boxes), images: [:])
        let png = try await Chromium.screenshot(of: Data(html.utf8), width: 630, height: 300)
        let pixels = try #require(try PNGPixels(png))
        #expect((pixels.width, pixels.height) == (630, 300))
        let colors = [
            (99, 45, "FFFFFF"), (101, 45, "CC0000"), (238, 45, "CC0000"), (242, 45, "000000"), (252, 45, "0000CC"),
            (527, 45, "000000"), (531, 45, "FFFFFF"), (400, 2, "000000"), (400, 7, "0000CC"), (400, 87, "000000"),
            (505, 60, "00CC00"), (490, 60, "0000CC"), (505, 30, "0000CC"), (505, 80, "0000CC"), (105, 110, "EEEEEE"),
            (115, 105, "CCCC00"), (515, 135, "CCCC00"), (525, 135, "EEEEEE"), (300, 155, "FFFFFF"),
        ]
        for (x, y, color) in colors { #expect(pixels[x, y] == color, "\(x), \(y)") }
    }

    @Test func imageOfTheScreenIsShown() async throws {
        try await withBackend { url in
            let page = try await page(of: "\(url)/home")
            let pixels = try #require(try PNGPixels(try await Chromium.screenshot(of: page, width: 430, height: 300)))
            #expect((pixels.width, pixels.height) == (430, 300))
            // The banner has 160 x 48 pixels, and is in the middle.
            let row = try #require((0..<300).first { pixels[135 + 80, $0] == "9090AF" })
            #expect([134, 135, 294, 295].map { pixels[$0, row] } == ["FFFFFF", "4090FF", "DF9060", "FFFFFF"])
        }
    }
}

/// A component in a tree or a page, with the text that both show.
struct PageComponent: Equatable, CustomStringConvertible {
    var depth: Int
    let name: String
    var text: String

    var description: String { "\(String(repeating: "  ", count: depth))\(name) \(text)" }

    /// The components of a tree in the format of `--json`.
    static func all(below node: JSONValue, depth: Int = 0) -> [PageComponent] {
        let (name, details) = (node["component"]?.string ?? "", node["details"]?.string ?? "")
        let text =
            switch name {
            case "screenComponent", "text", "button", "textInput": String(details.dropFirst().dropLast())
            case "image": "image \(details)"
            case "lazyComponent": "lazy \(details)"
            case "webView": "web page \(details)"
            case _ where node["known"] == false: name
            default: ""
            }
        return [PageComponent(depth: depth, name: name, text: text)]
            + (node["children"]?.array ?? []).flatMap { all(below: $0, depth: depth + 1) }
    }
}

/// The elements of a page, as a browser writes them.
struct PageElements {
    private(set) var components: [PageComponent] = []
    /// The names of all elements.
    private(set) var names: Set<String> = []
    private(set) var title = ""

    init(_ html: String) {
        // The open elements, and the indices of those that are components.
        var open: [(name: String, component: Int?)] = []
        var end = html.startIndex
        for tag in html.matches(of: /<(\/?)([a-z0-9]+)((?: [a-z-]+="[^"]*")*)>/) {
            let (name, attributes) = (String(tag.output.2), tag.output.3)
            let text = Self.unescaped(html[end..<tag.range.lowerBound])
            end = tag.range.upperBound
            if open.last?.name == "title" { title += text }
            // The tree doesn't have the titles of tabs and the texts of actions.
            let owner = open.last { $0.component != nil || $0.name == "details" }
            if open.last?.name != "h2", let index = owner?.component { components[index].text += text }
            if !tag.output.1.isEmpty {
                open.removeLast()
                continue
            }
            names.insert(name)
            let depth = open.count { $0.component != nil }
            let component = Self.value("data-component", attributes)
            if let component {
                let text = Self.value("alt", attributes).map { "image \($0)" } ?? Self.value("placeholder", attributes)
                components.append(PageComponent(depth: depth, name: component, text: text ?? ""))
            }
            if !["img", "input", "meta"].contains(name) {
                open.append((name, component == nil ? nil : components.count - 1))
            }
        }
    }

    private static func value(_ name: String, _ attributes: Substring) -> String? {
        guard let start = attributes.firstRange(of: " \(name)=\"")?.upperBound else { return nil }
        return unescaped(attributes[start...].prefix { $0 != "\"" })
    }

    private static func unescaped(_ text: Substring) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&nbsp;", "\u{A0}"), ("&amp;", "&")]
            .reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }
}
