import BeagleNet

/// A type of a schema.
struct SchemaType: Sendable {
    enum Kind: String, Sendable {
        case scalar = "SCALAR"
        case object = "OBJECT"
        case interface = "INTERFACE"
        case union = "UNION"
        case enumeration = "ENUM"
        case input = "INPUT_OBJECT"

        /// Whether the type has fields to select.
        var isComposite: Bool { self == .object || self == .interface || self == .union }
        /// Whether the type is allowed for variables.
        var isInput: Bool { self == .scalar || self == .enumeration || self == .input }
    }

    var kind: Kind
    /// The fields of an object or interface.
    var fields: [String: Field] = [:]
    /// The fields of an input object.
    var members: [String: Input] = [:]
    /// The interfaces that the type implements, or the member types of a union.
    var relatedTypes: Set<String> = []
    /// Whether exactly one field of the input object must be given (3.10.1).
    var isOneOf = false
    /// The values of an enum.
    var enumValues: Set<String> = []

    /// Returns the types that this type refers to, and the places of the references.
    func uses(of name: String) -> [(type: String, place: String)] {
        var uses = relatedTypes.map { ($0, name) } + members.map { ($0.value.type.name, "\(name).\($0.key)") }
        for (field, declared) in fields {
            uses.append((declared.type.name, "\(name).\(field)"))
            uses += declared.arguments.map { ($0.value.type.name, "\(name).\(field)(\($0.key):)") }
        }
        return uses.sorted { $0 < $1 }
    }
}

extension SchemaType {
    /// A field of a type.
    struct Field: Sendable {
        var type: GraphQLDocument.TypeReference
        var arguments: [String: Input] = [:]
    }

    /// An argument, or a field of an input object.
    struct Input: Sendable {
        var type: GraphQLDocument.TypeReference
        var hasDefault = false

        var isRequired: Bool { type.isNonNull && !hasDefault }
    }
}
