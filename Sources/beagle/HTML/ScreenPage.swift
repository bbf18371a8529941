import BeagleNet
import BeagleNetHTTP
import Foundation

/// A screen as a page of HTML that needs no other file: an approximation of the app's rendering, without actions.
///
/// Images are part of the page. Its content security policy forbids scripts and requests. `data-component` of an element
/// is the type of its component, as in `ComponentTree`.
struct ScreenPage {
    /// The maximum size of the images of a page, in bytes.
    static let maxImageBytes = 5_000_000
    /// The maximum width of the screen, in pixels of CSS.
    private static let maxWidth = 430

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
        *{box-sizing:border-box}body{margin:0 auto;max-width:\(maxWidth)px;font:16px system-ui,sans-serif}\
        div,main,section,ul{display:flex;flex-direction:column;align-items:stretch;position:relative}\
        main{min-height:100vh}ul{margin:0;padding:0;list-style:none}p{margin:0;white-space:pre-wrap}\
        header{padding:12px;font-weight:bold;border-bottom:1px solid #ccc}h2{font-size:16px;margin:8px 0}\
        img{max-width:100%;object-fit:contain}button,input{font:inherit}.box{border:1px dashed #888;padding:4px;color:#555}
        """

    // MARK: - Components

    /// Writes a component. `JSONValue` limits the nesting, and with it the recursion.
    private mutating func write(_ node: Node) {
        guard let component = Component(node) else { return }
        let style = ComponentStyle(of: component.members.value)
        switch component.key {
        case "screencomponent", "screen": writeScreen(component, style)
        case "text", "layout:text": writeText(component, style)
        case "button": element("button", component, style) { $0.writer.write(component.text("text")) }
        case "textinput": writeInput(component, style)
        case "image", "networkimage", "layout:remoteimage": writeImage(component, style)
        case "listview", "gridview", "foreach": writeList(component, style)
        case "tabview", "tabbar": writeTabs(component, style)
        case "lazycomponent": write(component, labelled: "lazy \(component.text("path"))", style)
        case "webview": write(component, labelled: "web page \(component.text("url"))", style)
        case "layout:row": write(component, style.adding("flex-direction", "row"))
        case _ where Self.containers.contains(component.key): write(component, style)
        default: write(component, labelled: component.name, style, component.node.nestedComponents)
        }
    }

    private static let containers: Set = [
        "container", "scrollview", "simpleform", "form", "stack", "touchable", "pageview", "forminput", "formsubmit",
        "pulltorefresh", "spacer", "layout:column", "layout:scrollview", "layout:touchable", "layout:positioned",
    ]

    private mutating func write(_ component: Component, _ style: ComponentStyle) {
        element("div", component, style) { $0.writeChildren(of: component) }
    }

    /// Writes a box with a label around the children, or around other components.
    private mutating func write(
        _ component: Component,
        labelled label: String,
        _ style: ComponentStyle,
        _ contents: [Node]? = nil
    ) {
        element("div", component, style, class: "box") { page in
            page.writer.element("span", text: label)
            for child in contents ?? component.children { page.write(child) }
        }
    }

    private mutating func element(
        _ name: String,
        _ component: Component,
        _ style: ComponentStyle,
        class type: String = "",
        _ contents: (inout ScreenPage) -> Void
    ) {
        writer.open(name, ["data-component": component.name, "class": type, "style": style.css])
        contents(&self)
        writer.close(name)
    }

    private mutating func writeChildren(of component: Component) {
        for child in component.children { write(child) }
    }

    private mutating func writeScreen(_ component: Component, _ style: ComponentStyle) {
        element("main", component, style) { page in
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
        element("p", component, style) { $0.writer.write(component.text("text")) }
    }

    private static let inputTypes = ["email": "email", "password": "password", "number": "number", "date": "date"]

    private mutating func writeInput(_ component: Component, _ style: ComponentStyle) {
        let type = Self.inputTypes[component.text("type").lowercased()] ?? "text"
        let (value, hint) = (component.text("value"), component.text("placeholder"))
        writer.open(
            "input",
            [
                "data-component": component.name, "type": type, "value": value, "placeholder": hint,
                "style": style.css,
            ]
        )
    }

    private static let fits = ["FIT_XY": "fill", "CENTER_CROP": "cover", "CENTER": "none"]

    private mutating func writeImage(_ component: Component, _ style: ComponentStyle) {
        let path = component.members["path"]
        let places = [path?["url"], path, component.members["url"]].compactMap(\.self)
        guard let place = places.first(where: { $0.value.string != nil }), let url = place.value.string,
            path?["_beagleImagePath_"]?.value.string != "local"
        else {
            let name = path?["mobileId"]?.value.string ?? component.text("name")
            return write(component, labelled: "image of the app \(name)", style)
        }
        switch images[place.pointer] {
        case .data(let data, let type)? where imageBytes + data.count <= Self.maxImageBytes:
            imageBytes += data.count
            let source = "data:\(type);base64,\(data.base64EncodedString())"
            // The app doesn't enlarge an image to fill the width of its parent.
            let size = ImageHeader(of: data).flatMap { $0.displayWidth <= Self.maxWidth ? $0 : nil }
            let height = size.map { String($0.displayHeight) } ?? ""
            var style = style
            style.add("object-fit", component.members["mode"]?.value.string.flatMap { Self.fits[$0] })
            writer.open(
                "img",
                [
                    "data-component": component.name, "alt": url.printable, "height": height, "src": source,
                    "style": style.css,
                ]
            )
        case .data?: write(component, labelled: "image \(url): the images of the page are too large", style)
        case .missing(let reason)?: write(component, labelled: "image \(url): \(reason)", style)
        case nil: write(component, labelled: "image \(url)", style)
        }
    }

    /// Writes each child as an item, and a template once, because its items are known only to the app.
    private mutating func writeList(_ component: Component, _ style: ComponentStyle) {
        let members = component.members
        let templates =
            (members["templates"]?.elements ?? []).compactMap { $0["view"] } + [members["template"]].compactMap(\.self)
        element("ul", component, style) { page in
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
        element("div", component, style) { page in
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

    /// The member of an object.
    subscript(name: String) -> Node? {
        value[name].map { value in
            Node(value: value, pointer: "\(pointer)/\(name.replacing("~", with: "~0").replacing("/", with: "~1"))")
        }
    }

    /// The elements of an array; empty for other values.
    var elements: [Node] {
        (value.array ?? []).enumerated().map { Node(value: $1, pointer: "\(pointer)/\($0)") }
    }

    /// The components below any member, but not those of actions and data, in the order of `ComponentTree`.
    var nestedComponents: [Node] {
        let names = value.object?.keys.filter { !["context", "dataSource"].contains($0) } ?? []
        return (names.sorted().compactMap { self[$0] } + elements).flatMap { node in
            if Component(node) != nil { return [node] }
            return ScreenAction(node.value) == nil ? node.nestedComponents : []
        }
    }
}

/// A component of the JSON of a screen.
private struct Component {
    let node: Node
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
        (self.node, name, key) = (node, type.name, type.key)
        members = node["properties"] ?? node
        // The order of `ComponentTree`.
        children = ["child", "children", "content", "initialState"].flatMap { name in
            node[name].map { $0.value.array == nil ? [$0] : $0.elements } ?? []
        }
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
