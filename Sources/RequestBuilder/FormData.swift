import BeagleNetHTTP

extension Request {
    /// The data of a form to submit.
    public struct FormData: Sendable, Hashable {
        /// The encoding of the body of a POST or PUT form.
        public enum Encoding: Sendable, Hashable {
            /// One JSON object; the values of a repeated name become an array.
            case json
            /// `application/x-www-form-urlencoded` as browsers write it, with spaces as `+` (WHATWG URL Standard, 5.2).
            case urlEncoded
            /// `multipart/form-data` (RFC 7578), the only encoding that supports files.
            case multipart
        }

        /// The method of the form.
        public var method: FormRemoteAction.Method
        /// The inputs in the order in which they are sent; names may repeat.
        public var fields: [FormField]
        /// The encoding of the body; the query of GET and DELETE is always URL-encoded.
        public var encoding: Encoding
        /// The boundary of a multipart body, or `nil` to use a random one for each request.
        package var boundary: String?

        /// Creates a form with ordered inputs.
        public init(method: FormRemoteAction.Method, fields: [FormField], encoding: Encoding = .json) {
            self.method = method
            self.fields = fields
            self.encoding = encoding
        }

        /// Creates a form with text values, which are sent in the order of their names.
        public init(method: FormRemoteAction.Method, values: [String: String]) {
            let sorted = values.sorted { $0.key < $1.key }
            self.init(method: method, fields: sorted.map { FormField($0.key, $0.value) })
        }

        /// The values as text, with only the last value of a repeated name; setting it replaces all fields.
        public var values: [String: String] {
            get { Dictionary(fields.map { ($0.name, $0.value.formText) }, uniquingKeysWith: { $1 }) }
            set {
                fields = FormData(method: method, values: newValue).fields
            }
        }
    }
}

extension Request.FormData: CustomStringConvertible, CustomReflectable {
    /// The method, encoding, and the inputs as a JSON object, with `REDACTED` in place of secrets.
    public var description: String { "\(method.rawValue) as \(encoding): \(fields.shown)" }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

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
