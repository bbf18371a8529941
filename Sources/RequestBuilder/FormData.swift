import BeagleNetHTTP

extension Request {
    /// What a form submits.
    public struct FormData: Sendable, Hashable {
        /// How the body of a POST or PUT form is written.
        public enum Encoding: Sendable, Hashable {
            /// One JSON object; a name that occurs more than once becomes an array.
            case json
            /// `application/x-www-form-urlencoded` as browsers write it, spaces as `+` (WHATWG URL Standard, 5.2).
            case urlEncoded
            /// `multipart/form-data` (RFC 7578), the only one that carries files.
            case multipart
        }

        /// How the form is submitted.
        public var method: FormRemoteAction.Method
        /// The inputs in the order in which they are sent; names may repeat.
        public var fields: [FormField]
        /// How a body is written; the query of GET and DELETE is always URL-encoded.
        public var encoding: Encoding
        /// What separates the parts of a multipart body; a random one for each message where nil.
        package var boundary: String?

        /// A form with its inputs in order.
        public init(method: FormRemoteAction.Method, fields: [FormField], encoding: Encoding = .json) {
            self.method = method
            self.fields = fields
            self.encoding = encoding
        }

        /// A form of text values, sent in the order of their names.
        public init(method: FormRemoteAction.Method, values: [String: String]) {
            let sorted = values.sorted { $0.key < $1.key }
            self.init(method: method, fields: sorted.map { FormField($0.key, $0.value) })
        }

        /// The values as text; of a name that repeats, the last. Setting it replaces all fields.
        public var values: [String: String] {
            get { Dictionary(fields.map { ($0.name, $0.value.formText) }, uniquingKeysWith: { $1 }) }
            set {
                fields = FormData(method: method, values: newValue).fields
            }
        }
    }
}

extension Request.FormData: CustomStringConvertible, CustomReflectable {
    /// Method, encoding, and the inputs as a JSON object, in which `REDACTED` stands for secrets.
    public var description: String { "\(method.rawValue) as \(encoding): \(fields.shown)" }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
