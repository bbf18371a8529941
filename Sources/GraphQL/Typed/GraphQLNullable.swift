/// An input value that can be left out, null or present, which servers distinguish (GraphQL specification, 2.9.5).
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
/// The compiler-generated encoding of a struct leaves `.none` out if `BeagleNetGraphQL` is imported in the struct's
/// file, and so does `container.encode(_:forKey:)` in a custom encoding. In a list, where nothing can be left out,
/// `.none` is encoded as null.
public enum GraphQLNullable<Value> {
    /// Left out: a mutation leaves the field unchanged, and a variable has its default.
    case none
    /// An explicit null: a mutation removes the value of the field.
    case null
    /// A value.
    case some(Value)

    /// Creates a value, or `.none` for `nil`.
    public init(_ value: Value?) {
        self = value.map(Self.some) ?? .none
    }

    /// Creates a value, or `.null` for `nil`.
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
    /// Encodes the value or null.
    ///
    /// The container decides whether to leave it out; see `KeyedEncodingContainer.encode`.
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
    /// Encodes a value or null, and leaves `.none` out.
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
    /// Creates `.none` from `nil`.
    public init(nilLiteral: ()) {
        self = .none
    }
}

extension GraphQLNullable: ExpressibleByUnicodeScalarLiteral where Value: ExpressibleByUnicodeScalarLiteral {
    /// Creates a value.
    public init(unicodeScalarLiteral value: Value.UnicodeScalarLiteralType) {
        self = .some(Value(unicodeScalarLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByExtendedGraphemeClusterLiteral
where Value: ExpressibleByExtendedGraphemeClusterLiteral {
    /// Creates a value.
    public init(extendedGraphemeClusterLiteral value: Value.ExtendedGraphemeClusterLiteralType) {
        self = .some(Value(extendedGraphemeClusterLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByStringLiteral where Value: ExpressibleByStringLiteral {
    /// Creates a value.
    public init(stringLiteral value: Value.StringLiteralType) {
        self = .some(Value(stringLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByIntegerLiteral where Value: ExpressibleByIntegerLiteral {
    /// Creates a value.
    public init(integerLiteral value: Value.IntegerLiteralType) {
        self = .some(Value(integerLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByFloatLiteral where Value: ExpressibleByFloatLiteral {
    /// Creates a value.
    public init(floatLiteral value: Value.FloatLiteralType) {
        self = .some(Value(floatLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByBooleanLiteral where Value: ExpressibleByBooleanLiteral {
    /// Creates a value.
    public init(booleanLiteral value: Value.BooleanLiteralType) {
        self = .some(Value(booleanLiteral: value))
    }
}

extension GraphQLNullable: ExpressibleByArrayLiteral where Value: RangeReplaceableCollection {
    /// Creates a list.
    public init(arrayLiteral elements: Value.Element...) {
        self = .some(Value(elements))
    }
}
