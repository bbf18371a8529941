public import BeagleNet

/// A server's schema, for validating documents in tests.
///
/// It is read from a file in the schema definition language, or from the response to an introspection query.
///
/// ```swift
/// let schema = try GraphQLSchema(sdl: String(contentsOf: schemaFile, encoding: .utf8))
/// #expect(try schema.problems(in: Blog.post.text.document()).isEmpty)
/// ```
/// It checks the most common reasons for which servers reject documents (GraphQL specification, 5): unknown types,
/// fields, arguments, directives and input fields; missing required ones; selection sets on leaves, and objects without
/// one; fragments that can never apply; values and variables of the wrong type; a oneOf input without exactly one
/// field; fields with the same key that can't be merged; and unused definitions.
public struct GraphQLSchema: Sendable {
    var types: [String: SchemaType] = [:]
    var directives: [String: Directive] = [:]
    /// The names of the root operation types.
    var roots: [OperationKind: String] = [:]
    /// Whether a text declares the root operation types.
    var namesRoots = false

    /// Creates a schema from the schema definition language (GraphQL specification, 3), including extensions.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` with line and column if the text is not a valid schema, or if it
    ///   uses an undefined type.
    public init(sdl text: String) throws(NetworkError) {
        try read(text)
        try addBuiltInDefinitions(experimental: true)
        for kind in OperationKind.allCases where !namesRoots {
            let name = kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst()
            if types[name]?.kind == .object { roots[kind] = name }
        }
        try checkNames()
    }

    /// Creates a schema from the JSON response to an introspection query: the whole response, its `data`, or the value
    /// of its `__schema`.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if the JSON is not an introspection result.
    public init(introspection data: Data) throws(NetworkError) {
        try readIntrospection(JSONValue(parsing: data))
        try addBuiltInDefinitions(experimental: false)
    }

    /// Returns the reasons for which a server with this schema would reject a document, each as `line:column: reason`,
    /// in source order.
    public func problems(in document: GraphQLDocument) -> [String] {
        var check = SchemaValidator(self, document)
        return check.run()
    }

    private mutating func read(_ text: String) throws(NetworkError) {
        let bytes = Array(text.utf8)
        do throws(GraphQLSyntaxError) {
            guard bytes.count < Int32.max else { throw GraphQLSyntaxError(0, "the text is larger than 2 GB") }
            try bytes.withUnsafeBufferPointer { bytes throws(GraphQLSyntaxError) in
                var parser = GraphQLParser(bytes)
                try parser.schema(into: &self)
            }
        } catch {
            throw NetworkError(error, in: bytes)
        }
    }

    /// Adds the definitions that every server has and that schemas usually omit.
    private mutating func addBuiltInDefinitions(experimental: Bool) throws(NetworkError) {
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

extension GraphQLSchema {
    /// A directive.
    struct Directive: Sendable {
        var arguments: [String: SchemaType.Input] = [:]
        var places: Set<String> = []
        var isRepeatable = false
    }

    /// The built-in scalars and directives (3.5, 3.13) and the introspection types (4.2).
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

    /// The directives that schemas omit even if the server supports them. An introspection result lists them if they
    /// are supported.
    private static let experimental = """
        directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
        directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD
        """
}
