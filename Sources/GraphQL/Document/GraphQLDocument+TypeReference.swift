extension GraphQLDocument {
    /// A type reference in a document or schema: `ID`, `[String]`, `[ID!]!`.
    public indirect enum TypeReference: Sendable, Hashable {
        /// A nullable named type.
        case named(String)
        /// A nullable list.
        case list(TypeReference)
        /// A non-null type.
        case nonNull(TypeReference)

        /// Whether the type excludes null.
        public var isNonNull: Bool {
            if case .nonNull = self { return true }
            return false
        }

        /// The nullable version of the type.
        public var nullable: TypeReference {
            if case .nonNull(let type) = self { return type }
            return self
        }

        /// The name of the innermost type.
        public var name: String {
            switch self {
            case .named(let name): name
            case .list(let type), .nonNull(let type): type.name
            }
        }
    }
}

extension GraphQLDocument.TypeReference: CustomStringConvertible {
    /// The type in GraphQL syntax.
    public var description: String {
        switch self {
        case .named(let name): name
        case .list(let type): "[\(type)]"
        case .nonNull(let type): "\(type)!"
        }
    }
}
