public import BeagleNet

/// A part of a result that arrived separately, as requested by `@defer` or `@stream`.
public struct GraphQLPatch: Sendable, Hashable {
    /// The content of a part.
    public enum Content: Sendable, Hashable {
        /// The data merged into the value at the path.
        ///
        /// For a fragment that the server announced, as most servers do, it is the whole value at the path, once the
        /// fragment is complete.
        case data(JSONValue)
        /// The items put into the list at the path, and the index of the first one.
        case items([JSONValue], index: Int)
    }

    /// The label of the directive that requested the part, or `nil` if it has none.
    public var label: String?
    /// The path of the part in the result, or `nil` for the initial data.
    public var path: [GraphQLError.PathElement]?
    /// The content, or `nil` if the server failed to produce it; `errors` has the reason.
    public var content: Content?
    /// The errors of this part.
    public var errors: [GraphQLError]
    /// Additional information from the server about this part, by scope.
    public var extensions: [String: JSONValue]

    /// Creates a part.
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
    /// Returns the parts in the form that Relay reads: each item as a payload with its own path, and the last one
    /// marked as final.
    ///
    /// - Parameter hasNext: Whether more parts will follow these.
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
                // The errors are reported only once.
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
