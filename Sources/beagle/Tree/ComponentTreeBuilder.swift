import BeagleNet
import BeagleNetHTTP

/// Makes a tree of the components and actions that the library's walk through a screen has found.
///
/// They may be under any key, because custom components may hold them anywhere.
struct ComponentTreeBuilder {
    private(set) var summary = ComponentTree.Summary()
    private let elements: [ScreenOutline.Element]
    /// For each element, those below it, sorted by the names of members because JSON objects are unordered.
    private var children: [[Int]]

    /// The components, in the order of the JSON, and the actions below a member.
    private struct Found {
        var nodes: [ComponentTree.Node] = []
        var actions: [String] = []
    }

    /// The maximum nesting of components and actions, so that drawing them can't exhaust the stack.
    static let maxDepth = 512

    /// - Returns: `nil` if components and actions are nested more than `maxDepth` levels deep.
    init?(_ outline: ScreenOutline) {
        elements = outline.elements
        children = Array(repeating: [], count: elements.count)
        var depths = Array(repeating: 0, count: elements.count)
        for (index, element) in elements.enumerated() where element.parent >= 0 {
            depths[index] = depths[element.parent] + 1
            if depths[index] >= Self.maxDepth { return nil }
            // Data may have components that are shown later.
            if !element.isData { children[element.parent].append(index) }
        }
        for index in children.indices where children[index].count > 1 { children[index] = sorted(children[index]) }
    }

    private func sorted(_ indices: [Int]) -> [Int] {
        let keys = indices.map { (path: Self.sortKey(elements[$0].path), index: $0) }
        return keys.sorted { left, right in
            left.path == right.path ? left.index < right.index : left.path.lexicographicallyPrecedes(right.path)
        }.map(\.index)
    }

    /// The screens of a route come first, and its own screen before the fallback.
    private static func sortKey(_ path: [String]) -> [String] {
        path.first == "route" ? ["", path.dropFirst().first == "screen" ? "" : "fallback"] + path.dropFirst(2) : path
    }

    /// Returns the node of a component with all its descendants.
    mutating func node(_ index: Int) -> ComponentTree.Node {
        let component = elements[index]
        let type = ComponentType(component.type)
        count(component, type)
        let found = search(children[index])
        return ComponentTree.Node(
            name: type.name,
            details: Self.details(component, type).printable,
            actions: found.actions,
            isUnknown: !type.isKnown,
            children: found.nodes
        )
    }

    private mutating func count(_ component: ScreenOutline.Element, _ type: ComponentType) {
        summary.components += 1
        if !type.isKnown { summary.unknown += 1 }
        switch type.key {
        case "simpleform", "form": summary.forms += 1
        case "image", "networkimage": if !component.isLocalImage { summary.images += 1 }
        default: break
        }
    }

    private mutating func search(_ indices: [Int]) -> Found {
        indices.reduce(into: Found()) { found, index in
            guard elements[index].isAction else { return found.nodes.append(node(index)) }
            let below = action(index)
            found.nodes += below.nodes
            found.actions += below.actions
        }
    }

    // MARK: - Actions

    /// Returns an action, the components that it contains (a local screen, components to add) and the actions that
    /// follow it.
    private mutating func action(_ index: Int) -> Found {
        let action = elements[index]
        let type = ComponentType(action.type)
        let target = [.routeURL, .url, .routePath, .path, .route].lazy.compactMap(action.text).first
        var words = [type.name]
        if action.text(.method) != nil || type.key == "formremoteaction" || type.key == "sendrequest" {
            words.append(action.text(.method)?.uppercased() ?? "GET")
        }
        if let target { words.append(target) }
        if action.value(.routePrefetch) == .bool(true) || action.value(.prefetch) == .bool(true) {
            words.append("prefetch")
        }
        if Self.leading.contains(type.key), target != nil { summary.links += 1 }
        let below = search(children[index])
        return Found(nodes: below.nodes, actions: [words.joined(separator: " ").printable] + below.actions)
    }

    /// The actions that lead the user to something outside of this screen.
    private static let leading: Set = [
        "pushview", "pushstack", "resetstack", "resetapplication", "openexternalurl", "opennativeroute", "navigate",
    ]

    // MARK: - Details

    private static func details(_ component: ScreenOutline.Element, _ type: ComponentType) -> String {
        switch type.key {
        case "screencomponent", "screen": quoted(component.text(.title)) ?? quoted(component.text(.identifier)) ?? ""
        case "container", "scrollview", "simpleform": layout(component)
        case "text", "button": quoted(component.text(.text)) ?? ""
        case "textinput": quoted(component.text(.placeholder)) ?? ""
        case "image", "networkimage": image(component)
        case "lazycomponent", "networkscreen": component.text(.path) ?? ""
        case "webview": component.text(.url) ?? ""
        case "forminput": component.text(.name) ?? ""
        default: ""
        }
    }

    private static func image(_ component: ScreenOutline.Element) -> String {
        if component.isLocalImage { return "\(component.text(.localName) ?? component.text(.name) ?? "") (local)" }
        return component.text(.path) ?? component.text(.imageURL) ?? ""
    }

    /// Returns the layout of a component, such as `row, padding 16`.
    private static func layout(_ component: ScreenOutline.Element) -> String {
        var words: [String] = []
        if let direction = component.text(.direction) {
            words.append(String(direction.lowercased().map { $0 == "_" ? "-" : $0 }))
        }
        switch component.value(.padding) {
        case .integer(let value): words.append("padding \(value)")
        case .number(let value): words.append("padding \(value)")
        default: break
        }
        return words.joined(separator: ", ")
    }

    /// Returns a text in quotation marks, truncated if it is long.
    private static func quoted(_ text: String?) -> String? {
        guard let text else { return nil }
        return text.count > 60 ? "\"\(text.prefix(59))…\"" : "\"\(text)\""
    }
}
