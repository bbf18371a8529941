public import BeagleNet

/// The current state of an incremental result.
public struct GraphQLUpdate<Output> {
    /// The result merged from all parts received so far, in the form of a complete response.
    public var response: GraphQLResponse<Output>
    /// Whether more will follow: another update, or an error if parts are missing.
    public var hasNext: Bool
    /// The new parts in the order of arrival: items as they arrive, and announced fragments when they are complete.
    public var patches: [GraphQLPatch]

    /// Creates an update.
    public init(response: GraphQLResponse<Output>, hasNext: Bool = false, patches: [GraphQLPatch] = []) {
        self.response = response
        self.hasNext = hasNext
        self.patches = patches
    }
}

extension GraphQLUpdate: Sendable where Output: Sendable {}

extension GraphQLUpdate<JSONValue> {
    /// The current result as JSON in the form of a GraphQL response.
    public var json: JSONValue {
        var members: [String: JSONValue] = ["data": response.data ?? .null]
        if !response.errors.isEmpty { members["errors"] = .array(response.errors.map(\.raw)) }
        if !response.extensions.isEmpty { members["extensions"] = .object(response.extensions) }
        return .object(members)
    }

    /// The new parts in the form that Relay's runtime reads: one payload for each, with `is_final` in the last one.
    public var relayPayloads: [JSONValue] { patches.relayPayloads(hasNext: hasNext) }
}
