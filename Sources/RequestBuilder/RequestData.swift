import BeagleNetHTTP

extension Request {
    /// Method, headers and body of a raw request.
    public struct RequestData: Sendable {
        /// The method; nil is the one of `additionalData`, else GET. The methods of RFC 9110 and PATCH may be in any
        /// case.
        public var method: String?
        /// Headers of this request; they go before those of `additionalData`.
        public var headers: [String: String]?
        /// What is sent as the body.
        public var content: RequestBody?

        /// A raw request whose body is of a stated kind.
        public init(method: String? = "GET", headers: [String: String]? = [:], body: RequestBody) {
            self.method = method
            self.headers = headers
            content = body
        }

        // Disfavoured: with BeagleNetURLSession imported a tree goes to the initialiser there. This one would be chosen
        // for a `[String: Any]` as well, and knows no `NSNumber`.
        /// A raw request whose body, if there is one, is sent as JSON.
        ///
        /// - Parameters:
        ///   - method: the method, `GET` by default.
        ///   - headers: headers of this request.
        ///   - body: a tree of dictionaries with text keys, arrays, text, numbers, truth values and `Encodable`
        ///     values. What has no JSON form is a build error that names its place.
        @_disfavoredOverload
        public init(method: String? = "GET", headers: [String: String]? = [:], body: (any Sendable)? = nil) {
            self.method = method
            self.headers = headers
            content = body.map { $0 as? RequestBody ?? .value($0) }
        }

        /// The body as code that knows no `RequestBody` reads it: what was given, JSON as a tree of Swift values, text
        /// and bytes as `Data`, nil where it is not in memory.
        public var body: Any? {
            switch content?.content {
            case nil: nil
            case .json(let value): value.tree
            case .tree(let tree): tree.any
            case .value(let value): value
            case .encodable(let value, _): value
            case .form(let fields), .multipart(let fields, _): fields
            case .http(let body): body.data
            }
        }
    }
}

extension Request.RequestData: CustomStringConvertible, CustomReflectable {
    /// Method, headers and body, with their secrets replaced.
    public var description: String { shown(for: nil) }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Request.RequestData {
    /// - Parameter url: what is asked, without secrets.
    func shown(for url: String?) -> String {
        let line = [method ?? "GET", url].compactMap(\.self).joined(separator: " ")
        return Redactor.standard.shownMessage(line, Redactor.standard.shown(headers ?? [:]), content?.description)
    }
}
