/// Checks whether fields with the same response key can be merged (GraphQL specification, 5.3.2).
///
/// The specification compares each pair of fields. This type compares all fields of a key with the first one, which has
/// the same result because both comparisons are equivalence relations: first the shapes of all fields, whatever their
/// parent types, then the names and arguments of the fields that can apply to the same object. The selection sets of
/// the fields are then merged and checked the same way, each combination once. (The idea: S. Adameit, "GraphQL:
/// overlapping fields can be merged fast".)
struct FieldMergeValidator {
    /// A field of a document with its type in the schema.
    struct Field {
        /// The name of the parent type.
        let parent: String
        /// Whether the parent type is an object type.
        let isOfObject: Bool
        let type: GraphQLDocument.TypeReference
        /// Whether the field has a selection set.
        let isComposite: Bool
    }

    /// A pending check: the merged selection sets of these fields or definitions.
    private struct Work: Hashable {
        let owners: [Int]
        let isOfShapes: Bool
    }

    /// The maximum number of steps. Fragments can be combined in more ways than can be checked.
    private static let maxSteps = 1_000_000

    private let document: GraphQLDocumentStorage
    private let fields: [Int: Field]
    private var steps = 0
    private var pending: [Work] = []
    private var known: Set<Work> = []
    private var reported: Set<Int> = []
    private var arguments: [Int: String] = [:]
    /// The positions of fields that others were compared with.
    private var places: [Int: String] = [:]
    /// The fields that can't be merged, with the reason.
    private(set) var problems: [(node: Int, text: String)] = []

    /// Creates a check.
    ///
    /// - Parameter fields: The fields that exist in the schema, by node.
    init(_ document: GraphQLDocumentStorage, _ fields: [Int: Field]) {
        self.document = document
        self.fields = fields
    }

    private var nodes: [GraphQLNode] { document.nodes }

    /// Checks all selections of a definition.
    ///
    /// - Returns: Whether the check was completed within the limit.
    mutating func check(_ definition: Int) -> Bool {
        // The limit applies to each definition separately.
        (steps, known) = (0, [])
        add([definition], isOfShapes: true)
        add([definition], isOfShapes: false)
        while let work = pending.popLast() {
            guard steps < Self.maxSteps else {
                pending = []
                return false
            }
            for group in selected(of: work.owners) {
                if work.isOfShapes { checkShapes(group) } else { checkNamesAndArguments(group) }
            }
        }
        return true
    }

    private mutating func add(_ owners: [Int], isOfShapes: Bool) {
        guard !owners.isEmpty else { return }
        let work = Work(owners: owners.sorted(), isOfShapes: isOfShapes)
        steps += owners.count
        if known.insert(work).inserted { pending.append(work) }
    }

    // MARK: - What meets

    /// Returns the fields selected by owners, grouped by response key. Each fragment is visited once.
    private mutating func selected(of owners: [Int]) -> [[Int]] {
        var groups: [[Int]] = []
        var places: [String: Int] = [:]
        var followed: Set<Int32> = []
        var ranges = owners.reversed().map { ($0 + 1)..<Int(nodes[$0].next) }
        while let range = ranges.popLast() {
            guard let index = range.first else { continue }
            steps += 1
            let node = nodes[index]
            ranges.append(Int(node.next)..<range.upperBound)
            switch node.kind {
            case .field where fields[index] != nil:
                let key = document.text(node.other.isEmpty ? node.name : node.other)
                if let place = places[key] {
                    groups[place].append(index)
                } else {
                    places[key] = groups.count
                    groups.append([index])
                }
            case .inlineFragment: ranges.append((index + 1)..<Int(node.next))
            case .spread where followed.insert(node.target).inserted:
                let fragment = Int(node.target)
                ranges.append((fragment + 1)..<Int(nodes[fragment].next))
            default: break
            }
        }
        return groups
    }

    // MARK: - Shapes

