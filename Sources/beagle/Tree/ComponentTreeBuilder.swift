import BeagleNetHTTP

/// Walks the JSON of a screen and counts its components.
///
/// It finds components and actions under any key, because custom components may hold them anywhere.
struct ComponentTreeBuilder {
    private(set) var summary = ComponentTree.Summary()

    /// Members that hold data or styles but nothing to display. A context may hold the JSON of components that are
    /// shown later.
    private static let skipped: Set = ["context", "style", "accessibility", "analytics", "data", "additionalData"]

    /// The components, in the order of the JSON, and the actions below a member.
    private struct Found {
        var nodes: [ComponentTree.Node] = []
        var actions: [String] = []
    }

    /// Returns the node of a component with all its descendants.
    mutating func node(_ component: JSONValue, _ type: ComponentType) -> ComponentTree.Node {
        count(component, type)
        let found = members(of: component, skipping: Self.skipped)
        return ComponentTree.Node(
            name: type.name,
            details: Self.details(component, type).printable,
            actions: found.actions,
            isUnknown: !type.isKnown,
            children: found.nodes
        )
    }

    private mutating func count(_ component: JSONValue, _ type: ComponentType) {
        summary.components += 1
        if !type.isKnown { summary.unknown += 1 }
        switch type.key {
        case "simpleform", "form": summary.forms += 1
        case "image", "networkimage": if !Self.isLocal(component) { summary.images += 1 }
        default: break
        }
    }

    /// Returns the components and actions below an object's members, sorted by name because JSON objects are unordered.
    private mutating func members(of value: JSONValue, skipping skipped: Set<String>) -> Found {
        guard case .object(let members) = value else { return Found() }
        var found = Found()
        for (name, member) in members.sorted(by: { $0.key < $1.key }) where !skipped.contains(name) {
            let below = search(member)
            found.nodes += below.nodes
            found.actions += below.actions
        }
        return found
    }

    private mutating func search(_ value: JSONValue) -> Found {
        if let type = ComponentType(of: value) { return Found(nodes: [node(value, type)]) }
        if let type = ComponentType(ofAction: value) { return action(value, type) }
        switch value {
        case .object:
            return members(of: value, skipping: Self.skipped)
        case .array(let elements):
            return elements.reduce(into: Found()) { found, element in
                let below = search(element)
                found.nodes += below.nodes
                found.actions += below.actions
            }
        default:
            return Found()
        }
    }

    // MARK: - Actions

    /// Returns an action, the components that it contains (a local screen, components to add) and the actions that
    /// follow it.
    private mutating func action(_ action: JSONValue, _ type: ComponentType) -> Found {
        let route = action["route"]
        let target = ["url", "path"].lazy.compactMap { route?[$0]?.string ?? action[$0]?.string }.first
        var words = [type.name]
        if action["method"]?.string != nil || type.key == "formremoteaction" || type.key == "sendrequest" {
            words.append(action["method"]?.string?.uppercased() ?? "GET")
        }
        if let target = target ?? route?.string { words.append(target) }
        if route?["shouldPrefetch"] == .bool(true) || action["shouldPrefetch"] == .bool(true) {
            words.append("prefetch")
        }
        if Self.isNavigation(type, target: target ?? route?.string) { summary.links += 1 }

        var found = Found(actions: [words.joined(separator: " ").printable])
        for name in ["screen", "fallback"] {
            guard let screen = route?[name] else { continue }
            found.nodes.append(node(screen, ComponentType(of: screen) ?? ComponentType(implied: "screen")))
        }
        let below = members(of: action, skipping: Self.skipped.union(["route"]))
        found.nodes += below.nodes
        found.actions += below.actions
        return found
    }

    private static let leading: Set = [
        "pushview", "pushstack", "resetstack", "resetapplication", "openexternalurl", "opennativeroute", "navigate",
    ]

    /// Whether an action leads the user to something outside of this screen.
    private static func isNavigation(_ type: ComponentType, target: String?) -> Bool {
        leading.contains(type.key) && target != nil
    }

    // MARK: - Details

    private static func details(_ component: JSONValue, _ type: ComponentType) -> String {
        switch type.key {
        case "screencomponent", "screen":
            quoted(component["navigationBar"]?["title"]) ?? quoted(component["identifier"]) ?? ""
        case "container", "scrollview", "simpleform": layout(component)
        case "text", "button": quoted(component["text"]) ?? ""
        case "textinput": quoted(component["placeholder"]) ?? ""
        case "image", "networkimage": image(component)
        case "lazycomponent", "networkscreen": component["path"]?.string ?? ""
        case "webview": component["url"]?.string ?? ""
        case "forminput": component["name"]?.string ?? ""
        default: ""
        }
    }

    private static func image(_ component: JSONValue) -> String {
        let path = component["path"]
        if isLocal(component) { return "\(path?["mobileId"]?.string ?? component["name"]?.string ?? "") (local)" }
        return path?.string ?? path?["url"]?.string ?? ""
    }

    private static func isLocal(_ component: JSONValue) -> Bool {
        component["path"]?["_beagleImagePath_"]?.string?.lowercased() == "local"
    }

    /// Returns the layout of a component, such as `row, padding 16`.
    private static func layout(_ component: JSONValue) -> String {
        var words: [String] = []
        if let direction = component["style"]?["flex"]?["flexDirection"]?.string {
            words.append(String(direction.lowercased().map { $0 == "_" ? "-" : $0 }))
        }
        switch component["style"]?["padding"]?["all"]?["value"] {
        case .integer(let value): words.append("padding \(value)")
        case .number(let value): words.append("padding \(value)")
        default: break
        }
        return words.joined(separator: ", ")
    }

    /// Returns a text in quotation marks, truncated if it is long.
    private static func quoted(_ value: JSONValue?) -> String? {
        guard let text = value?.string else { return nil }
        return text.count > 60 ? "\"\(text.prefix(59))…\"" : "\"\(text)\""
    }
}
