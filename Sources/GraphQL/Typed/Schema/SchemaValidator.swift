import BeagleNet

/// Validates a document against a schema (GraphQL specification, 5).
struct SchemaValidator {
    let schema: GraphQLSchema
    let document: GraphQLDocumentStorage
    private let operations: [GraphQLDocument.Operation]
    private var problems: [(offset: Int, text: String)] = []
    /// The uses of variables, by the definition that contains them.
    private var uses: [Int: [VariableUse]] = [:]
    private var definitions: [Int] = []
    /// The fields that exist in the schema, by node.
    private var fields: [Int: FieldMergeValidator.Field] = [:]
    /// The definition that is being checked.
    private var definition = 0

    /// A use of a variable where a type is expected.
    struct VariableUse {
        let node: Int
        let type: GraphQLDocument.TypeReference
        /// Whether the position has a default value that applies if the variable has no value.
        let hasDefault: Bool
    }

    init(_ schema: GraphQLSchema, _ document: GraphQLDocument) {
        self.schema = schema
        self.document = document.storage
        operations = document.operations
        var index = 0
        while index < document.storage.nodes.count {
            definitions.append(index)
            index = Int(document.storage.nodes[index].next)
        }
    }

    var nodes: [GraphQLNode] { document.nodes }

    /// Returns all problems, in source order.
    mutating func run() -> [String] {
        for index in definitions {
            definition = index
            if nodes[index].isOperation { checkOperation(index) } else { checkFragment(index) }
        }
        let unused = checkUses()
        checkMerges(unused)
        let bytes = document.bytes
        return problems.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }.map {
            let place = GraphQLError.Location(of: $0.element.offset, in: bytes)
            return "\(place.line):\(place.column): \($0.element.text)"
        }
    }

    mutating func report(_ place: GraphQLNode.SourceRange, _ text: String) {
        problems.append((Int(place.start), text))
    }

    mutating func note(_ use: VariableUse) {
        uses[definition, default: []].append(use)
    }

    func text(_ place: GraphQLNode.SourceRange) -> String { document.text(place) }

    func children(of node: Int, _ kind: GraphQLNode.Kind) -> [Int] {
        nodes.children(of: node).filter { nodes[$0].kind == kind }
    }
}

// MARK: - Definitions

extension SchemaValidator {
    private static let places: [GraphQLNode.Kind: String] = [
        .query: "QUERY", .mutation: "MUTATION", .subscription: "SUBSCRIPTION", .fragment: "FRAGMENT_DEFINITION",
        .field: "FIELD", .spread: "FRAGMENT_SPREAD", .inlineFragment: "INLINE_FRAGMENT",
        .variableDefinition: "VARIABLE_DEFINITION",
    ]

    private mutating func checkOperation(_ index: Int) {
        let node = nodes[index]
        let kind: OperationKind =
            node.kind == .mutation ? .mutation : node.kind == .subscription ? .subscription : .query
        checkDirectives(of: index)
        for variable in children(of: index, .variableDefinition) { checkVariable(variable) }
        guard let root = schema.roots[kind] else {
            return report(node.place, "the schema has no \(kind.rawValue) type")
        }
        if kind == .subscription { checkSubscription(index) }
        checkSelections(of: index, on: root)
    }

    /// Checks that a subscription has a single root field (5.2.4.1).
    private mutating func checkSubscription(_ index: Int) {
        let place = definitions.filter { nodes[$0].isOperation }.firstIndex(of: index)
        guard let fields = place.map({ operations[$0].rootFields }), fields.count > 1 else { return }
        report(
            nodes[index].place,
            "a subscription must have one root field, not \(fields.map(\.key).joined(separator: ", "))"
        )
    }

    private mutating func checkVariable(_ index: Int) {
        checkDirectives(of: index)
        let parts = Array(nodes.children(of: index))
        let type = document.type(parts[0])
        guard let declared = schema.types[type.name] else {
            return report(nodes[parts[0]].place, "there is no type \(type.name)\(hint(type.name, schema.types.keys))")
        }
        guard declared.kind.isInput else {
            return report(nodes[parts[0]].place, "a variable cannot be of the output type \(type.name)")
        }
        if parts.count > 1, nodes[parts[1]].kind != .directive { check(parts[1], type, "$\(text(nodes[index].name))") }
    }

