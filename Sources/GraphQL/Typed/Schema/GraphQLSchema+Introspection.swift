import BeagleNet

/// Reads the response to an introspection query (GraphQL specification, 4).
extension GraphQLSchema {
    mutating func readIntrospection(_ answer: JSONValue) throws(NetworkError) {
        let data = answer["data"] ?? answer
        let schema = data["__schema"] ?? data
        guard let types = schema["types"]?.array, !types.isEmpty else {
            throw Self.unreadable("it has no __schema.types")
        }
        for type in types {
            guard let name = type["name"]?.string, let kind = type["kind"]?.string.flatMap(SchemaType.Kind.init) else {
                throw Self.unreadable("a type has no name or no kind")
            }
            self.types[name] = try SchemaType(kind, type, name)
        }
        for directive in schema["directives"]?.array ?? [] {
            guard let name = directive["name"]?.string else { continue }
            directives[name] = GraphQLSchema.Directive(
                arguments: try SchemaType.Input.inputs(directive["args"], "@\(name)"),
                places: Set((directive["locations"]?.array ?? []).compactMap(\.string)),
                isRepeatable: directive["isRepeatable"]?.bool ?? false
            )
        }
        for kind in OperationKind.allCases {
            roots[kind] = schema["\(kind.rawValue)Type"]?["name"]?.string
        }
    }

    fileprivate static func unreadable(_ reason: String) -> NetworkError {
        NetworkError(
            .decoding,
            during: .decode,
            "this is not the result of an introspection query: \(reason)",
            advice: "use the full introspection query, such as the one from getIntrospectionQuery() of graphql-js"
        )
    }
}

extension SchemaType {
    fileprivate init(_ kind: Kind, _ json: JSONValue, _ name: String) throws(NetworkError) {
        self.init(kind: kind)
        for field in json["fields"]?.array ?? [] {
            guard let fieldName = field["name"]?.string else { continue }
            let place = "\(name).\(fieldName)"
            fields[fieldName] = SchemaType.Field(
                type: try GraphQLDocument.TypeReference(field["type"], place),
                arguments: try SchemaType.Input.inputs(field["args"], place)
            )
        }
        members = try SchemaType.Input.inputs(json["inputFields"], name)
        let others = kind == .union ? json["possibleTypes"] : json["interfaces"]
        relatedTypes = Set((others?.array ?? []).compactMap { $0["name"]?.string })
        isOneOf = json["isOneOf"]?.bool ?? false
        enumValues = Set((json["enumValues"]?.array ?? []).compactMap { $0["name"]?.string })
    }
}

extension SchemaType.Input {
    fileprivate static func inputs(
        _ json: JSONValue?,
        _ place: String
    ) throws(NetworkError) -> [String: SchemaType.Input] {
        var inputs: [String: SchemaType.Input] = [:]
        for input in json?.array ?? [] {
            guard let name = input["name"]?.string else { continue }
            inputs[name] = SchemaType.Input(
                type: try GraphQLDocument.TypeReference(input["type"], "\(place)(\(name):)"),
                hasDefault: input["defaultValue"]?.string != nil
            )
        }
        return inputs
    }
}

extension GraphQLDocument.TypeReference {
    fileprivate init(_ json: JSONValue?, _ place: String) throws(NetworkError) {
        switch json?["kind"]?.string {
        case "NON_NULL": self = .nonNull(try GraphQLDocument.TypeReference(json?["ofType"], place))
        case "LIST": self = .list(try GraphQLDocument.TypeReference(json?["ofType"], place))
        default:
            guard let name = json?["name"]?.string else {
                throw GraphQLSchema.unreadable(
                    "the type of \(place) is incomplete: the query selects too few levels of ofType"
                )
            }
            self = .named(name)
        }
    }
}
