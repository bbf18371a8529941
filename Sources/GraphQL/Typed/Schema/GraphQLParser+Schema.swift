import BeagleNet

/// Parses the schema definition language (GraphQL specification, 3).
extension GraphQLParser {
    /// Parses all definitions and extensions.
    mutating func schema(into schema: inout GraphQLSchema) throws(GraphQLSyntaxError) {
        try start()
        repeat {
            try description()
            let isExtension = isWord("extend")
            if isExtension { try advance() }
            try definition(isExtension: isExtension, into: &schema)
        } while token.kind != .end
    }

    private mutating func definition(
        isExtension: Bool,
        into schema: inout GraphQLSchema
    ) throws(GraphQLSyntaxError) {
        if isWord("schema") { return try roots(into: &schema) }
        if isWord("directive"), !isExtension { return try directive(into: &schema) }
        guard let kind = typeKind else {
            throw expected("schema, scalar, type, interface, union, enum, input, directive or extend")
        }
        try advance()
        let start = token.start
        let name = text(try self.name("the type's name"))
        var type = schema.types[name] ?? SchemaType(kind: kind)
        guard isExtension || schema.types[name] == nil else {
            throw GraphQLSyntaxError(start, "there is more than one type named \(name)")
        }
        try read(&type)
        schema.types[name] = type
    }

    private var typeKind: SchemaType.Kind? {
        if isWord("type") { return .object }
        if isWord("input") { return .input }
        if isWord("enum") { return .enumeration }
        if isWord("interface") { return .interface }
        if isWord("union") { return .union }
        return isWord("scalar") ? .scalar : nil
    }

    /// Parses the rest of a type definition after its name.
    private mutating func read(_ type: inout SchemaType) throws(GraphQLSyntaxError) {
        if isWord("implements") {
            try advance()
            try names(separator: .ampersand, into: &type.relatedTypes)
        }
        let start = nodes.count
        try directives(isConstant: true)
        if type.kind == .input {
            for node in nodes[start...] where node.kind == .directive && text(node.name) == "oneOf" {
                type.isOneOf = true
            }
        }
        if type.kind == .union, token.kind == .equals {
            try advance()
            try names(separator: .pipe, into: &type.relatedTypes)
        }
        guard token.kind == .braceLeft, type.kind != .scalar, type.kind != .union else { return }
        try advance()
        repeat {
            try description()
            switch type.kind {
            case .enumeration: try enumValue(of: &type)
            case .input: try input(into: &type.members)
            default: try field(of: &type)
            }
        } while token.kind != .braceRight
        try advance()
    }

    private mutating func enumValue(of type: inout SchemaType) throws(GraphQLSyntaxError) {
        type.enumValues.insert(text(try name("an enum value")))
        try directives(isConstant: true)
    }

    private mutating func field(of type: inout SchemaType) throws(GraphQLSyntaxError) {
        let name = text(try self.name("a field"))
        let arguments = try argumentDefinitions()
        try expect(.colon, "\":\" and the field's type")
        type.fields[name] = SchemaType.Field(type: try declaredType(), arguments: arguments)
        try directives(isConstant: true)
    }

    private mutating func argumentDefinitions() throws(GraphQLSyntaxError) -> [String: SchemaType.Input] {
        var arguments: [String: SchemaType.Input] = [:]
        guard token.kind == .parenLeft else { return arguments }
        try advance()
        repeat {
            try description()
            try input(into: &arguments)
        } while token.kind != .parenRight
        try advance()
        return arguments
    }

    /// Parses an argument or a field of an input object.
    private mutating func input(into inputs: inout [String: SchemaType.Input]) throws(GraphQLSyntaxError) {
        let name = text(try self.name("a name"))
        try expect(.colon, "\":\" and a type")
        var input = SchemaType.Input(type: try declaredType())
        if token.kind == .equals {
            try advance()
            try value(isConstant: true)
            input.hasDefault = true
        }
        try directives(isConstant: true)
        inputs[name] = input
    }

    private mutating func declaredType() throws(GraphQLSyntaxError) -> GraphQLDocument.TypeReference {
        let node = nodes.count
        try type()
        return nodes.type(node, text)
    }

    /// Parses a list of type names: `A & B`, `| A | B`, and `A B` as in old schemas.
    private mutating func names(
        separator: GraphQLToken.Kind,
        into names: inout Set<String>
    ) throws(GraphQLSyntaxError) {
        if token.kind == separator { try advance() }
        names.insert(text(try name("a type's name")))
        while token.kind == separator || separator == .ampersand && token.kind == .name {
            if token.kind == separator { try advance() }
            names.insert(text(try name("a type's name")))
        }
    }

    private mutating func roots(into schema: inout GraphQLSchema) throws(GraphQLSyntaxError) {
        try advance()
        try directives(isConstant: true)
        guard token.kind == .braceLeft else { return }
        schema.namesRoots = true
        try advance()
        repeat {
            try description()
            guard token.kind == .name, let kind = OperationKind(rawValue: text(GraphQLNode.SourceRange(token))) else {
                throw expected("query, mutation or subscription")
            }
            try advance()
            try expect(.colon, "\":\" and a type's name")
            schema.roots[kind] = text(try name("a type's name"))
        } while token.kind != .braceRight
        try advance()
    }

    private mutating func directive(into schema: inout GraphQLSchema) throws(GraphQLSyntaxError) {
        try advance()
        try expect(.at, "\"@\" and the directive's name")
        let name = text(try self.name("the directive's name"))
        var directive = GraphQLSchema.Directive(arguments: try argumentDefinitions())
        if isWord("repeatable") {
            directive.isRepeatable = true
            try advance()
        }
        guard isWord("on") else { throw expected("\"on\" and the directive's locations") }
        try advance()
        try names(separator: .pipe, into: &directive.places)
        schema.directives[name] = directive
    }

    private func text(_ place: GraphQLNode.SourceRange) -> String {
        String(decoding: bytes[place.range], as: UTF8.self)
    }
}
