/// Checks values, and the arguments and input fields that contain them (GraphQL specification, 5.4, 5.6).
///
/// A oneOf input (3.10.1) must have one field, which is not null; a variable for it must be non-null (5.8.5).
extension SchemaValidator {
    /// Checks arguments or the fields of an input object against their declarations.
    mutating func checkMembers(
        _ given: [Int],
        _ declared: [String: SchemaType.Input],
        _ owner: String,
        at place: GraphQLNode.SourceRange,
        _ what: String,
        needsAll: Bool = true
    ) {
        var known: Set<String> = []
        for index in given {
            let name = text(nodes[index].name)
            if !known.insert(name).inserted { report(nodes[index].name, "the \(what) \(name) is given twice") }
            guard let input = declared[name] else {
                report(nodes[index].name, "\(owner) has no \(what) \(name)\(hint(name, declared.keys))")
                continue
            }
            check(index + 1, input.type, "\(owner)(\(name):)", hasDefault: input.hasDefault)
        }
        guard needsAll else { return }
        for (name, input) in declared.sorted(by: { $0.key < $1.key }) where input.isRequired && !known.contains(name) {
            report(place, "\(owner) requires the \(what) \(name) of type \(input.type)")
        }
    }

    /// Checks a value against the expected type.
    mutating func check(_ index: Int, _ type: GraphQLDocument.TypeReference, _ owner: String, hasDefault: Bool = false)
    {
        let node = nodes[index]
        switch (node.kind, type) {
        case (.variable, _): note(VariableUse(node: index, type: type, hasDefault: hasDefault))
        case (.null, .nonNull): report(node.place, "\(owner) is of type \(type), which cannot be null")
        case (.null, _): break
        case (_, .nonNull(let type)): check(index, type, owner)
        case (.list, .list(let element)):
            for child in nodes.children(of: index) { check(child, element, owner) }
        // A single value is coerced to a list (3.12).
        case (_, .list(let element)): check(index, element, owner)
        case (_, .named(let name)): check(index, named: name, owner)
        }
    }

    private mutating func check(_ index: Int, named name: String, _ owner: String) {
        guard let type = schema.types[name] else { return }
        let node = nodes[index]
        switch type.kind {
        case .scalar where !accepts(node, name): refuse(index, name, owner)
        case .enumeration:
            guard node.kind == .enumValue else { return refuse(index, name, owner) }
            let word = text(node.name)
            if !type.enumValues.contains(word) {
                report(node.place, "\(name) has no value \(word)\(hint(word, type.enumValues))")
            }
        case .input:
            guard node.kind == .object else { return refuse(index, name, owner) }
            let given = children(of: index, .objectField)
            var members = type.members
            if type.isOneOf {
                if Set(given.map { text(nodes[$0].name) }).count != 1 {
                    report(
                        node.place,
                        "\(name) requires exactly one of \(members.keys.sorted().joined(separator: ", "))"
                    )
                }
                members = members.mapValues { SchemaType.Input(type: .nonNull($0.type.nullable)) }
            }
            checkMembers(given, members, name, at: node.place, "field", needsAll: !type.isOneOf)
        default: break
        }
    }

    private mutating func refuse(_ index: Int, _ type: String, _ owner: String) {
        let place = nodes[index].place
        var written = text(place)
        if written.count > 30 { written = written.prefix(30) + "…" }
        report(place, "\(owner) is of type \(type), but \(written) is not")
    }

    /// Returns whether a scalar accepts a value (3.5). The server's own scalars accept all values.
    private func accepts(_ node: GraphQLNode, _ scalar: String) -> Bool {
        switch scalar {
        case "Int": node.kind == .int && Int32(text(node.name)) != nil
        case "Float": node.kind == .int || node.kind == .float
        case "String": node.kind == .string
        case "Boolean": node.kind == .boolean
        case "ID": node.kind == .string || node.kind == .int
        default: true
        }
    }

    /// Returns a suggestion of a similar name, or an empty string if no name is similar.
    func hint(_ name: String, _ known: some Collection<String>) -> String {
        let near = known.map { (distance: Self.distance(name, $0), name: $0) }.min { $0 < $1 }
        guard let near, near.distance <= max(1, name.utf8.count / 3) else { return "" }
        return "; did you mean \(near.name)?"
    }

    /// Returns the edit distance: the number of letters to replace, insert, delete or swap with a neighbour.
    private static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.lowercased().utf8.prefix(100)), Array(other.lowercased().utf8.prefix(100)))
        var rows = [Array(0...other.count)]
        for (row, letter) in one.enumerated() {
            var next = [row + 1]
            for column in other.indices {
                let change = rows[row][column] + (letter == other[column] ? 0 : 1)
                next.append(min(rows[row][column + 1] + 1, next[column] + 1, change))
                if row > 0, column > 0, letter == other[column - 1], one[row - 1] == other[column] {
                    next[column + 1] = min(next[column + 1], rows[row - 1][column - 1] + 1)
                }
            }
            rows.append(next)
        }
        return rows[one.count][other.count]
    }
}
