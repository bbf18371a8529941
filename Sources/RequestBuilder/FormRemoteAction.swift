/// The action that submits a form to a server.
public enum FormRemoteAction {
    /// The methods of a form.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// Sends the values in the query.
        case get = "GET"
        /// Sends the values in the body.
        case post = "POST"
        /// Sends the values in the body.
        case put = "PUT"
        /// Sends the values in the query.
        case delete = "DELETE"
    }
}
