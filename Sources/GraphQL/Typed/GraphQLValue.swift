/// A value as documents write it (GraphQL specification, 2.9), for operations that are built at run time.
///
/// ```swift
/// let value: GraphQLValue = ["id": .variable("id"), "order": .word("NEWEST"), "tags": ["swift", nil], "first": 10]
/// ```
public enum GraphQLValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A whole number.
    case int(Int)
    /// Any other number; it must be finite.
    case float(Double)
    /// Text. It is written in quotes, with what could end them escaped.
    case string(String)
    /// A member of an enumeration.
    case word(String)
    /// A variable, by its name without `$`.
    case variable(String)
    /// A list.
    case list([GraphQLValue])
    /// An input object.
    case object(GraphQLMembers)
}

/// Values by name, in order: a field's arguments, or an input object's members.
public struct GraphQLMembers: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A value and its name.
    public struct Member: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: GraphQLValue

        /// A value of this name.
        public init(_ name: String, _ value: GraphQLValue) {
            self.name = name
            self.value = value
        }
    }

    /// The members, in the order in which they are written.
    public var members: [Member]

    /// These members.
    public init(_ members: [Member] = []) {
        self.members = members
    }

    /// Members in the literal's order.
    public init(dictionaryLiteral elements: (String, GraphQLValue)...) {
        members = elements.map { Member($0, $1) }
    }
}

extension GraphQLValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// `null`
    public init(nilLiteral: ()) {
        self = .null
    }

    /// `true` or `false`
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// A whole number.
    public init(integerLiteral value: Int) {
        self = .int(value)
    }

    /// A number.
    public init(floatLiteral value: Double) {
        self = .float(value)
    }

    /// Text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// A list.
    public init(arrayLiteral elements: GraphQLValue...) {
        self = .list(elements)
    }

    /// An input object.
    public init(dictionaryLiteral elements: (String, GraphQLValue)...) {
        self = .object(GraphQLMembers(elements.map { GraphQLMembers.Member($0, $1) }))
    }
}
