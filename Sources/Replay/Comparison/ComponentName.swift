import BeagleNetHTTP

/// What a component of Beagle is told apart by: `text#title`, its type and its `id`.
struct ComponentName: Hashable {
    /// The type in lower case, as Beagle compares it.
    private let type: String
    let id: String?
    /// As the server spells it, without the namespace `beagle`.
    let text: String

    /// The name of a component; nil where the value is none.
    init?(_ node: JSONNode) {
        guard let written = node["_beagleComponent_"]?.string ?? Self.olderName(node) else { return nil }
        let parts = written.split(separator: ":", maxSplits: 1)
        let name = parts.count == 2 && parts[0].lowercased() == "beagle" ? String(parts[1]) : written
        type = name.lowercased()
        id = node["id"]?.string
        text = id.map { "\(name)#\($0)" } ?? name
    }

    /// `beagle:component:text`, as Beagle had it before 1.0.
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
