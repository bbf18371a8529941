import BeagleNet
import BeagleNetHTTP
import Foundation

/// A screen as a page of HTML that needs no other file: an approximation of the app's rendering, without actions.
///
/// Images are part of the page. Its content security policy forbids scripts and requests. `data-component` of an element
/// is the type of its component, as in `ComponentTree`. Texts whose expressions have no known value have the class
/// `expression`. What an action shows is in a closed `details` after the element.
struct ScreenPage {
    /// The maximum size of the images of a page, in bytes.
    static let maxImageBytes = 5_000_000
    /// The maximum width of the screen, in pixels of CSS.
    private static let maxWidth = 430
    /// The maximum number of elements of all lists that are shown.
    static let maxRows = 500
    /// The size of a page from which no more elements of lists are shown, in bytes.
    private static let maxBytes = 10_000_000

    private var writer = HTMLWriter()
    private let images: [String: ScreenImages.Image]
    private let changedContexts: Set<String>
    private var imageBytes = 0
    private var rowCount = 0
    /// The values of the contexts around the current component.
    private var context = ScreenContext()

    /// Returns the page of a screen.
    ///
    /// - Parameters:
    ///   - root: The screen.
    ///   - changedContexts: The contexts that an action changes, whose values aren't known in actions.
    ///   - images: The images by their URL in the screen.
    static func html(
        of root: JSONValue,
        changedContexts: Set<String> = [],
        images: [String: ScreenImages.Image]
    ) -> String {
        var page = ScreenPage(images: images, changedContexts: changedContexts)
        page.write(root)
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

    private init(images: [String: ScreenImages.Image], changedContexts: Set<String>) {
        self.images = images
        self.changedContexts = changedContexts
    }

    private static func title(of root: JSONValue) -> String {
        root["navigationBar"]?["title"]?.string ?? root["identifier"]?.string ?? "Screen"
    }

    private static let css = """
        *{box-sizing:border-box}body{margin:0 auto;max-width:\(maxWidth)px;font:16px system-ui,sans-serif}\
        div,main,section,ul{display:flex;flex-direction:column;align-items:stretch;position:relative}\
        main{min-height:100vh}ul{margin:0;padding:0;list-style:none}p{margin:0;white-space:pre-wrap}\
        header{padding:12px;font-weight:bold;border-bottom:1px solid #ccc}h2{font-size:16px;margin:8px 0}\
        img{max-width:100%;object-fit:contain}button,input{font:inherit}.box{border:1px dashed #888;padding:4px;color:#555}\
        .expression{background:#fe9;color:#630;font-family:monospace}
        """

    // MARK: - Components

    /// Writes a component. `JSONValue` limits the nesting, and with it the recursion.
    private mutating func write(_ value: JSONValue) {
        if let component = ScreenComponent(value) { write(component) }
    }

    private mutating func write(_ component: ScreenComponent) {
        let outer = context
        defer { context = outer }
        declareContexts(of: component)
        let style = ComponentStyle(of: ["style": evaluated(component.members["style"] ?? .null)])
        switch component.key {
        case "screencomponent", "screen": writeScreen(component, style)
        case "text", "layout:text": writeText(component, style)
        case "button":
            let text = text(component.members["text"])
            element("button", component, style, class: text.mark) { $0.writer.write(text.value) }
        case "textinput": writeInput(component, style)
        case "image", "networkimage", "layout:remoteimage": writeImage(component, style)
        case "listview", "gridview", "foreach": writeList(component, style)
        case "tabview", "tabbar": writeTabs(component, style)
        case "lazycomponent": write(component, labelled: "lazy \(component.members["path"]?.string ?? "")", style)
        case "webview":
            let url = text(component.members["url"])
            write(component, labelled: "web page \(url.value)", style, mark: url.mark)
        case "layout:row": write(component, style.adding("flex-direction", "row"))
        case _ where Self.containers.contains(component.key): write(component, style)
        default: write(component, labelled: component.name, style, component.value.components)
        }
        for (event, action) in component.members.childActions { write(action, after: event) }
    }

    private static let containers: Set = [
        "container", "scrollview", "simpleform", "form", "stack", "touchable", "pageview", "forminput", "formsubmit",
        "pulltorefresh", "spacer", "layout:column", "layout:scrollview", "layout:touchable", "layout:positioned",
    ]

    private mutating func write(_ component: ScreenComponent, _ style: ComponentStyle) {
        element("div", component, style) { $0.writeChildren(of: component) }
    }

    /// Writes a box with a label around the children, or around other components.
    private mutating func write(
        _ component: ScreenComponent,
        labelled label: String,
        _ style: ComponentStyle,
        _ contents: [JSONValue]? = nil,
        mark: String = ""
    ) {
        element("div", component, style, class: "box") { page in
            page.writer.element("span", text: label, class: mark)
            for child in contents ?? component.children { page.write(child) }
        }
    }

    private mutating func element(
        _ name: String,
        _ component: ScreenComponent,
        _ style: ComponentStyle,
        class type: String = "",
        _ contents: (inout ScreenPage) -> Void
    ) {
        writer.open(name, ["data-component": component.name, "class": type, "style": style.css])
        contents(&self)
        writer.close(name)
    }

    private mutating func writeChildren(of component: ScreenComponent) {
        for child in component.children { write(child) }
    }

    private mutating func writeScreen(_ component: ScreenComponent, _ style: ComponentStyle) {
        element("main", component, style) { page in
            if let title = component.members["navigationBar"]?["title"] {
                let text = page.text(title)
                page.writer.element("header", text: text.value, class: text.mark)
            }
            page.writeChildren(of: component)
        }
    }

    private mutating func writeText(_ component: ScreenComponent, _ style: ComponentStyle) {
        var style = style
        style.add("color", ComponentStyle.color(evaluated(component.members["textColor"] ?? .null)))
        let alignment = evaluated(component.members["alignment"] ?? .null)
        style.add("text-align", ComponentStyle.keyword(alignment, ["left", "center", "right"]))
        let text = text(component.members["text"])
        element("p", component, style, class: text.mark) { $0.writer.write(text.value) }
    }

    private static let inputTypes = ["email": "email", "password": "password", "number": "number", "date": "date"]

    private mutating func writeInput(_ component: ScreenComponent, _ style: ComponentStyle) {
        let type = Self.inputTypes[text(component.members["type"]).value.lowercased()] ?? "text"
        let (value, hint) = (text(component.members["value"]), text(component.members["placeholder"]))
        writer.open(
            "input",
            [
                "data-component": component.name, "class": value.mark.isEmpty ? hint.mark : value.mark, "type": type,
                "value": value.value, "placeholder": hint.value, "style": style.css,
            ]
        )
    }

    private static let fits = ["FIT_XY": "fill", "CENTER_CROP": "cover", "CENTER": "none"]

    private mutating func writeImage(_ component: ScreenComponent, _ style: ComponentStyle) {
        let path = evaluated(component.members["path"] ?? .null)
        guard let url = (path["url"] ?? path).string ?? evaluated(component.members["url"] ?? .null).string,
            path["_beagleImagePath_"]?.string != "local"
        else {
            let name = path["mobileId"]?.string ?? text(component.members["name"]).value
            return write(component, labelled: "image of the app \(name)", style)
        }
        switch images[url] {
        case .data(let data, let type)? where imageBytes + data.count <= Self.maxImageBytes:
            imageBytes += data.count
            let source = "data:\(type);base64,\(data.base64EncodedString())"
            // The app doesn't enlarge an image to fill the width of its parent.
            let size = ImageHeader(of: data).flatMap { $0.displayWidth <= Self.maxWidth ? $0 : nil }
            let height = size.map { String($0.displayHeight) } ?? ""
            var style = style
            style.add("object-fit", component.members["mode"]?.string.flatMap { Self.fits[$0] })
            writer.open(
                "img",
                [
                    "data-component": component.name, "alt": url.printable, "height": height, "src": source,
                    "style": style.css,
                ]
            )
        case .data?: write(component, labelled: "image \(url): the images of the page are too large", style)
        case .missing(let reason)?: write(component, labelled: "image \(url): \(reason)", style)
        case nil: write(component, labelled: "image \(url)", style, mark: url.contains("@{") ? Self.mark : "")
        }
    }

    /// Writes all tabs below each other, because the page has no scripts.
    private mutating func writeTabs(_ component: ScreenComponent, _ style: ComponentStyle) {
        let lists = [component.members["children"], component.members["items"]].compactMap(\.self)
        let tabs = lists.lazy.compactMap(\.array).first ?? []
        element("div", component, style) { page in
            for tab in tabs {
                page.writer.open("section")
                if let title = tab["title"] {
                    let text = page.text(title)
                    page.writer.element("h2", text: text.value, class: text.mark)
                }
                for name in ["child", "content"] { if let child = tab[name] { page.write(child) } }
                page.writer.close("section")
            }
        }
    }
}

// MARK: - Lists

extension ScreenPage {
    /// Writes each child as an item, and the templates for each element of the list, or once if the screen doesn't
    /// contain the elements.
    private mutating func writeList(_ component: ScreenComponent, _ style: ComponentStyle) {
        let members = component.members
        let isForEach = component.key == "foreach"
        let source = members[isForEach ? "items" : "dataSource"] ?? .null
        let rows = (source.string == nil ? source : evaluated(source)).array ?? []
        let (item, index) = (members["iteratorName"]?.string ?? "item", members["indexName"]?.string ?? "index")
        element("ul", component, style) { page in
            if !isForEach { for child in component.children { page.writeItem(child) } }
            let outer = page.context
            (page.context.values[item], page.context.values[index]) = (nil, nil)
            if rows.isEmpty { for view in component.templates { page.writeItem(view) } }
            for (number, row) in rows.enumerated() {
                guard page.rowCount < Self.maxRows, page.writer.text.utf8.count < Self.maxBytes else {
                    page.writer.element("li", text: "and \(rows.count - number) more", class: "box")
                    break
                }
                page.rowCount += 1
                (page.context.values[item], page.context.values[index]) = (row, .integer(Int64(number)))
                for view in page.shownTemplates(of: component) { page.writeItem(view) }
            }
            page.context = outer
        }
    }

