public import BeagleNet

/// What a server offers, to hold documents against it in tests: from a file in the schema language, or from the answer to
/// an introspection query.
///
/// ```swift
/// let schema = try GraphQLSchema(sdl: String(contentsOf: schemaFile, encoding: .utf8))
/// #expect(try schema.problems(in: Blog.post.text.document()).isEmpty)
/// ```
/// Held against it is what servers refuse most: types, fields, arguments, directives and members that there are not,
/// required ones that are missing, selections of leaves and objects without one, fragments that never apply, values and
/// variables of other types, more or less than one member of a oneOf, fields that meet under one key and cannot be merged,
/// and what is declared and not used (GraphQL specification, 5).
public struct GraphQLSchema: Sendable {
    var types: [String: SchemaType] = [:]
    var directives: [String: SchemaDirective] = [:]
    /// The names of the types at which operations begin.
    var roots: [OperationKind: String] = [:]
    /// Whether a text says at which.
    var namesRoots = false

    /// A schema in the schema language (GraphQL specification, 3), extensions included.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` with line and column where the text is none, and where a type is
    ///   used that is not defined.
    public init(sdl text: String) throws(NetworkError) {
        try read(text)
        try addWhatAllHave(experimental: true)
        for kind in OperationKind.allCases where !namesRoots {
            let name = kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst()
            if types[name]?.kind == .object { roots[kind] = name }
        }
        try checkNames()
    }

    /// A schema from the JSON that answers an introspection query: all of it, its `data`, or what is in its `__schema`.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` where it is no such answer.
    public init(introspection data: Data) throws(NetworkError) {
        try readIntrospection(JSONValue(parsing: data))
        try addWhatAllHave(experimental: false)
    }

    /// What keeps a server of this schema from running a document: each as `line:column: what`, in the document's order.
    public func problems(in document: GraphQLDocument) -> [String] {
        var check = SchemaCheck(self, document)
        return check.run()
    }

    private mutating func read(_ text: String) throws(NetworkError) {
        let bytes = Array(text.utf8)
        do throws(GraphQLFault) {
            guard bytes.count < Int32.max else { throw GraphQLFault(0, "the text is larger than 2 GB") }
            try bytes.withUnsafeBufferPointer { bytes throws(GraphQLFault) in
                var parser = GraphQLParser(bytes)
                try parser.schema(into: &self)
            }
        } catch {
            throw NetworkError(error, in: bytes)
        }
    }

    /// What every server has and few write down.
    private mutating func addWhatAllHave(experimental: Bool) throws(NetworkError) {
        var common = GraphQLSchema()
        try common.read(Self.common)
        if experimental { try common.read(Self.experimental) }
        types.merge(common.types) { own, _ in own }
        directives.merge(common.directives) { own, _ in own }
    }

    private init() {}

    private func checkNames() throws(NetworkError) {
        for (name, type) in types.sorted(by: { $0.key < $1.key }) {
            for (used, place) in type.uses(of: name) where types[used] == nil {
                throw NetworkError(
                    .badRequest,
                    during: .build,
                    "the schema has no type \(used), which \(place) refers to",
                    advice: "combine all files of the schema into one text"
                )
            }
        }
        for (name, type) in types.sorted(by: { $0.key < $1.key }) where type.isOneOf {
            for (member, input) in type.members.sorted(by: { $0.key < $1.key })
            where input.type.isNonNull || input.hasDefault {
                throw NetworkError(
                    .badRequest,
                    during: .build,
                    "the schema's \(name) is a oneOf, but \(name).\(member) is non-null or has a default",
                    advice: "make the fields of a oneOf nullable, without defaults"
                )
            }
        }
        for (kind, name) in roots where types[name] == nil {
            throw NetworkError(.badRequest, during: .build, "the schema has no type \(name) for its \(kind.rawValue)")
        }
    }
}

// MARK: - What it consists of

