/// A builder of the tree of members from the rows of a vocabulary.
struct ScreenTableBuilder {
    private struct Draft {
        var node = ScreenTable.Node()
        var edges: [ScreenTable.Edge] = []
    }

    struct TypeDraft {
        let name: [UInt8]
        let family: ScreenRule.Family
        let node: UInt16
    }

    var names = NameTable()
    private(set) var types: [TypeDraft] = []
    private var drafts = [Draft(), Draft(node: ScreenTable.Node(isData: true))]

    /// Adds a rule. The last rule of a member counts.
    mutating func add(_ rule: ScreenRule) {
        var node = rule.type == "*" ? ScreenTable.anyNode : node(of: rule)
        for (place, name) in rule.path.enumerated() {
            let isLast = place == rule.path.count - 1
            let index = edge(node, names.number(of: name), isNote: rule.meaning.isNote, isLast: isLast)
            guard isLast else {
                node = child(node, index)
                continue
            }
            set(rule.meaning, node, index)
            // The path of an image belongs to the image.
            drafts[Int(node)].edges[index].noteDepth = UInt8(truncatingIfNeeded: place + (isPath(rule.type) ? 1 : 0))
        }
    }

    private func isPath(_ type: String) -> Bool {
        types.contains { $0.family == .imagePath && $0.name.elementsEqual(type.utf8) }
    }

    private mutating func node(of rule: ScreenRule) -> UInt16 {
        let name = Array(rule.type.utf8)
        // A type that an app adds rules to may be one of the framework's.
        let known = types.first { type in
            let isSame =
                type.family == .nimbus
                ? type.name == name : type.name.elementsEqual(name) { $0.asciiLowercased == $1.asciiLowercased }
            return isSame && (rule.family == .any || type.family == rule.family)
        }
        if let known { return known.node }
        drafts.append(Draft(node: ScreenTable.Node(isForm: rule.type == "beagle:form")))
        let node = UInt16(drafts.count - 1)
        types.append(TypeDraft(name: name, family: rule.family, node: node))
        return node
    }

    /// Returns the index of an edge, which is added with the meaning of any object's member if it is new.
    private mutating func edge(_ node: UInt16, _ name: UInt16, isNote: Bool, isLast: Bool) -> Int {
        if let index = drafts[Int(node)].edges.firstIndex(where: { $0.name == name }) { return index }
        var edge = ScreenTable.Edge(name: name)
        if drafts[Int(node)].node.isData { edge.node = ScreenTable.dataNode }
        if node != ScreenTable.anyNode, isNote || !isLast, let any = drafts[0].edges.first(where: { $0.name == name }) {
            edge = any
            // The members below one that is skipped are seen, but only as data.
            if any.role == .skipped, !isLast { (edge.role, edge.node) = (.data, ScreenTable.dataNode) }
        }
        drafts[Int(node)].edges.append(edge)
        return drafts[Int(node)].edges.count - 1
    }

    private mutating func set(_ meaning: ScreenRule.Meaning, _ node: UInt16, _ index: Int) {
        if case .note(let note) = meaning { return drafts[Int(node)].edges[index].note = note }
        let (role, kind) = meaning.roleAndKind
        drafts[Int(node)].edges[index].role = role
        drafts[Int(node)].edges[index].kind = kind
        if role == .data || role == .contextValue || role == .items {
            drafts[Int(node)].edges[index].node = ScreenTable.dataNode
        }
        if role == .contextID { drafts[Int(node)].node.isContext = true }
    }

    /// Returns the node below an edge, which is created unless the edge has its own.
    private mutating func child(_ node: UInt16, _ index: Int) -> UInt16 {
        let current = drafts[Int(node)].edges[index].node
        if current > ScreenTable.dataNode { return current }
        drafts.append(drafts[Int(current)].node.isData ? Draft(node: ScreenTable.Node(isData: true)) : Draft())
        drafts[Int(node)].edges[index].node = UInt16(drafts.count - 1)
        return UInt16(drafts.count - 1)
    }

    func flattened() -> (ContiguousArray<ScreenTable.Node>, ContiguousArray<ScreenTable.Edge>) {
        var (nodes, edges) = (ContiguousArray<ScreenTable.Node>(), ContiguousArray<ScreenTable.Edge>())
        for draft in drafts {
            var node = draft.node
            node.edges = edges.count..<edges.count + draft.edges.count
            nodes.append(node)
            edges.append(contentsOf: draft.edges)
        }
        return (nodes, edges)
    }
}

extension ScreenRule.Meaning {
    fileprivate var isNote: Bool {
        if case .note = self { return true }
        return false
    }

    fileprivate var roleAndKind: (ScreenTable.Edge.Role, ReferenceKind) {
        switch self {
        case .skipped: (.skipped, .unknown)
        case .data: (.data, .unknown)
        case .url(let kind): (.url, kind)
        case .plainURL(let kind): (.plainURL, kind)
        case .imagePath: (.imagePath, .image)
        case .reference(let kind): (.reference, kind)
        case .method: (.method, .unknown)
        case .headers: (.headers, .unknown)
        case .body: (.body, .unknown)
        case .prefetch: (.prefetch, .unknown)
        case .localScreen: (.localScreen, .unknown)
        case .fallback: (.fallback, .unknown)
        case .navigationType: (.navigationType, .unknown)
        case .items: (.items, .unknown)
        case .iteratorName: (.iteratorName, .unknown)
        case .indexName: (.indexName, .unknown)
        case .alternatives: (.alternatives, .unknown)
        case .template: (.template, .unknown)
        case .templateCase: (.templateCase, .unknown)
        case .contextID: (.contextID, .unknown)
        case .contextValue: (.contextValue, .unknown)
        case .changedContext: (.changedContext, .unknown)
        case .submission: (.submission, .unknown)
        case .inputName: (.inputName, .unknown)
        case .note: (.none, .unknown)
        }
    }
}
