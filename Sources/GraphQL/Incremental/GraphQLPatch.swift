public import BeagleNet

/// A piece of an answer that came by itself, as `@defer` and `@stream` ask for it.
public struct GraphQLPatch: Sendable, Hashable {
    /// What a piece holds.
    public enum Content: Sendable, Hashable {
        /// What was merged into the value at the path. Of a fragment that the server announced, as most do: that value, when
        /// the fragment is complete.
        case data(JSONValue)
        /// What was put into the list at the path, and from which index on.
        case items([JSONValue], index: Int)
    }

    /// The label of the directive that asked for it; nil where it has none.
    public var label: String?
    /// Where it belongs; nil for the data with which an answer begins.
    public var path: [GraphQLError.PathElement]?
    /// What it holds; nil where the server could not make it: `errors` tells why.
    public var content: Content?
    /// What went wrong with it.
    public var errors: [GraphQLError]
    /// What else the server says about it, by scope.
    public var extensions: [String: JSONValue]

    /// A piece.
    public init(
        label: String? = nil,
        path: [GraphQLError.PathElement]? = nil,
        content: Content?,
        errors: [GraphQLError] = [],
        extensions: [String: JSONValue] = [:]
    ) {
        self.label = label
        self.path = path
        self.content = content
        self.errors = errors
        self.extensions = extensions
    }
}

extension Sequence<GraphQLPatch> {
    /// The pieces as Relay reads them: each item by itself at its own path, and the last of all marked.
    ///
    /// - Parameter hasNext: whether more are to come after these.
    package func relayPayloads(hasNext: Bool) -> [JSONValue] {
        var payloads = flatMap(\.relayPayloads)
        if !hasNext, payloads.isEmpty { payloads = [["data": nil]] }
        for index in payloads.indices {
            var extensions = payloads[index]["extensions"] ?? [:]
            extensions["is_final"] = .bool(!hasNext && index == payloads.count - 1)
            payloads[index]["extensions"] = extensions
        }
        return payloads
    }
}

extension GraphQLPatch {
    fileprivate var relayPayloads: [JSONValue] {
        switch content {
        case nil: [relayPayload(of: .null, at: path)]
        case .data(let data): [relayPayload(of: data, at: path)]
        case .items(let items, let start):
            items.enumerated().map { index, item in
                var payload = relayPayload(of: item, at: (path ?? []) + [.index(start + index)])
                // Told once.
                if index > 0 { payload["errors"] = Optional<JSONValue>.none }
                return payload
            }
        }
    }

    private func relayPayload(of data: JSONValue, at path: [GraphQLError.PathElement]?) -> JSONValue {
        var payload: [String: JSONValue] = ["data": data]
        payload["path"] = path.map { .array($0.map(\.json)) }
        payload["label"] = label.map { .string($0) }
        if !errors.isEmpty { payload["errors"] = .array(errors.map(\.raw)) }
        if !extensions.isEmpty { payload["extensions"] = .object(extensions) }
        return .object(payload)
    }
}

extension GraphQLError.PathElement {
    var json: JSONValue {
        switch self {
        case .key(let key): .string(key)
        case .index(let index): .integer(Int64(index))
        }
    }
}
