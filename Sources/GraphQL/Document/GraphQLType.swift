/// A type as documents and schemas name it: `ID`, `[String]`, `[ID!]!`.
public indirect enum GraphQLType: Sendable, Hashable {
    /// A type by its name, whose values may be null.
    case named(String)
    /// A list, which may be null.
    case list(GraphQLType)
    /// A type without null.
    case nonNull(GraphQLType)

    /// Whether null is none of its values.
    public var isNonNull: Bool {
        if case .nonNull = self { return true }
        return false
    }

    /// The type with null.
    public var nullable: GraphQLType {
        if case .nonNull(let type) = self { return type }
        return self
    }

    /// The name in it.
    public var name: String {
        switch self {
        case .named(let name): name
        case .list(let type), .nonNull(let type): type.name
        }
    }
}

extension GraphQLType: CustomStringConvertible {
    /// As documents write it.
    public var description: String {
        switch self {
        case .named(let name): name
        case .list(let type): "[\(type)]"
        case .nonNull(let type): "\(type)!"
        }
    }
}
