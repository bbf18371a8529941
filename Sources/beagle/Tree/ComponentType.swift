import BeagleNetHTTP

/// The type of a component or action, as its JSON names it: `beagle:container`, `custom:chart`.
struct ComponentType {
    /// As the server spells it, without the namespace `beagle`.
    let name: String
    /// For comparisons: Beagle takes any case.
    let key: String
    let isCustom: Bool

    /// The type of a component; nil where the value is none.
    init?(of component: JSONValue) {
        self.init(component, marker: "_beagleComponent_", olderKind: "component")
    }

    /// The type of an action; nil where the value is none.
    init?(ofAction action: JSONValue) {
        self.init(action, marker: "_beagleAction_", olderKind: "action")
    }

    /// A type that the place implies, as `route.screen` implies a screen.
    init(implied name: String) {
        self.name = name
        key = name.lowercased()
        isCustom = false
    }

    /// Reads `NAMESPACE:NAME` of the marker, or `NAMESPACE:KIND:NAME` of `_beagleType_`, which Beagle had before 1.0.
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

    /// Whether Beagle has a component of this name.
    var isKnown: Bool {
        !isCustom && Self.known.contains(key)
    }

    private static let known: Set = [
        "screencomponent", "screen", "container", "scrollview", "pageview", "pageindicator", "tabview", "tabbar",
        "listview", "gridview", "text", "image", "networkimage", "button", "touchable", "textinput", "lazycomponent",
        "webview", "simpleform", "form", "forminput", "formsubmit", "pulltorefresh", "spacer", "stack",
    ]
}
