/// Whether fields that meet under one key can be merged (GraphQL specification, 5.3.2).
///
/// The specification compares each pair. Here all that meet are compared with the first of them, which comes to the same, as
/// to be of one shape, and to ask the same, are equivalences: first their shapes, whatever they are selected of, then what
/// they ask, of those that one object may be asked together. What was selected of them is looked at in turn, as one set and
/// each set once. (The idea: S. Adameit, "GraphQL: overlapping fields can be merged fast".)
struct FieldMerge {
    /// A field of a document, as the schema knows it.
    struct Field {
        /// The name of the type that it is selected of.
        let parent: String
        /// Whether values of that type are all of one object type.
        let isOfObject: Bool
        let type: GraphQLType
        /// Whether something is selected of it.
        let isComposite: Bool
    }

    /// What is still to be looked at: what is selected of these fields or definitions, as one set.
    private struct Work: Hashable {
        let owners: [Int]
        let isOfShapes: Bool
    }

    /// Sets of fragments may be put together in more ways than anybody can look at.
    private static let maxSteps = 1_000_000

    private let document: GraphQLDocumentStorage
    private let fields: [Int: Field]
    private var steps = 0
    private var left: [Work] = []
    private var known: Set<Work> = []
    private var told: Set<Int> = []
    private var arguments: [Int: String] = [:]
    /// Where fields stand that others were compared with.
    private var places: [Int: String] = [:]
    /// Fields that cannot be merged, and why.
    private(set) var problems: [(node: Int, text: String)] = []

    /// - Parameter fields: those that the schema knows, by their nodes.
    init(_ document: GraphQLDocumentStorage, _ fields: [Int: Field]) {
        self.document = document
        self.fields = fields
    }

    private var nodes: [GraphQLNode] { document.nodes }

    /// Looks at all that is selected in a definition.
    ///
    /// - Returns: whether all was looked at.
    mutating func check(_ definition: Int) -> Bool {
        // Each has as much room as the first.
        (steps, known) = (0, [])
        add([definition], isOfShapes: true)
        add([definition], isOfShapes: false)
        while let work = left.popLast() {
            guard steps < Self.maxSteps else {
                left = []
                return false
            }
            for group in selected(of: work.owners) {
                if work.isOfShapes { checkShapes(group) } else { checkQuestions(group) }
            }
        }
        return true
    }

    private mutating func add(_ owners: [Int], isOfShapes: Bool) {
        guard !owners.isEmpty else { return }
        let work = Work(owners: owners.sorted(), isOfShapes: isOfShapes)
        steps += owners.count
        if known.insert(work).inserted { left.append(work) }
    }

    // MARK: - What meets

    /// The fields that are selected of owners, those of one key together. Each fragment is looked into once.
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

    /// Holds the types of all that meet against each other (SameResponseShape).
    private mutating func checkShapes(_ group: [Int]) {
        guard let first = fields[group[0]] else { return }
        for index in group.dropFirst() {
            guard let field = fields[index], !field.hasShape(of: first) else { continue }
            tell(index, "is of type \(field.type)", group[0], "of type \(first.type)")
        }
        add(group.filter { fields[$0]?.isComposite == true }, isOfShapes: true)
    }

    // MARK: - Questions

    /// Holds names and arguments of those against each other that one object may be asked together.
    private mutating func checkQuestions(_ group: [Int]) {
        var ofAny: [Int] = []
        var ofObjects: [String: [Int]] = [:]
        for index in group {
            guard let field = fields[index] else { continue }
            if field.isOfObject { ofObjects[field.parent, default: []].append(index) } else { ofAny.append(index) }
        }
        guard !ofObjects.isEmpty else { return checkSame(ofAny) }
        for (_, ofObject) in ofObjects.sorted(by: { $0.value[0] < $1.value[0] }) { checkSame(ofAny + ofObject) }
    }

    private mutating func checkSame(_ group: [Int]) {
        steps += group.count
        if group.count > 1 {
            // The first that is written, so that the later one is told of.
            let first = group.min() ?? group[0]
            let (name, asked) = (document.text(nodes[first].name), question(of: first))
            for index in group where index != first {
                let otherName = document.text(nodes[index].name)
                if otherName != name {
                    tell(index, "is the field \(otherName)", first, "the field \(name)")
                } else if question(of: index) != asked {
                    tell(index, "has different arguments than", first, nil)
                }
            }
        }
        add(group.filter { fields[$0]?.isComposite == true }, isOfShapes: false)
    }

    /// The arguments of a field, alike where their values are, whatever their order.
    private mutating func question(of field: Int) -> String {
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

    /// - Parameters:
    ///   - what: what it is of the one.
    ///   - otherwise: the same of the other; nil where `what` says all.
    private mutating func tell(_ index: Int, _ what: String, _ other: Int, _ otherwise: String?) {
        let (one, earlier) = (max(index, other), min(index, other))
        guard told.insert(one).inserted else { return }
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

extension FieldMerge.Field {
    /// Whether answers of both look alike: lists and null at the same places, and the same leaves.
    fileprivate func hasShape(of other: Self) -> Bool {
        if isComposite || other.isComposite {
            return isComposite == other.isComposite && type.frame == other.type.frame
        }
        return type == other.type
    }
}

extension GraphQLType {
    /// The type whatever its name.
    fileprivate var frame: GraphQLType {
        switch self {
        case .named: .named("")
        case .list(let type): .list(type.frame)
        case .nonNull(let type): .nonNull(type.frame)
        }
    }
}
