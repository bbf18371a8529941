/// A value in a document (GraphQL specification, 2.9), for operations that are built at run time.
///
/// ```swift
/// let value: GraphQLValue = ["id": .variable("id"), "order": .enumValue("NEWEST"), "tags": ["swift", nil], "first":
/// 10]
/// ```
public enum GraphQLValue: Sendable, Hashable {
    /// The null value.
    case null
    /// A Boolean.
    case bool(Bool)
    /// An integer.
    case int(Int)
    /// A number that is not an integer; it must be finite.
    case float(Double)
    /// A string, which is written in quotes and escaped.
    case string(String)
    /// An enum value.
    case enumValue(String)
    /// A variable, by its name without `$`.
    case variable(String)
    /// A list.
    case list([GraphQLValue])
    /// An input object.
    case object(Members)
}

extension GraphQLValue {
    /// Named values in order: the arguments of a field, or the fields of an input object.
    public struct Members: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        /// A named value.
        public struct Member: Sendable, Hashable {
            /// The name.
            public var name: String
            /// The value.
            public var value: GraphQLValue

            /// Creates a named value.
            public init(_ name: String, _ value: GraphQLValue) {
                self.name = name
                self.value = value
            }
        }

        /// The members, in the order in which they are written.
        public var members: [Member]

        /// Creates a list of members.
        public init(_ members: [Member] = []) {
            self.members = members
        }

        /// Creates members in the order of the literal.
        public init(dictionaryLiteral elements: (String, GraphQLValue)...) {
            members = elements.map { Member($0, $1) }
        }
    }
}

extension GraphQLValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates the null value.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Creates an integer.
    public init(integerLiteral value: Int) {
        self = .int(value)
    }

    /// Creates a number.
    public init(floatLiteral value: Double) {
        self = .float(value)
    }

    /// Creates a string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Creates a list.
    public init(arrayLiteral elements: GraphQLValue...) {
        self = .list(elements)
    }

    /// Creates an input object.
    public init(dictionaryLiteral elements: (String, GraphQLValue)...) {
        self = .object(GraphQLValue.Members(elements.map { GraphQLValue.Members.Member($0, $1) }))
    }
}
