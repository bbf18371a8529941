/// Validates a document by the rules that need no schema, and resolves the fragment of each spread (GraphQL
/// specification, 5.2.2, 5.2.3, 5.5.1.1, 5.5.2.1, 5.5.2.2, 5.8.1, 5.8.3).
///
/// Unused fragments and variables are not errors here; the server reports them.
struct DocumentValidator {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var nodes: [GraphQLNode]
    private var fragments: [Int] = []
    private var operations: [Int] = []

    init(_ nodes: consuming [GraphQLNode], _ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        self.nodes = nodes
    }

    mutating func run() throws(GraphQLSyntaxError) {
        try findDefinitions()
        try findTargets()
        try checkCycles()
        for operation in operations { try checkVariables(of: operation) }
    }

    private mutating func findDefinitions() throws(GraphQLSyntaxError) {
        var names = NameIndex(bytes)
        var index = 0
        while index < nodes.count {
            if nodes[index].isOperation {
                operations.append(index)
                if !nodes[index].name.isEmpty, !names.declare(nodes[index].name, as: index) {
                    throw fault(nodes[index].name, "there is more than one operation named \(text(nodes[index].name))")
                }
            } else {
                fragments.append(index)
            }
            index = Int(nodes[index].next)
        }
        guard operations.count > 1, let anonymous = operations.first(where: { nodes[$0].name.isEmpty }) else { return }
        throw fault(
            nodes[anonymous].place,
            "an unnamed operation must be the only operation in its document",
            advice: "give it a name, as in query Post { … }"
        )
    }

    private mutating func findTargets() throws(GraphQLSyntaxError) {
        var names = NameIndex(bytes)
        for fragment in fragments where !names.declare(nodes[fragment].name, as: fragment) {
            throw fault(nodes[fragment].name, "there is more than one fragment named \(text(nodes[fragment].name))")
        }
        for index in nodes.indices where nodes[index].kind == .spread {
            guard let target = names.value(of: nodes[index].name) else {
                throw fault(
                    nodes[index].name,
                    "the document has no fragment named \(text(nodes[index].name))",
                    advice: "add the fragment's definition to the document"
                )
            }
            nodes[index].target = Int32(truncatingIfNeeded: target)
        }
    }

    /// Rejects fragments that contain themselves. The walk is depth-first and not recursive, because a chain of
    /// fragments may be long.
    private func checkCycles() throws(GraphQLSyntaxError) {
        guard !fragments.isEmpty else { return }
        var isDone: Set<Int> = []
        for fragment in fragments where !isDone.contains(fragment) {
            var path = [(fragment: fragment, cursor: fragment + 1)]
            var isOnPath: Set<Int> = [fragment]
            while let top = path.last {
                guard let spread = nextSpread(from: top.cursor, in: top.fragment) else {
                    isDone.insert(top.fragment)
                    isOnPath.remove(top.fragment)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].cursor = spread + 1
                let target = Int(nodes[spread].target)
                guard isOnPath.insert(target).inserted else {
                    let names = path.drop { $0.fragment != target }.map { text(nodes[$0.fragment].name) }
                    let way = (names + [text(nodes[target].name)]).joined(separator: " -> ")
                    throw fault(nodes[spread].place, "a fragment must not contain itself: \(way)")
                }
                if isDone.contains(target) {
                    isOnPath.remove(target)
                } else {
                    path.append((target, target + 1))
                }
            }
        }
    }

    private func nextSpread(from cursor: Int, in fragment: Int) -> Int? {
        var index = cursor
        while index < nodes[fragment].next {
            if nodes[index].kind == .spread { return index }
            index += 1
        }
        return nil
    }

    private func checkVariables(of operation: Int) throws(GraphQLSyntaxError) {
        var variables = NameIndex(bytes)
        for index in nodes.children(of: operation) where nodes[index].kind == .variableDefinition {
            if !variables.declare(nodes[index].name, as: index) {
                throw fault(
                    nodes[index].name,
                    "the operation declares $\(text(nodes[index].name)) more than once"
                )
            }
        }
        for definition in nodes.reachable(from: operation) {
            for index in definition..<Int(nodes[definition].next) where nodes[index].kind == .variable {
                guard variables.value(of: nodes[index].name) == nil else { continue }
                let name = nodes[operation].name.isEmpty ? "the operation" : text(nodes[operation].name)
                throw fault(nodes[index].place, "$\(text(nodes[index].name)) is not declared by \(name)")
            }
        }
    }

    private func text(_ place: GraphQLNode.SourceRange) -> String {
        String(decoding: bytes[place.range], as: UTF8.self)
    }

    private func fault(_ place: GraphQLNode.SourceRange, _ reason: String, advice: String? = nil) -> GraphQLSyntaxError
    {
        GraphQLSyntaxError(Int(place.start), reason, advice: advice)
    }
}

extension [GraphQLNode] {
    /// Returns the direct children of a node.
    package func children(of node: Int) -> some Sequence<Int> {
        sequence(state: node + 1) { index -> Int? in
            guard index < self[node].next else { return nil }
            defer { index = Int(self[index].next) }
            return index
        }
    }

    /// Returns the operation or fragment at an index, and every fragment that it spreads, directly or indirectly.
    func reachable(from definition: Int) -> [Int] {
        var found = [definition]
        var known: Set<Int32> = []
        var read = 0
        while read < found.count {
            for index in found[read]..<Int(self[found[read]].next) where self[index].kind == .spread {
                if known.insert(self[index].target).inserted { found.append(Int(self[index].target)) }
            }
            read += 1
        }
        return found
    }
}
