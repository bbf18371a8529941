import BeagleNetHTTP

extension JSONValue {
    /// The value as a query or URL-encoded form writes it: text as it is, null as nothing, the rest as JSON.
    var formText: String {
        switch self {
        case .null: ""
        case .string(let text): text
        default: description
        }
    }
}