    /// Compares the types of all fields with the same key (SameResponseShape).
    private mutating func checkShapes(_ group: [Int]) {
        guard let first = fields[group[0]] else { return }
        for index in group.dropFirst() {
            guard let field = fields[index], !field.hasShape(of: first) else { continue }
            report(index, "is of type \(field.type)", group[0], "of type \(first.type)")
        }
        add(group.filter { fields[$0]?.isComposite == true }, isOfShapes: true)
    }

    // MARK: - Questions

    /// Compares the names and arguments of the fields that can apply to the same object.
    private mutating func checkNamesAndArguments(_ group: [Int]) {
        var ofAny: [Int] = []
        var ofObjects: [String: [Int]] = [:]
        for index in group {
            guard let field = fields[index] else { continue }
            if field.isOfObject { ofObjects[field.parent, default: []].append(index) } else { ofAny.append(index) }
        }
        guard !ofObjects.isEmpty else { return compare(ofAny) }
        for (_, ofObject) in ofObjects.sorted(by: { $0.value[0] < $1.value[0] }) { compare(ofAny + ofObject) }
    }

    private mutating func compare(_ group: [Int]) {
        steps += group.count
        if group.count > 1 {
            // The first field in the text is the reference, so that the later one is reported.
            let first = group.min() ?? group[0]
            let (name, asked) = (document.text(nodes[first].name), argumentText(of: first))
            for index in group where index != first {
                let otherName = document.text(nodes[index].name)
                if otherName != name {
                    report(index, "is the field \(otherName)", first, "the field \(name)")
                } else if argumentText(of: index) != asked {
                    report(index, "has different arguments than", first, nil)
                }
            }
        }
        add(group.filter { fields[$0]?.isComposite == true }, isOfShapes: false)
    }

    /// Returns the arguments of a field as text, which is equal if the values are, whatever their order.
    private mutating func argumentText(of field: Int) -> String {
        if let known = arguments[field] { return known }
        let text = members(of: field, .argument)
        arguments[field] = text
        return text
    }

    private func members(of index: Int, _ kind: GraphQLNode.Kind) -> String {
        nodes.children(of: index).filter { nodes[$0].kind == kind }
            .map { "\(document.text(nodes[$0].name)):\(value($0 + 1))" }.sorted().joined(separator: ",")
    }

    private func value(_ index: Int) -> String {
        let node = nodes[index]
        switch node.kind {
        case .list: return "[\(nodes.children(of: index).map(value).joined(separator: ","))]"
        case .object: return "{\(members(of: index, .objectField))}"
        case .variable: return "$\(document.text(node.name))"
        default: return document.text(node.name)
        }
    }

    // MARK: - Problems

    /// Reports a conflict between two fields.
    ///
    /// - Parameters:
    ///   - what: The description of the one field.
    ///   - otherwise: The description of the other field, or `nil` if `what` covers both.
    private mutating func report(_ index: Int, _ what: String, _ other: Int, _ otherwise: String?) {
        let (one, earlier) = (max(index, other), min(index, other))
        guard reported.insert(one).inserted else { return }
        let node = nodes[one]
        let key = document.text(node.other.isEmpty ? node.name : node.other)
        let at = "at \(place(of: earlier))"
        let rest = otherwise.map { ", but \($0) \(at)" } ?? " \(at)"
        problems.append((one, "\(key) \(what)\(rest): give one of them an alias"))
    }

    private mutating func place(of index: Int) -> String {
        if let known = places[index] { return known }
        let place = GraphQLError.Location(of: Int(nodes[index].place.start), in: document.bytes)
        let text = "\(place.line):\(place.column)"
        places[index] = text
        return text
    }
}

extension FieldMergeValidator.Field {
    /// Returns whether both fields have the same response shape: the same structure of lists and nullability, and the
    /// same leaf types.
    fileprivate func hasShape(of other: Self) -> Bool {
        if isComposite || other.isComposite {
            return isComposite == other.isComposite && type.structure == other.type.structure
        }
        return type == other.type
    }
}

extension GraphQLDocument.TypeReference {
    /// The type with its name removed.
    fileprivate var structure: GraphQLDocument.TypeReference {
        switch self {
        case .named: .named("")
        case .list(let type): .list(type.structure)
        case .nonNull(let type): .nonNull(type.structure)
        }
    }
}
