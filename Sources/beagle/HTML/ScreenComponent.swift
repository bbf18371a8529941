import BeagleNet
import BeagleNetHTTP

/// A component of the JSON of a screen.
struct ScreenComponent {
    let value: JSONValue
    /// The members; for Nimbus, those of `properties`.
    let members: JSONValue
    let name: String
    /// The name in lower case.
    let key: String

    /// Reads a component, or returns `nil` for a value that isn't one.
    init?(_ value: JSONValue) {
        let markers = ["_beagleComponent_", "_:component", "_beagleType_"]
        guard let text = markers.lazy.compactMap({ value[$0]?.string }).first else { return nil }
        let type = ComponentType(text)
        (self.value, name, key) = (value, type.name, type.key)
        members = value["properties"] ?? value
    }

    /// The children in the order of `ComponentTree`.
    var children: [JSONValue] {
        ["child", "children", "content", "initialState"].flatMap { name in
            value[name].map { $0.array ?? [$0] } ?? []
        }
    }

    /// The alternative templates of a list, each with its `case` and `view`, or `nil` if it has none.
    var alternatives: [JSONValue]? { key == "foreach" ? nil : members["templates"]?.array }

    /// All templates of a list.
    var templates: [JSONValue] {
        if key == "foreach" { return children }
        return (alternatives ?? []).compactMap { $0["view"] } + [members["template"]].compactMap(\.self)
    }
}

extension ScreenAction {
    /// The members that aren't data. Those of Nimbus are in `properties`.
    var shown: JSONValue {
        var members = json["_beagleAction_"] == nil ? json["properties"] ?? .null : json
        let isChange = ["beagle:setcontext", "setstate"].contains(type.lowercased())
        for name in isChange ? ["value"] : ["data"] where members[name] != nil { members[name] = nil }
        return members
    }
}

extension JSONValue {
    /// The members that hold data, in which nothing is shown.
    private static let dataNames: Set = [
        "context", "state", "states", "dataSource", "additionalData", "httpAdditionalData",
    ]

    /// The elements, or the members that aren't data, in the order of `ComponentTree`.
    private var parts: [(name: String, value: JSONValue)] {
        if let array { return array.map { ("", $0) } }
        return (object ?? [:]).filter { !Self.dataNames.contains($0.key) }.sorted { $0.key < $1.key }.map { ($0, $1) }
    }

    /// The components below any member, but not those of components, actions and data in it.
    var components: [JSONValue] {
        parts.flatMap { name, value in
            if ScreenComponent(value) != nil { return [value] }
            // The types of these screens may be left out.
            if ["screen", "fallback"].contains(name), value["child"] != nil { return [value.asScreen] }
            return ScreenAction(value) == nil ? value.components : []
        }
    }

    private var asScreen: JSONValue {
        var screen = self
        screen["_beagleComponent_"] = "beagle:screenComponent"
        return screen
    }

    /// The actions below any member, but not those of components, actions and data in it, with the name of the member.
    var childActions: [(event: String, action: ScreenAction)] { childActions(of: "") }

    private func childActions(of event: String) -> [(event: String, action: ScreenAction)] {
        parts.flatMap { name, value in
            let event = name.isEmpty ? event : name
            if let action = ScreenAction(value) { return [(event, action)] }
            let isScreen = ["screen", "fallback"].contains(name) && value["child"] != nil
            return isScreen || ScreenComponent(value) != nil ? [] : value.childActions(of: event)
        }
    }
}
