public import BeagleNetHTTP

/// The data in a reference to a remote screen in addition to its URL.
///
/// The data of every conforming type is sent, except with `Compatibility.beagle1`, which supports only
/// `HttpAdditionalData`.
public protocol RemoteScreenAdditionalData: Sendable {
    /// The type to use over HTTP.
    typealias Http = HttpAdditionalData

    /// The headers of the request.
    var headers: [String: String] { get set }

    /// The method and body, or `nil`, the default, for a GET without a body.
    var httpData: HttpAdditionalData.HttpData? { get }
}

extension RemoteScreenAdditionalData {
    /// A GET without a body.
    public var httpData: HttpAdditionalData.HttpData? { nil }
}

/// The method, body and headers in a reference to a remote screen.
public struct HttpAdditionalData: RemoteScreenAdditionalData, Hashable {
    /// The method and body, or `nil` for a GET without a body.
    public var httpData: HttpData?
    /// The headers of the request; the builder's `additionalHeaders` take precedence.
    public var headers: [String: String]

    /// Creates additional data.
    public init(httpData: HttpData? = nil, headers: [String: String] = [:]) {
        self.httpData = httpData
        self.headers = headers
    }

    /// A method with its body.
    public struct HttpData: Sendable, Hashable {
        /// The method of a request for a screen.
        ///
        /// A form or raw request uses its own method instead, except that `PATCH` replaces the POST or PUT of a form,
        /// whose own methods are the four of Beagle. `Compatibility.beagle1` doesn't have this exception.
        public var method: Method
        /// The body, or empty for no body; it is rejected if it contains an unevaluated expression `@{…}`.
        public var body: Data

        /// Creates a method with its body.
        public init(method: Method, body: Data = Data()) {
            self.method = method
            self.body = body
        }
    }

    /// The methods of a request for a screen.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// Creates a resource or performs an action.
        case POST
        /// Replaces a resource.
        case PUT
        /// Reads a resource.
        case GET
        /// Deletes a resource.
        case DELETE
        /// Reads only the head of a resource.
        case HEAD
        /// Changes part of a resource.
        case PATCH
    }
}

extension HttpAdditionalData: CustomStringConvertible, CustomReflectable {
    /// The method, headers and body, with secrets redacted.
    public var description: String {
        Redactor.standard.messageDescription(
            (httpData?.method ?? .GET).rawValue,
            Redactor.standard.redactedDescription(of: headers),
            httpData.flatMap(\.shownBody)
        )
    }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HttpAdditionalData.HttpData: CustomStringConvertible, CustomReflectable {
    /// The method and body, with secrets redacted.
    public var description: String { Redactor.standard.messageDescription(method.rawValue, "", shownBody) }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HttpAdditionalData.HttpData {
    fileprivate var shownBody: String? {
        body.isEmpty ? nil : Redactor.standard.redactedDescription(of: body, contentType: "application/json")
    }
}
