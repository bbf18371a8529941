import BeagleNetGraphQL
import BeagleNetHTTP
import Foundation

/// The execution of an operation whose document is valid for `DemoSchema`.
struct GraphQLExecution {
    /// A field of the response, merged from all selections with the same key.
    struct Field {
        let key: String
        let name: String
        let node: Int
        var nodes: [Int]
    }

    private let document: GraphQLDocumentStorage
    private let operation: Int
    private var variables: [String: JSONValue] = [:]
    let kind: OperationKind
    /// The entries of the response's `errors`.
    private(set) var errors: [JSONValue] = []
    /// The number of fields that the response may still have. A few aliases and fragments can multiply to very many
    /// fields.
    private var remainingFields = Self.maxFields
    private static let maxFields = 10_000

    private var nodes: [GraphQLNode] { document.nodes }

    /// - Throws: `NetworkError` if there is no such operation, or `DemoSchema.Fault` if a variable is missing.
    init(_ document: GraphQLDocument, operationName: String?, variables given: [String: JSONValue]) throws {
        let found = try document.operation(named: operationName)
        self.document = document.storage
        kind = found.kind
        let nodes = document.storage.nodes
        var index = 0
        while !nodes[index].isDefinition(of: found, in: document.storage) { index = Int(nodes[index].next) }
        operation = index
        var variables = given
        for node in nodes.children(of: index) where nodes[node].kind == .variableDefinition {
            let name = document.storage.text(nodes[node].name)
            let isRequired = found.variables.first { $0.name == name }?.isOptional == false
            if let initial = nodes.children(of: node).first(where: { nodes[$0].kind.isValue }), variables[name] == nil {
                variables[name] = value(of: initial)
            } else if isRequired, variables[name] == nil || variables[name] == .null {
                throw DemoSchema.Fault(message: "the variable $\(name) is missing", code: "BAD_USER_INPUT")
            }
        }
        self.variables = variables
    }

    /// The operation's root fields.
    var rootFields: [Field] { fields(of: [operation]) }

    /// Executes a query or mutation. The result has `data`, and `errors` if there are any.
    mutating func result() -> JSONValue {
        (errors, remainingFields) = ([], Self.maxFields)
        var data: [String: JSONValue] = [:]
        for field in rootFields {
            if field.name == "__typename" {
                data[field.key] = .string(kind == .mutation ? "Mutation" : "Query")
                continue
            }
            do throws(DemoSchema.Fault) {
                let value = try DemoSchema.resolve(field.name, arguments(of: field))
                data[field.key] = select(value, field, [.string(field.key)])
            } catch {
                data[field.key] = .null
                note(error, [.string(field.key)])
            }
        }
        return executionResult(data)
    }

    /// Returns the result for an event of a subscription.
    mutating func result(for event: DemoSchema.Value, of field: Field) -> JSONValue {
        (errors, remainingFields) = ([], Self.maxFields)
        return executionResult([field.key: select(event, field, [.string(field.key)])])
    }

    private func executionResult(_ data: [String: JSONValue]) -> JSONValue {
        if remainingFields < 0 {
            return Self.rejection(DemoSchema.Fault(message: "the response would have too many fields"))
        }
        return .object(
            errors.isEmpty ? ["data": .object(data)] : ["data": .object(data), "errors": .array(errors)]
        )
    }

    /// Returns the response to an operation that is rejected.
    static func rejection(_ fault: DemoSchema.Fault) -> JSONValue {
        ["errors": [Self.entry(fault)]]
    }

    static func entry(_ fault: DemoSchema.Fault, path: [JSONValue] = []) -> JSONValue {
        var entry: [String: JSONValue] = ["message": .string(fault.message)]
        if let code = fault.code { entry["extensions"] = ["code": .string(code)] }
        if !path.isEmpty { entry["path"] = .array(path) }
        return .object(entry)
    }

    private mutating func note(_ fault: DemoSchema.Fault, _ path: [JSONValue]) {
        errors.append(Self.entry(fault, path: path))
    }

