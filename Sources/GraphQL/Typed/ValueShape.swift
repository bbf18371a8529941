/// The kind of a value, as far as its Swift type determines it.
indirect enum ValueShape: Sendable {
    case text, integer, float, bool
    case list(ValueShape)
    case optional(ValueShape)
    case nullable(ValueShape)
    /// Any other type, which can encode to anything.
    case other

    init(_ type: any Any.Type) {
        self = (type as? any ShapedValue.Type)?.shape ?? .other
    }

    var mayBeLeftOut: Bool {
        if case .nullable = self { return true }
        return false
    }

    /// Returns the reason why values of this kind don't match a type, or `nil` if they do.
    func problem(with type: GraphQLDocument.TypeReference) -> String? {
        switch (self, type) {
        case (.optional, .nonNull):
            "nil would be sent as null; use a non-optional type, or GraphQLNullable if there is a default"
        case (.nullable, .nonNull): "a GraphQLNullable can be null or omitted"
        case (.optional(let shape), _), (.nullable(let shape), _): shape.problem(with: type)
        case (_, .nonNull(let type)): problem(with: type)
        case (.other, _): nil
        case (.list(let shape), .list(let type)): shape.problem(with: type).map { "in the list, \($0)" }
        case (_, .list): "\(words) is not a list"
        case (_, .named(let name)): fits(name) ? nil : "\(words) is not of type \(name)"
        }
    }

    /// Returns whether values of this kind match a named type. The server's own types accept all values.
    private func fits(_ name: String) -> Bool {
        switch (name, self) {
        case ("String", .text), ("ID", .text), ("ID", .integer), ("Int", .integer), ("Float", .integer),
            ("Float", .float), ("Boolean", .bool):
            true
        case ("String", _), ("ID", _), ("Int", _), ("Float", _), ("Boolean", _): false
        default: true
        }
    }

    private var words: String {
        switch self {
        case .text: "a string"
        case .integer: "an integer"
        case .float: "a number"
        case .bool: "a Boolean"
        case .list: "a list"
        case .optional(let shape), .nullable(let shape): shape.words
        case .other: "another value"
        }
    }
}

private protocol ShapedValue {
    static var shape: ValueShape { get }
}

extension String: ShapedValue { fileprivate static var shape: ValueShape { .text } }
extension Bool: ShapedValue { fileprivate static var shape: ValueShape { .bool } }
extension Double: ShapedValue { fileprivate static var shape: ValueShape { .float } }
extension Float: ShapedValue { fileprivate static var shape: ValueShape { .float } }
extension Int: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension Int8: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension Int16: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension Int32: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension Int64: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension UInt: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension UInt8: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension UInt16: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension UInt32: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension UInt64: ShapedValue { fileprivate static var shape: ValueShape { .integer } }
extension Array: ShapedValue { fileprivate static var shape: ValueShape { .list(ValueShape(Element.self)) } }
extension Set: ShapedValue { fileprivate static var shape: ValueShape { .list(ValueShape(Element.self)) } }
extension Optional: ShapedValue { fileprivate static var shape: ValueShape { .optional(ValueShape(Wrapped.self)) } }
extension GraphQLNullable: ShapedValue {
    fileprivate static var shape: ValueShape { .nullable(ValueShape(Value.self)) }
}