/// A type of a schema.
struct SchemaType: Sendable {
    enum Kind: String, Sendable {
        case scalar = "SCALAR"
        case object = "OBJECT"
        case interface = "INTERFACE"
        case union = "UNION"
        case enumeration = "ENUM"
        case input = "INPUT_OBJECT"

        /// Whether something can be selected of it.
        var isComposite: Bool { self == .object || self == .interface || self == .union }
        /// Whether variables can be of it.
        var isInput: Bool { self == .scalar || self == .enumeration || self == .input }
    }

    var kind: Kind
    /// What can be selected, of an object or interface.
    var fields: [String: SchemaField] = [:]
    /// The members of an input object.
    var members: [String: SchemaInput] = [:]
    /// The interfaces that it implements, or the types that a union has.
    var related: Set<String> = []
    /// Whether one member of the input object is given, and no other (3.10.1).
    var isOneOf = false
    /// The words of an enumeration.
    var words: Set<String> = []

    /// The types that it names, and where.
    func uses(of name: String) -> [(type: String, place: String)] {
        var uses = related.map { ($0, name) } + members.map { ($0.value.type.name, "\(name).\($0.key)") }
        for (field, declared) in fields {
            uses.append((declared.type.name, "\(name).\(field)"))
            uses += declared.arguments.map { ($0.value.type.name, "\(name).\(field)(\($0.key):)") }
        }
        return uses.sorted { $0 < $1 }
    }
}

/// A field of a type.
struct SchemaField: Sendable {
    var type: GraphQLType
    var arguments: [String: SchemaInput] = [:]
}

/// An argument, or a member of an input object.
struct SchemaInput: Sendable {
    var type: GraphQLType
    var hasDefault = false

    var isRequired: Bool { type.isNonNull && !hasDefault }
}

/// A directive.
struct SchemaDirective: Sendable {
    var arguments: [String: SchemaInput] = [:]
    var places: Set<String> = []
    var isRepeatable = false
}

extension GraphQLSchema {
    /// Scalars and directives (3.5, 3.13) and the types of introspection (4.2).
    private static let common = """
        scalar Int scalar Float scalar String scalar Boolean scalar ID
        directive @skip(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
        directive @include(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
        type __Schema {
          description: String types: [__Type!]! queryType: __Type! mutationType: __Type subscriptionType: __Type
          directives: [__Directive!]!
        }
        type __Type {
          kind: __TypeKind! name: String description: String specifiedByURL: String isOneOf: Boolean
          fields(includeDeprecated: Boolean = false): [__Field!] interfaces: [__Type!] possibleTypes: [__Type!]
          enumValues(includeDeprecated: Boolean = false): [__EnumValue!]
          inputFields(includeDeprecated: Boolean = false): [__InputValue!] ofType: __Type
        }
        enum __TypeKind { SCALAR OBJECT INTERFACE UNION ENUM INPUT_OBJECT LIST NON_NULL }
        type __Field {
          name: String! description: String args(includeDeprecated: Boolean = false): [__InputValue!]! type: __Type!
          isDeprecated: Boolean! deprecationReason: String
        }
        type __InputValue {
          name: String! description: String type: __Type! defaultValue: String isDeprecated: Boolean!
          deprecationReason: String
        }
        type __EnumValue { name: String! description: String isDeprecated: Boolean! deprecationReason: String }
        type __Directive {
          name: String! description: String isRepeatable: Boolean! locations: [__DirectiveLocation!]!
          args(includeDeprecated: Boolean = false): [__InputValue!]!
        }
        enum __DirectiveLocation {
          QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION
          SCHEMA SCALAR OBJECT FIELD_DEFINITION ARGUMENT_DEFINITION INTERFACE UNION ENUM ENUM_VALUE INPUT_OBJECT
          INPUT_FIELD_DEFINITION
        }
        """

    /// Not written down where a server has them. An introspection tells whether it has.
    private static let experimental = """
        directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
        directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD
        """
}
