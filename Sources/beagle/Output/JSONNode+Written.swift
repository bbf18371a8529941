import BeagleNetHTTP

extension JSONNode {
    /// The value as compact JSON with sorted names and the original notation of numbers and strings, so that numbers
    /// keep all digits.
    var verbatim: String {
        switch kind {
        case .object:
            var values: [String: String] = [:]
            for (name, value) in members { values[name] = value.verbatim }
            return Self.object(of: values)
        case .array: return "[\(elements.map(\.verbatim).joined(separator: ","))]"
        default: return String(decoding: raw, as: UTF8.self)
        }
    }

    /// Returns a JSON object whose values are already JSON text.
    static func object(of members: [String: String]) -> String {
        let parts = members.sorted { $0.key < $1.key }.map { "\(JSONValue.string($0.key)):\($0.value)" }
        return "{\(parts.joined(separator: ","))}"
    }
}

extension JSONValue {
    /// Returns the value as JSON text, with some members given as JSON text.
    func text(with written: [String: String]) -> String {
        guard let members = object, !written.isEmpty else { return "\(self)" }
        return JSONNode.object(of: members.mapValues { "\($0)" }.merging(written) { $1 })
    }
}
