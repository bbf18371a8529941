import BeagleNet
import BeagleNetHTTP
import Foundation

/// A screen as a page of HTML that needs no other file: an approximation of the app's rendering, without actions.
///
/// Images are part of the page. Its content security policy forbids scripts and requests.
struct ScreenPage {
    /// The maximum size of the images of a page, in bytes.
    static let maxImageBytes = 5_000_000

    private var writer = HTMLWriter()
    private let images: [String: ScreenImages.Image]
    private var imageBytes = 0

    /// Returns the page of a screen.
    ///
    /// - Parameters:
    ///   - root: The screen.
    ///   - images: The images by the position of their URL in the screen, as a JSON pointer.
    static func html(of root: JSONValue, images: [String: ScreenImages.Image]) -> String {
        var page = ScreenPage(images: images)
        page.write(Node(value: root, pointer: ""))
        var head = HTMLWriter()
        head.element("title", text: title(of: root))
        return """
            <!DOCTYPE html>
            <html>
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" \
            content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width">
            \(head.text)
            <style>\(css)</style>
            </head>
            <body>\(page.writer.text)</body>
            </html>

            """
    }

    private init(images: [String: ScreenImages.Image]) {
        self.images = images
    }

    private static func title(of root: JSONValue) -> String {
        root["navigationBar"]?["title"]?.string ?? root["identifier"]?.string ?? "Screen"
    }

    private static let css = """
        *{box-sizing:border-box}body{margin:0 auto;max-width:430px;font:16px system-ui,sans-serif}\
        div,main,section,ul{display:flex;flex-direction:column;align-items:stretch}\
        main{min-height:100vh;position:relative}ul{margin:0;padding:0;list-style:none}p{margin:0}\
        header{padding:12px;font-weight:bold;border-bottom:1px solid #ccc}h2{font-size:16px;margin:8px 0}\
        img{max-width:100%}.box{border:1px dashed #888;padding:4px;color:#555}
        """

    // MARK: - Components

    /// Writes a component. `JSONValue` limits the nesting, and with it the recursion.
    private mutating func write(_ node: Node) {
        guard let component = Component(node) else { return }
        let style = ComponentStyle(of: component.members.value)
        switch component.key {
        case "screencomponent", "screen": writeScreen(component, style)
        case "text", "layout:text": writeText(component, style)
        case "button": writer.element("button", ["type": "button", "style": style.css], text: component.text("text"))
        case "textinput": writeInput(component, style)
        case "image", "networkimage", "layout:remoteimage": writeImage(component, style)
        case "listview", "gridview", "foreach": writeList(component, style)
        case "tabview", "tabbar": writeTabs(component, style)
        case "lazycomponent": write(component, labelled: "lazy \(component.text("path"))", style)
        case "webview": write(component, labelled: "web page \(component.text("url"))", style)
        case "layout:row": write(component, style.adding("flex-direction", "row"))
        case _ where Self.containers.contains(component.key): write(component, style)
        default: write(component, labelled: component.name, style)
        }
    }

    private static let containers: Set = [
        "container", "scrollview", "simpleform", "form", "stack", "touchable", "pageview", "forminput", "formsubmit",
        "pulltorefresh", "spacer", "layout:column", "layout:scrollview", "layout:touchable", "layout:positioned",
    ]

    private mutating func write(_ component: Component, _ style: ComponentStyle) {
        element("div", style) { $0.writeChildren(of: component) }
    }

    /// Writes a box with a label around the children.
    private mutating func write(_ component: Component, labelled label: String, _ style: ComponentStyle) {
        element("div", style, class: "box") { page in
            page.writer.element("span", text: label)
            page.writeChildren(of: component)
        }
    }

    private mutating func box(_ label: String) {
        writer.element("div", ["class": "box"], text: label)
    }

    private mutating func element(
        _ name: String,
        _ style: ComponentStyle,
        class type: String = "",
        _ contents: (inout ScreenPage) -> Void
    ) {
        writer.open(name, ["class": type, "style": style.css])
        contents(&self)
        writer.close(name)
    }

    private mutating func writeChildren(of component: Component) {
        for child in component.children { write(child) }
    }

    private mutating func writeScreen(_ component: Component, _ style: ComponentStyle) {
        element("main", style) { page in
            if let title = component.members["navigationBar"]?["title"]?.value.string {
                page.writer.element("header", text: title)
            }
            page.writeChildren(of: component)
        }
    }

