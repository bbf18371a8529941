import BeagleNetHTTP

/// The type of a component or action, as its JSON names it: `beagle:container`, `custom:chart`.
struct ComponentType {
    /// The name as the server spells it, without the namespace `beagle`.
    let name: String
    /// The name in lower case, for comparisons: Beagle ignores case.
    let key: String
    let isCustom: Bool

    /// Reads `NAMESPACE:NAME`. An empty text is the type of a screen that doesn't name it.
    init(_ type: String) {
        let parts = type.isEmpty ? ["beagle", "screen"] : type.split(separator: ":", maxSplits: 1).map(String.init)
        let (namespace, name) = parts.count == 2 ? (parts[0], parts[1]) : ("", type)
        isCustom = namespace.lowercased() != "beagle"
        self.name = (isCustom && !namespace.isEmpty ? "\(namespace):\(name)" : name).printable
        key = self.name.lowercased()
    }

    /// Whether this is one of Beagle's own components.
    var isKnown: Bool {
        !isCustom && Self.known.contains(key)
    }

    private static let known: Set = [
        "screencomponent", "screen", "container", "scrollview", "pageview", "pageindicator", "tabview", "tabbar",
        "listview", "gridview", "text", "image", "networkimage", "button", "touchable", "textinput", "lazycomponent",
        "webview", "simpleform", "form", "forminput", "formsubmit", "pulltorefresh", "spacer", "stack",
    ]
}
