public import BeagleNetHTTP

/// Makes the HTTP message of a request, or says why it cannot be made. Pure: nothing is read or sent.
public struct HttpRequestBuilder: Sendable {
    /// Whose rules a message is built by.
    public enum Compatibility: Sendable, Hashable {
        /// Ours.
        case standard
        /// Those of Beagle 1.10.3 on the wire, for the time of a migration.
        case beagle1
    }

    /// What becomes of a form's inputs that are empty text.
    public enum EmptyFields: Sendable, Hashable {
        /// They are sent, in a query as well as in a body, as a browser does.
        case keep
        /// They are left out, of a query as well as of a body.
        case omit
    }

    /// Headers that every request to one of the app's origins carries. They win over all others of the same name in
    /// any case.
    public var additionalHeaders: [String: String] = [:]
    /// The value of `beagle-platform`; nil leaves the header out.
    public var platform: String? = "IOS"
    /// The value of `User-Agent`; nil leaves the header out.
    public var userAgent: String? = "BeagleNet/\(beagleNetVersion)"
    /// What paths are put onto, and whose origin is the app's own where `origins` is empty.
    public var baseURL: URL?
    /// The app's own origins, which alone get `additionalHeaders`. Empty: the origin of `baseURL`; without that too,
    /// every origin that the app asks. A redirect to another origin drops them in any case.
    public var origins: Set<Origin> = []
    /// What becomes of empty inputs; kept by default.
    public var emptyFields: EmptyFields = .keep
    /// Whose rules a message is built by; ours by default.
    public var compatibility: Compatibility

    /// A builder by our rules.
    public init() {
        self.init(compatibility: .standard)
    }

    /// A builder by the rules of `compatibility`.
    public init(compatibility: Compatibility) {
        self.compatibility = compatibility
    }

    /// The message of a request.
    ///
    /// - Parameter request: what the app asks.
    /// - Returns: the message and how to transfer it; `options` are the request's, else the defaults.
    /// - Throws: `NetworkError` during `.build`: `.badURL`, `.unsupportedScheme` or `.badRequest`.
    public func build(_ request: Request) throws(NetworkError) -> TransferRequest {
        throw NetworkError(.badRequest, during: .build, "not built")
    }
}
