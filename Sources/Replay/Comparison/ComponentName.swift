import BeagleNetHTTP

/// The name that identifies a Beagle component, its type and its `id`, such as `text#title`.
struct ComponentName: Hashable {
    /// The type in lower case, because Beagle ignores case.
    private let type: String
    let id: String?
    /// The type as the server spells it, without the namespace `beagle`, and the `id`.
    let text: String

    /// Reads the name of a component; returns `nil` if the value is not a component.
    init?(_ node: JSONNode) {
        guard let written = node["_beagleComponent_"]?.string ?? Self.olderName(node) else { return nil }
        let parts = written.split(separator: ":", maxSplits: 1)
        let name = parts.count == 2 && parts[0].lowercased() == "beagle" ? String(parts[1]) : written
        type = name.lowercased()
        id = node["id"]?.string
        text = id.map { "\(name)#\($0)" } ?? name
    }

    /// Reads the name in the format before Beagle 1.0, `beagle:component:text`.
    private static func olderName(_ node: JSONNode) -> String? {
        guard let parts = node["_beagleType_"]?.string?.split(separator: ":", maxSplits: 2), parts.count == 3,
            parts[1].lowercased() == "component"
        else { return nil }
        return "\(parts[0]):\(parts[2])"
    }

    static func == (one: ComponentName, other: ComponentName) -> Bool { one.type == other.type && one.id == other.id }

    func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(id)
    }
}