    private mutating func writeItem(_ value: JSONValue) {
        writer.open("li")
        write(value)
        writer.close("li")
    }

    /// Returns the templates for the current element: of the alternatives, the first whose case is true, or else the
    /// first without a case.
    private func shownTemplates(of component: ScreenComponent) -> [JSONValue] {
        guard let alternatives = component.alternatives else { return component.templates }
        let chosen =
            alternatives.first { $0["case"].map(evaluated) == .bool(true) } ?? alternatives.first { $0["case"] == nil }
        return (chosen?["view"]).map { [$0] } ?? []
    }
}

// MARK: - Expressions

extension ScreenPage {
    private static let mark = "expression"

    /// Adds the contexts that a component declares to those around it.
    private mutating func declareContexts(of component: ScreenComponent) {
        let single = [component.value["context"], component.value["state"]].compactMap(\.self)
        for declaration in single + (component.value["states"]?.array ?? []) {
            guard let id = declaration["id"]?.string else { continue }
            context.values[id] = declaration["value"] ?? .null
        }
    }

    /// Returns a value in which expressions are replaced with their values if these are known.
    private func evaluated(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string: do throws(NetworkError) { return try context.evaluate(value) } catch { return value }
        case .array(let elements): return .array(elements.map(evaluated))
        case .object(let members): return .object(members.mapValues(evaluated))
        case .null, .bool, .integer, .number: return value
        }
    }