    private mutating func writeText(_ component: Component, _ style: ComponentStyle) {
        var style = style
        let members = component.members.value
        style.add("color", ComponentStyle.color(members["textColor"]))
        style.add("text-align", ComponentStyle.keyword(members["alignment"], ["left", "center", "right"]))
        writer.element("p", ["style": style.css], text: component.text("text"))
    }

    private static let inputTypes = ["email": "email", "password": "password", "number": "number", "date": "date"]

    private mutating func writeInput(_ component: Component, _ style: ComponentStyle) {
        let type = Self.inputTypes[component.text("type").lowercased()] ?? "text"
        let (value, hint) = (component.text("value"), component.text("placeholder"))
        writer.open("input", ["type": type, "value": value, "placeholder": hint, "style": style.css])
    }

    private mutating func writeImage(_ component: Component, _ style: ComponentStyle) {
        let path = component.members["path"]
        let places = [path?["url"], path, component.members["url"]].compactMap(\.self)
        guard let place = places.first(where: { $0.value.string != nil }), let url = place.value.string,
            path?["_beagleImagePath_"]?.value.string != "local"
        else {
            return box("image of the app \(path?["mobileId"]?.value.string ?? component.text("name"))")
        }
        switch images[place.pointer] {
        case .data(let data, let type)? where imageBytes + data.count <= Self.maxImageBytes:
            imageBytes += data.count
            let source = "data:\(type);base64,\(data.base64EncodedString())"
            writer.open("img", ["alt": url.printable, "src": source, "style": style.css])
        case .data?: box("image \(url): the images of the page are too large")
        case .missing(let reason)?: box("image \(url): \(reason)")
        case nil: box("image \(url)")
        }
    }

    /// Writes each child as an item, and a template once, because its items are known only to the app.
    private mutating func writeList(_ component: Component, _ style: ComponentStyle) {
        let members = component.members
        let templates =
            (members["templates"]?.elements ?? []).compactMap { $0["view"] } + [members["template"]].compactMap(\.self)
        element("ul", style) { page in
            for item in component.children + templates {
                page.writer.open("li")
                page.write(item)
                page.writer.close("li")
            }
        }
    }

    /// Writes all tabs below each other, because the page has no scripts.
    private mutating func writeTabs(_ component: Component, _ style: ComponentStyle) {
        let lists = [component.members["children"], component.members["items"]].compactMap(\.self)
        let tabs = lists.first { $0.value.array != nil }?.elements ?? []
        element("div", style) { page in
            for tab in tabs {
                page.writer.open("section")
                if let title = tab["title"]?.value.string { page.writer.element("h2", text: title) }
                for name in ["child", "content"] { if let child = tab[name] { page.write(child) } }
                page.writer.close("section")
            }
        }
    }
}

/// A value of the JSON of a screen, and its position.
private struct Node {
    let value: JSONValue
    /// The position as a JSON pointer.
    let pointer: String

    /// The member of an object. The page reads no names that need to be escaped in a pointer.
    subscript(name: String) -> Node? { value[name].map { Node(value: $0, pointer: "\(pointer)/\(name)") } }

    /// The elements of an array; empty for other values.
    var elements: [Node] {
        (value.array ?? []).enumerated().map { Node(value: $1, pointer: "\(pointer)/\($0)") }
    }
}

/// A component of the JSON of a screen.
private struct Component {
    /// The members; for Nimbus, those of `properties`.
    let members: Node
    let name: String
    /// The name in lower case.
    let key: String
    let children: [Node]

    /// Reads a component, or returns `nil` for a value that isn't one.
    init?(_ node: Node) {
        let markers = ["_beagleComponent_", "_:component", "_beagleType_"]
        guard let text = markers.lazy.compactMap({ node.value[$0]?.string }).first else { return nil }
        let type = ComponentType(text)
        (name, key) = (type.name, type.key)
        members = node["properties"] ?? node
        children =
            ["child", "content", "initialState"].compactMap { node[$0] }.filter { $0.value.object != nil }
            + (node["children"]?.elements ?? [])
    }

    /// Returns the text of a member, which may also be a number or truth value; empty if it is missing.
    func text(_ name: String) -> String {
        switch members.value[name] {
        case .string(let text)?: text
        case .integer?, .number?, .bool?: members.value[name].map { "\($0)" } ?? ""
        default: ""
        }
    }
}

extension ComponentStyle {
    fileprivate func adding(_ name: String, _ value: String) -> ComponentStyle {
        var style = self
        style.add(name, value)
        return style
    }
}
