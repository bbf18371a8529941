import BeagleNetHTTP

extension Request {
    /// The method, headers and body of a raw request.
    public struct RequestData: Sendable {
        /// The method, in any case for those of RFC 9110 and PATCH, or `nil` to use that of `additionalData` or else
        /// GET.
        public var method: String?
        /// The headers of this request, which take precedence over those of `additionalData`.
        public var headers: [String: String]?
        /// The body.
        public var content: Body?

        /// Creates a raw request with a typed body.
        public init(method: String? = "GET", headers: [String: String]? = [:], body: Body) {
            self.method = method
            self.headers = headers
            content = body
        }

        // Disfavored: if BeagleNetURLSession is imported, a tree uses the initializer there. Otherwise this one would
        // also be chosen for a `[String: Any]`, and it doesn't support `NSNumber`.
        /// Creates a raw request whose body, if any, is sent as JSON.
        ///
        /// - Parameters:
        ///   - method: The method, `GET` by default.
        ///   - headers: The headers of this request.
        ///   - body: A tree of dictionaries with text keys, arrays, text, numbers, Booleans and `Encodable` values. A
        ///     value without a JSON representation is a build error that locates it.
        @_disfavoredOverload
        public init(method: String? = "GET", headers: [String: String]? = [:], body: (any Sendable)? = nil) {
            self.method = method
            self.headers = headers
            content = body.map { $0 as? Body ?? .value($0) }
        }

        /// The body for code that doesn't use `Request.Body`.
        ///
        /// It is the value that was passed, JSON as a tree of Swift values, text and bytes as `Data`, or `nil` if the
        /// body isn't in memory.
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
    /// The method, headers and body, with secrets redacted.
    public var description: String { shown(for: nil) }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Request.RequestData {
    /// Returns a description with a URL.
    ///
    /// - Parameter url: The URL without secrets.
    func shown(for url: String?) -> String {
        let line = [method ?? "GET", url].compactMap(\.self).joined(separator: " ")
        return Redactor.standard.messageDescription(
            line,
            Redactor.standard.redactedDescription(of: headers ?? [:]),
            content?.description
        )
    }
}
