/// The action that submits a form to a server.
public enum FormRemoteAction {
    /// The methods by which a form can be submitted.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// Values go into the query.
        case get = "GET"
        /// Values go into the body.
        case post = "POST"
        /// Values go into the body.
        case put = "PUT"
        /// Values go into the query.
        case delete = "DELETE"
    }
}
