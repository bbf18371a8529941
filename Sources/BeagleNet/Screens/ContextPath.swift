import BeagleNetHTTP

/// The place of a value in a context, such as `user.tags[0]`.
struct ContextPath: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case name(String)
        case index(Int)

        init(_ step: ExpressionStep) {
            switch step {
            case .name(let name): self = .name(String(decoding: name, as: UTF8.self))
            case .index(let index): self = .index(index)
            }
        }
    }

    let id: String
    var steps: [Step]

    /// The place that a text consists of, or `nil` if it isn't one binding without operations.
    init?(_ value: JSONValue?) {
        guard let text = value?.string, text.hasPrefix("@{"), text.hasSuffix("}") else { return nil }
        let isBinding = text.dropFirst(2).dropLast().utf8.allSatisfy { !"(){}' @".utf8.contains($0) }
        var (expression, scope) = (ScreenExpression(text), ContextScope([:]))
        guard isBinding, expression.evaluate(in: &scope).hasExpression, scope.bindings.count == 1 else { return nil }
        self = scope.bindings[0]
    }

    init(id: String, steps: [Step]) {
        (self.id, self.steps) = (id, steps)
    }
}

extension JSONValue {
    /// Returns the value at a path, or `.null` if the path leads nowhere.
    func value(at path: [ContextPath.Step]) -> JSONValue {
        path.reduce(self) { value, step in
            switch step {
            case .name(let name): value[name] ?? .null
            case .index(let index): value[index] ?? .null
            }
        }
    }

    /// Returns this value with another one at a path. A path that doesn't exist is created only from members.
    func replacing(_ path: ArraySlice<ContextPath.Step>, with value: JSONValue) -> JSONValue {
        guard let step = path.first else { return value }
        switch step {
        case .name(let name):
            var copy = self
            copy[name] = (self[name] ?? .null).replacing(path.dropFirst(), with: value)
            return copy
        case .index(let index):
            guard var elements = array, elements.indices.contains(index) else { return self }
            elements[index] = elements[index].replacing(path.dropFirst(), with: value)
            return .array(elements)
        }
    }
}