    private mutating func select(_ value: DemoSchema.Value, _ field: Field, _ path: [JSONValue]) -> JSONValue {
        remainingFields -= 1
        guard remainingFields >= 0 else { return .null }
        switch value {
        case .leaf(let json): return json
        case .list(let values):
            return .array(values.enumerated().map { select($0.element, field, path + [.integer(Int64($0.offset))]) })
        case .object(let type, let members):
            var object: [String: JSONValue] = [:]
            for inner in fields(of: field.nodes) {
                let member = inner.name == "__typename" ? .leaf(.string(type)) : members[inner.name] ?? .leaf(.null)
                object[inner.key] = select(member, inner, path + [.string(inner.key)])
            }
            return .object(object)
        }
    }

    // MARK: - Document

    /// Collects the fields that these nodes select, and merges those with the same key (GraphQL specification, 6.3.2).
    ///
    /// All types of the schema are objects, so that every fragment of a valid document applies.
    private func fields(of parents: [Int]) -> [Field] {
        var fields: [Field] = []
        var places: [String: Int] = [:]
        var followed: Set<Int32> = []
        var waiting = Array(parents.reversed())
        while let parent = waiting.popLast() {
            for index in nodes.children(of: parent) where nodes[index].isSelection && isIncluded(index) {
                let node = nodes[index]
                if node.kind == .field {
                    let key = document.text(node.other.isEmpty ? node.name : node.other)
                    if let place = places[key] {
                        fields[place].nodes.append(index)
                    } else {
                        places[key] = fields.count
                        let name = document.text(node.name)
                        fields.append(Field(key: key, name: name, node: index, nodes: [index]))
                    }
                    continue
                }
                if node.kind == .inlineFragment {
                    waiting.append(index)
                } else if followed.insert(node.target).inserted {
                    waiting.append(Int(node.target))
                }
            }
        }
        return fields
    }

    private func isIncluded(_ node: Int) -> Bool {
        for directive in nodes.children(of: node) where nodes[directive].kind == .directive {
            let condition = arguments(in: directive)["if"]?.bool
            switch document.text(nodes[directive].name) {
            case "skip" where condition == true: return false
            case "include" where condition == false: return false
            default: break
            }
        }
        return true
    }

    func arguments(of field: Field) -> [String: JSONValue] { arguments(in: field.node) }

    private func arguments(in node: Int) -> [String: JSONValue] {
        var arguments: [String: JSONValue] = [:]
        for argument in nodes.children(of: node) where nodes[argument].kind == .argument {
            arguments[document.text(nodes[argument].name)] = child(of: argument).flatMap { value(of: $0) }
        }
        return arguments
    }

    private func child(of node: Int) -> Int? { nodes.children(of: node).first { _ in true } }

    /// Returns a value as JSON, or `nil` for a variable without a value.
    private func value(of node: Int) -> JSONValue? {
        let text = document.text(nodes[node].place)
        switch nodes[node].kind {
        case .variable: return variables[document.text(nodes[node].name)]
        case .list: return .array(nodes.children(of: node).map { value(of: $0) ?? .null })
        case .object:
            let members = nodes.children(of: node).map { member in
                (document.text(nodes[member].name), child(of: member).flatMap { value(of: $0) } ?? .null)
            }
            return .object(Dictionary(members) { _, last in last })
        case .string where text.hasPrefix("\"\"\""): return .string(String(text.dropFirst(3).dropLast(3)))
        default:
            do throws(NetworkError) {
                // Numbers, strings, Booleans and null have JSON syntax, except `\u{…}`, which is left as is.
                return try JSONValue(parsing: text)
            } catch {
                return .string(text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text)
            }
        }
    }
}

extension GraphQLNode {
    fileprivate func isDefinition(
        of operation: GraphQLDocument.Operation,
        in document: GraphQLDocumentStorage
    ) -> Bool {
        guard [.query, .mutation, .subscription].contains(kind) else { return false }
        return name.isEmpty ? operation.name == nil : document.text(name) == operation.name
    }
}

extension GraphQLNode.Kind {
    fileprivate var isValue: Bool {
        [.variable, .int, .float, .string, .boolean, .null, .enumValue, .list, .object].contains(self)
    }
}