    private mutating func checkFragment(_ index: Int) {
        checkDirectives(of: index)
        guard let type = condition(index) else { return }
        checkSelections(of: index, on: type)
    }

    /// Returns the type condition of a fragment, if the type exists and has fields.
    private mutating func condition(_ index: Int) -> String? {
        let place = nodes[index].other
        let name = text(place)
        guard let type = schema.types[name] else {
            report(place, "there is no type \(name)\(hint(name, schema.types.keys))")
            return nil
        }
        guard type.kind.isComposite else {
            report(place, "\(name) has no fields to select")
            return nil
        }
        return name
    }

    /// Reports variables whose type doesn't match their use, and unused variables and fragments (5.1.4, 5.8.4, 5.8.5).
    ///
    /// - Returns: The fragments that no operation uses.
    private mutating func checkUses() -> [Int] {
        var reached: Set<Int> = []
        for operation in definitions where nodes[operation].isOperation {
            let reachable = nodes.reachable(from: operation)
            reached.formUnion(reachable)
            var unused = Set<String>()
            for variable in children(of: operation, .variableDefinition) { unused.insert(text(nodes[variable].name)) }
            for definition in reachable {
                for index in definition..<Int(nodes[definition].next) where nodes[index].kind == .variable {
                    unused.remove(text(nodes[index].name))
                }
                for use in uses[definition] ?? [] { check(use, in: operation) }
            }
            for variable in children(of: operation, .variableDefinition)
            where unused.contains(text(nodes[variable].name)) {
                report(nodes[variable].place, "$\(text(nodes[variable].name)) is declared but not used")
            }
        }
        let unused = definitions.filter { !nodes[$0].isOperation && !reached.contains($0) }
        for fragment in unused {
            report(nodes[fragment].place, "the fragment \(text(nodes[fragment].name)) is defined but not used")
        }
        return unused
    }

    /// Reports fields with the same key that can't be merged (5.3.2), also in unused fragments.
    private mutating func checkMerges(_ unused: [Int]) {
        var merge = FieldMergeValidator(document, fields)
        for definition in definitions.filter({ nodes[$0].isOperation }) + unused where !merge.check(definition) {
            report(nodes[definition].place, "cannot check whether all fields can be merged: there are too many")
        }
        for problem in merge.problems { report(nodes[problem.node].place, problem.text) }
    }

    private mutating func check(_ use: VariableUse, in operation: Int) {
        let name = nodes[use.node].name
        guard
            let index = children(of: operation, .variableDefinition).first(where: { text(nodes[$0].name) == text(name) }
            )
        else { return }
        let parts = Array(nodes.children(of: index))
        let type = document.type(parts[0])
        guard schema.types[type.name]?.kind.isInput == true else { return }
        let hasDefault = parts.count > 1 && nodes[parts[1]].kind != .directive && nodes[parts[1]].kind != .null
        guard !type.isUsable(as: use.type, hasDefault: hasDefault || use.hasDefault) else { return }
        report(nodes[use.node].place, "$\(text(name)) is of type \(type), but \(use.type) is required here")
    }
}

// MARK: - Selections

extension SchemaValidator {
    private mutating func checkSelections(of parent: Int, on type: String) {
        for index in nodes.children(of: parent) {
            switch nodes[index].kind {
            case .field: checkField(index, on: type)
            case .spread:
                checkDirectives(of: index)
                checkOverlap(nodes[index].name, text(nodes[Int(nodes[index].target)].other), type)
            case .inlineFragment:
                checkDirectives(of: index)
                let isConditional = !nodes[index].other.isEmpty
                guard let inner = isConditional ? condition(index) : type else { continue }
                if isConditional { checkOverlap(nodes[index].other, inner, type) }
                checkSelections(of: index, on: inner)
            default: break
            }
        }
    }

