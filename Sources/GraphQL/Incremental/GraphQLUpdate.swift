public import BeagleNet

/// What there is so far of an answer that comes in pieces.
public struct GraphQLUpdate<Output> {
    /// All that came, put together: what the answer would be if it came whole and had no more in it.
    public var response: GraphQLResponse<Output>
    /// Whether more is to come: another update, or an error that says what is missing.
    public var hasNext: Bool
    /// What is new, in the order in which it came: items as they come, and a fragment that was announced when it is complete.
    public var patches: [GraphQLPatch]

    /// An update.
    public init(response: GraphQLResponse<Output>, hasNext: Bool = false, patches: [GraphQLPatch] = []) {
        self.response = response
        self.hasNext = hasNext
        self.patches = patches
    }
}

extension GraphQLUpdate: Sendable where Output: Sendable {}

extension GraphQLUpdate<JSONValue> {
    /// The answer so far as JSON of GraphQL's form.
    public var json: JSONValue {
        var members: [String: JSONValue] = ["data": response.data ?? .null]
        if !response.errors.isEmpty { members["errors"] = .array(response.errors.map(\.raw)) }
        if !response.extensions.isEmpty { members["extensions"] = .object(response.extensions) }
        return .object(members)
    }

    /// What is new in the form that Relay's runtime reads: one payload for each piece, `is_final` in the last of all.
    public var relayPayloads: [JSONValue] { patches.relayPayloads(hasNext: hasNext) }
}