    /// Returns the text of a member, and the class of its element, which marks an expression without a known value.
    ///
    /// The text of a missing member, an object or an array is empty.
    private func text(_ value: JSONValue?) -> (value: String, mark: String) {
        switch value {
        case .string(let text)?:
            do throws(NetworkError) {
                switch try context.evaluate(.string(text)) {
                case .string(let text): return (text, "")
                case .null: return ("", "")
                case let value: return ("\(value)", "")
                }
            } catch {
                return (text, Self.mark)
            }
        case .integer?, .number?, .bool?: return (value.map { "\($0)" } ?? "", "")
        default: return ("", "")
        }
    }
}

// MARK: - Actions

extension ScreenPage {
    /// Writes the texts and components that an action shows, if there are any.
    private mutating func write(_ action: ScreenAction, after event: String) {
        guard hasContents(action) else { return }
        let outer = context
        defer { context = outer }
        for id in changedContexts { context.values[id] = nil }
        writer.open("details", ["class": "box"])
        writer.element("summary", text: "\(event): \(ComponentType(action.type).name)")
        for name in ["title", "message"] {
            let text = text(action.shown[name])
            if !text.value.isEmpty { writer.element("p", text: text.value, class: text.mark) }
        }
        for component in components(of: action) { write(component) }
        for (event, next) in action.shown.childActions { write(next, after: event) }
        writer.close("details")
    }

    private func hasContents(_ action: ScreenAction) -> Bool {
        ["title", "message"].contains { action.shown[$0]?.string?.isEmpty == false } || !components(of: action).isEmpty
            || action.shown.childActions.contains { hasContents($0.action) }
    }

    /// Returns the components in the members of an action, or in the context that the value of `addChildren` names.
    private func components(of action: ScreenAction) -> [JSONValue] {
        let own = action.shown.components
        guard let value = action.shown["value"], value.string != nil else { return own }
        let added = evaluated(value)
        return own + (ScreenComponent(added) == nil ? added.components : [added])
    }
}

extension ComponentStyle {
    fileprivate func adding(_ name: String, _ value: String) -> ComponentStyle {
        var style = self
        style.add(name, value)
        return style
    }
}