    private mutating func checkField(_ index: Int, on typeName: String) {
        checkDirectives(of: index)
        let node = nodes[index]
        let name = text(node.name)
        guard let field = schema.field(name, of: typeName) else {
            let known = schema.types[typeName]?.fields.keys.sorted() ?? []
            return report(node.name, "\(typeName) has no field \(name)\(hint(name, known))")
        }
        checkArguments(of: index, field.arguments, "\(typeName).\(name)")
        guard let type = schema.types[field.type.name] else { return }
        fields[index] = FieldMergeValidator.Field(
            parent: typeName,
            isOfObject: schema.types[typeName]?.kind == .object,
            type: field.type,
            isComposite: type.kind.isComposite
        )
        let hasSelection = nodes.children(of: index).contains { nodes[$0].isSelection }
        if type.kind.isComposite, !hasSelection {
            report(node.name, "\(typeName).\(name) is of type \(field.type) and requires a selection of fields")
        } else if !type.kind.isComposite, hasSelection {
            report(node.name, "\(typeName).\(name) is of type \(field.type) and cannot have a selection of fields")
        } else if hasSelection {
            checkSelections(of: index, on: field.type.name)
        }
    }

    /// Reports a fragment that can never apply (5.5.2.3).
    private mutating func checkOverlap(_ place: GraphQLNode.SourceRange, _ condition: String, _ parent: String) {
        let (one, other) = (schema.objects(of: condition), schema.objects(of: parent))
        guard !one.isEmpty, !other.isEmpty, one.isDisjoint(with: other) else { return }
        report(place, "a fragment on \(condition) can never apply to \(parent)")
    }

    private mutating func checkDirectives(of index: Int) {
        var known: Set<String> = []
        for directive in children(of: index, .directive) {
            let node = nodes[directive]
            let name = text(node.name)
            guard let declared = schema.directives[name] else {
                report(node.place, "there is no directive @\(name)\(hint(name, schema.directives.keys))")
                continue
            }
            if let place = Self.places[nodes[index].kind], !declared.places.contains(place) {
                report(node.place, "@\(name) is not allowed at the location \(place)")
            }
            if !known.insert(name).inserted, !declared.isRepeatable { report(node.place, "@\(name) is used twice") }
            checkArguments(of: directive, declared.arguments, "@\(name)")
        }
    }

    private mutating func checkArguments(of index: Int, _ declared: [String: SchemaType.Input], _ owner: String) {
        checkMembers(children(of: index, .argument), declared, owner, at: nodes[index].name, "argument")
    }
}

extension GraphQLSchema {
    /// Returns the declaration of a field of a type.
    func field(_ name: String, of type: String) -> SchemaType.Field? {
        if name == "__typename" { return SchemaType.Field(type: .nonNull(.named("String"))) }
        if type == roots[.query] {
            if name == "__schema" { return SchemaType.Field(type: .nonNull(.named("__Schema"))) }
            let input = SchemaType.Input(type: .nonNull(.named("String")))
            if name == "__type" { return SchemaType.Field(type: .named("__Type"), arguments: ["name": input]) }
        }
        return types[type]?.fields[name]
    }

    /// Returns the object types that a value of this type may have.
    func objects(of name: String) -> Set<String> {
        switch types[name]?.kind {
        case .object: [name]
        case .union: types[name]?.relatedTypes ?? []
        case .interface: Set(types.filter { $0.value.kind == .object && $0.value.relatedTypes.contains(name) }.keys)
        default: []
        }
    }
}

extension GraphQLDocument.TypeReference {
    /// Returns whether a variable of this type is allowed where another type is expected (5.8.5).
    func isUsable(as needed: GraphQLDocument.TypeReference, hasDefault: Bool) -> Bool {
        if needed.isNonNull, !isNonNull, hasDefault { return isUsable(as: needed.nullable) }
        return isUsable(as: needed)
    }

    private func isUsable(as needed: GraphQLDocument.TypeReference) -> Bool {
        switch (self, needed) {
        case (.nonNull(let type), .nonNull(let needed)): type.isUsable(as: needed)
        case (_, .nonNull): false
        case (.nonNull(let type), _): type.isUsable(as: needed)
        case (.list(let type), .list(let needed)): type.isUsable(as: needed)
        default: self == needed
        }
    }
}
