public import BeagleNetHTTP

/// Method, body and headers that a reference to a remote screen asks for.
public struct HttpAdditionalData: RemoteScreenAdditionalData, Hashable {
    /// Method and body; nil is a GET without one.
    public var httpData: HttpData?
    /// Headers to send with the request; the builder's `additionalHeaders` win over them.
    public var headers: [String: String]

    /// Additional data of a request.
    public init(httpData: HttpData? = nil, headers: [String: String] = [:]) {
        self.httpData = httpData
        self.headers = headers
    }

    /// A method and the body sent with it.
    public struct HttpData: Sendable, Hashable {
        /// The method of a screen's request; a form's or raw request's own method goes before it.
        public var method: Method
        /// The body; no bytes are no body. Text with an expression `@{…}` that was not evaluated is refused.
        public var body: Data

        /// A method with its body.
        public init(method: Method, body: Data = Data()) {
            self.method = method
            self.body = body
        }
    }

    /// The methods that a screen may be asked for with.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// Creates or acts.
        case POST
        /// Replaces.
        case PUT
        /// Reads.
        case GET
        /// Removes.
        case DELETE
        /// Reads the head only.
        case HEAD
        /// Changes in part.
        case PATCH
    }
}

extension HttpAdditionalData: CustomStringConvertible, CustomReflectable {
    /// Method, headers and body, with their secrets replaced.
    public var description: String {
        Redactor.standard.shownMessage(
            (httpData?.method ?? .GET).rawValue,
            Redactor.standard.shown(headers),
            httpData.flatMap(\.shownBody)
        )
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HttpAdditionalData.HttpData: CustomStringConvertible, CustomReflectable {
    /// Method and body, with its secrets replaced.
    public var description: String { Redactor.standard.shownMessage(method.rawValue, "", shownBody) }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HttpAdditionalData.HttpData {
    fileprivate var shownBody: String? {
        body.isEmpty ? nil : Redactor.standard.shown(body, contentType: "application/json")
    }
}
