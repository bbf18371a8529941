import BeagleNetHTTP

/// The type of a component or action, as its JSON names it: `beagle:container`, `custom:chart`.
struct ComponentType {
    /// The name as the server spells it, without the namespace `beagle`.
    let name: String
    /// The name in lower case, for comparisons: Beagle ignores case.
    let key: String
    let isCustom: Bool

    /// Reads the type of a component, or returns `nil` if the value isn't one.
    init?(of component: JSONValue) {
        self.init(component, marker: "_beagleComponent_", olderKind: "component")
    }

    /// Reads the type of an action, or returns `nil` if the value isn't one.
    init?(ofAction action: JSONValue) {
        self.init(action, marker: "_beagleAction_", olderKind: "action")
    }

    /// Creates a type that is implied by its position in the JSON, as `route.screen` implies a screen.
    init(implied name: String) {
        self.name = name
        key = name.lowercased()
        isCustom = false
    }

    /// Reads `NAMESPACE:NAME` of the marker, or `NAMESPACE:KIND:NAME` of `_beagleType_`, which Beagle used before 1.0.
    private init?(_ value: JSONValue, marker: String, olderKind: String) {
        guard let (namespace, name) = Self.parts(value, marker: marker, olderKind: olderKind) else { return nil }
        isCustom = namespace.lowercased() != "beagle"
        self.name = (isCustom && !namespace.isEmpty ? "\(namespace):\(name)" : name).printable
        key = self.name.lowercased()
    }

    private static func parts(_ value: JSONValue, marker: String, olderKind: String) -> (String, String)? {
        if let text = value[marker]?.string {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            return parts.count == 2 ? (parts[0], parts[1]) : ("", text)
        }
        guard let text = value["_beagleType_"]?.string else { return nil }
        let parts = text.split(separator: ":", maxSplits: 2).map(String.init)
        return parts.count == 3 && parts[1].lowercased() == olderKind ? (parts[0], parts[2]) : nil
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
