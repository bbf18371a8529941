import BeagleNetDependencies
import BeagleNetHTTP

/// A search for the forms of a screen.
struct ScreenFormReader {
    let given: ScreenContext

    /// Appends the forms in a value.
    func read(
        _ value: JSONValue,
        at pointer: String,
        _ outer: ScreenContext,
        _ forms: inout [ScreenForm]
    ) throws(NetworkError) {
        switch value {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                try read(element, at: "\(pointer)/\(index)", outer, &forms)
            }
        case .object(let members):
            let context = declare(members["context"], in: outer)
            let form: ScreenForm? =
                switch value.componentType {
                case "beagle:form": try Beagle1FormReader(context: context).form(value, at: pointer)
                case "beagle:simpleform": try SimpleFormReader(context: context, given: given).form(value, at: pointer)
                default: nil
                }
            if let form {
                try form.check(in: Beagle.dependencies)
                forms.append(form)
            }
            // Components in a context are data.
            for (name, member) in members.sorted(by: { $0.key < $1.key }) where name != "context" {
                try read(member, at: "\(pointer)/\(JSONPointer.escaped(name))", context, &forms)
            }
        default: break
        }
    }

    /// Adds the context that a component declares, unless its value is given.
    private func declare(_ declaration: JSONValue?, in outer: ScreenContext) -> ScreenContext {
        guard let id = declaration?["id"]?.string, given.values[id] == nil else { return outer }
        var context = outer
        context.values[id] = declaration?["value"] ?? .null
        return context
    }
}

extension JSONValue {
    /// The type of a component in lower case, as Beagle compares it.
    var componentType: String? { self["_beagleComponent_"]?.string?.lowercased() }

    /// Returns the components of a type in this value, without those in other components of the type `inner`.
    func components(_ type: String, notIn inner: String) -> [JSONValue] {
        switch self {
        case .array(let elements): return elements.flatMap { $0.descend(type, inner) }
        case .object(let members):
            return members.sorted { $0.key < $1.key }.filter { $0.key != "context" }.flatMap { $1.descend(type, inner) }
        default: return []
        }
    }

    private func descend(_ type: String, _ inner: String) -> [JSONValue] {
        if componentType == inner { return [] }
        return (componentType == type ? [self] : []) + components(type, notIn: inner)
    }
}
