import BeagleNetHTTP
import BeagleNetRequestBuilder

/// The places of a form's inputs in the JSON that it sends.
///
/// An input is a value that isn't an object and has none in it, and its name is the path to it: `name`, `address.city`
/// or `items[0].count`.
struct FormLayout: Sendable {
    /// The names of the inputs and their values, in the order in which they are found.
    private(set) var inputs: [(name: String, value: JSONValue)] = []
    /// The places by the name of the input.
    private(set) var paths: [String: [ContextPath.Step]] = [:]
    /// The data without the values of the inputs.
    private var frame: JSONValue

    /// Creates a layout, or returns `nil` if the data isn't an object.
    init?(_ data: JSONValue) {
        guard data.object != nil else { return nil }
        frame = .null
        frame = add(data, [], "")
    }

    /// Adds the inputs of an object, or of an array with objects, and returns it without their values.
    private mutating func add(_ value: JSONValue, _ path: [ContextPath.Step], _ name: String) -> JSONValue {
        if let elements = value.array {
            return .array(
                elements.enumerated().map { index, element in
                    addValue(element, path + [.index(index)], "\(name)[\(index)]") ?? .null
                }
            )
        }
        var members: [String: JSONValue] = [:]
        for (key, member) in (value.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            members[key] = addValue(member, path + [.name(key)], name.isEmpty ? key : "\(name).\(key)")
        }
        return .object(members)
    }

    private mutating func addValue(_ value: JSONValue, _ path: [ContextPath.Step], _ name: String) -> JSONValue? {
        if value.hasObject { return add(value, path, name) }
        // Of two values with the same name, the second isn't an input.
        guard paths[name] == nil else { return value }
        paths[name] = path
        inputs.append((name, value))
        return nil
    }

    /// Returns the fields of a JSON body: the members of the data, with the values of the inputs in their places.
    func members(of fields: [FormField]) -> [FormField] {
        var (data, others) = (frame, [FormField]())
        for field in fields {
            if field.file == nil, let path = paths[field.name] {
                data = data.replacing(path[...], with: field.value)
            } else {
                others.append(field)
            }
        }
        return (data.object ?? [:]).sorted { $0.key < $1.key }.map { FormField($0.key, $0.value) } + others
    }
}

extension JSONValue {
    /// Whether the value is an object, or an array with one.
    fileprivate var hasObject: Bool { object != nil || array?.contains(where: \.hasObject) == true }
}
