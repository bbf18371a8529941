import BeagleNetHTTP

extension JSONNode {
    /// The value without spaces and with sorted names, its numbers and text as they are written: no number loses digits.
    var asWritten: String {
        switch kind {
        case .object:
            var values: [String: String] = [:]
            for (name, value) in members { values[name] = value.asWritten }
            return Self.object(of: values)
        case .array: return "[\(elements.map(\.asWritten).joined(separator: ","))]"
        default: return String(decoding: raw, as: UTF8.self)
        }
    }

    /// An object of values that are JSON.
    static func object(of members: [String: String]) -> String {
        let parts = members.sorted { $0.key < $1.key }.map { "\(JSONValue.string($0.key)):\($0.value)" }
        return "{\(parts.joined(separator: ","))}"
    }
}

extension JSONValue {
    /// The value as JSON text, with members of it that are text already.
    func text(with written: [String: String]) -> String {
        guard let members = object, !written.isEmpty else { return "\(self)" }
        return JSONNode.object(of: members.mapValues { "\($0)" }.merging(written) { $1 })
    }
}
