import BeagleNet

/// The operations and fragment names of a document, as values that don't depend on its nodes.
struct GraphQLDocumentDetails: Sendable {
    var operations: [GraphQLDocument.Operation] = []
    var fragments: [String] = []

    init(_ document: GraphQLDocumentStorage) {
        var index = 0
        while index < document.nodes.count {
            if document.nodes[index].isOperation {
                operations.append(GraphQLDocument.Operation(index, in: document))
            } else {
                fragments.append(document.text(document.nodes[index].name))
            }
            index = Int(document.nodes[index].next)
        }
    }
}

extension GraphQLDocument.Operation {
    fileprivate init(_ index: Int, in document: GraphQLDocumentStorage) {
        let node = document.nodes[index]
        name = node.name.isEmpty ? nil : document.text(node.name)
        kind =
            switch node.kind {
            case .mutation: .mutation
            case .subscription: .subscription
            default: .query
            }
        variables = document.nodes.children(of: index).filter { document.nodes[$0].kind == .variableDefinition }
            .map { GraphQLDocument.Variable($0, in: document) }
        rootFields = document.rootFields(of: index)
        responseKeys = rootFields.filter { !$0.isTypename }.map(\.key)
        let directives = document.directives(reachableFrom: index)
        usesDefer = directives.contains("defer")
        usesStream = directives.contains("stream")
    }
}

extension GraphQLDocument.Variable {
    fileprivate init(_ index: Int, in document: GraphQLDocumentStorage) {
        let children = Array(document.nodes.children(of: index))
        name = document.text(document.nodes[index].name)
        type = document.type(children[0])
        defaultValue = children.dropFirst().first { document.nodes[$0].kind != .directive }
            .map { document.text(document.nodes[$0].place) }
    }
}

extension GraphQLDocumentStorage {
    /// Returns the type that a node represents.
    func type(_ index: Int) -> GraphQLDocument.TypeReference { nodes.type(index, text) }

    /// Returns the fields of an operation's root, each key once. Fragments are followed without recursion.
    fileprivate func rootFields(of operation: Int) -> [GraphQLDocument.RootField] {
        var fields: [GraphQLDocument.RootField] = []
        var keys: Set<String> = []
        var followed: Set<Int32> = []
        var ranges = [(operation + 1)..<Int(nodes[operation].next)]
        while let range = ranges.popLast() {
            guard let index = range.first else { continue }
            let node = nodes[index]
            ranges.append(Int(node.next)..<range.upperBound)
            switch node.kind {
            case .field:
                let key = text(node.other.isEmpty ? node.name : node.other)
                if keys.insert(key).inserted { fields.append(.init(key: key, name: text(node.name))) }
            case .inlineFragment: ranges.append((index + 1)..<Int(node.next))
            case .spread where followed.insert(node.target).inserted:
                let fragment = Int(node.target)
                ranges.append((fragment + 1)..<Int(nodes[fragment].next))
            default: break
            }
        }
        return fields
    }

    fileprivate func directives(reachableFrom operation: Int) -> Set<String> {
        var names: Set<String> = []
        for definition in nodes.reachable(from: operation) {
            for index in definition..<Int(nodes[definition].next) where nodes[index].kind == .directive {
                names.insert(text(nodes[index].name))
            }
        }
        return names
    }
}

extension [GraphQLNode] {
    /// Returns the type that a node represents.
    func type(_ index: Int, _ text: (GraphQLNode.SourceRange) -> String) -> GraphQLDocument.TypeReference {
        let node = self[index]
        let type =
            node.name.isEmpty ? GraphQLDocument.TypeReference.list(type(index + 1, text)) : .named(text(node.name))
        return node.isNonNull ? .nonNull(type) : type
    }
}
