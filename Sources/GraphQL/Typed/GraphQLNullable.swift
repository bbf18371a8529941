/// A value that a server tells apart from null, and null from nothing at all (GraphQL specification, 2.9.5).
///
/// ```swift
/// struct PostChange: Encodable {
///     var title: GraphQLNullable<String> = .none
///     var subtitle: GraphQLNullable<String> = .none
/// }
/// PostChange(title: "New", subtitle: .null)  // {"title":"New","subtitle":null}
/// PostChange(title: "New")                   // {"title":"New"}
/// ```
///
/// The encoding that the compiler writes for a struct leaves `.none` out where `BeagleNetGraphQL` is imported in the
/// struct's file; so does `container.encode(_:forKey:)` in one of your own. In a list, where nothing can be left out,
/// `.none` is null.
public enum GraphQLNullable<Value> {
    /// Left out: a change leaves alone what this is about, a variable has its default.
    case none
    /// Null, said explicitly: a change takes away what this is about.
    case null
    /// A value.
    case some(Value)

    /// The value, or `.none` for nil.
    public init(_ value: Value?) {
        self = value.map(Self.some) ?? .none
    }

    /// The value, or `.null` for nil.
    public init(orNull value: Value?) {
        self = value.map(Self.some) ?? .null
    }

    /// The value, if there is one.
    public var value: Value? {
        if case .some(let value) = self { return value }
        return nil
    }
}

extension GraphQLNullable: Sendable where Value: Sendable {}
extension GraphQLNullable: Equatable where Value: Equatable {}
extension GraphQLNullable: Hashable where Value: Hashable {}

extension GraphQLNullable: Encodable where Value: Encodable {
    /// Writes the value or null. Leaving out is up to the container: see `KeyedEncodingContainer.encode`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value {
            try container.encode(value)
        } else {
            try container.encodeNil()
        }
    }
}

extension KeyedEncodingContainer {
    /// Writes a value or null, and nothing for `.none`.
    public mutating func encode<Value: Encodable>(_ value: GraphQLNullable<Value>, forKey key: Key) throws {
        switch value {
        case .none: break
        case .null: try encodeNil(forKey: key)
        case .some(let value): try encode(value, forKey: key)
        }
    }
}

// MARK: - Literals

extension GraphQLNullable: ExpressibleByNilLiteral {
    /// `nil` is `.none`.
    public init(nilLiteral: ()) {
        self = .none
    }
}

extension GraphQLNullable: ExpressibleByUnicodeScalarLiteral where Value: ExpressibleByUnicodeScalarLiteral {
    /// A value.
    public init(unicodeScalarLiteral value: Value.UnicodeScalarLiteralType) {
        self = .some(Value(unicodeScalarLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByExtendedGraphemeClusterLiteral
where Value: ExpressibleByExtendedGraphemeClusterLiteral {
    /// A value.
    public init(extendedGraphemeClusterLiteral value: Value.ExtendedGraphemeClusterLiteralType) {
        self = .some(Value(extendedGraphemeClusterLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByStringLiteral where Value: ExpressibleByStringLiteral {
    /// A value.
    public init(stringLiteral value: Value.StringLiteralType) {
        self = .some(Value(stringLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByIntegerLiteral where Value: ExpressibleByIntegerLiteral {
    /// A value.
    public init(integerLiteral value: Value.IntegerLiteralType) {
        self = .some(Value(integerLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByFloatLiteral where Value: ExpressibleByFloatLiteral {
    /// A value.
    public init(floatLiteral value: Value.FloatLiteralType) {
        self = .some(Value(floatLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByBooleanLiteral where Value: ExpressibleByBooleanLiteral {
    /// A value.
    public init(booleanLiteral value: Value.BooleanLiteralType) {
        self = .some(Value(booleanLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByArrayLiteral where Value: RangeReplaceableCollection {
    /// A list.
    public init(arrayLiteral elements: Value.Element...) {
        self = .some(Value(elements))
    }
}
