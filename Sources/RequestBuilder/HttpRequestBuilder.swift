public import BeagleNetHTTP

/// A builder of HTTP requests, which validates them but sends nothing.
///
/// If a request can't be built, the error gives the reason.
public struct HttpRequestBuilder: Sendable {
    /// The rules for building a request.
    public enum Compatibility: Sendable, Hashable {
        /// The rules of this library.
        case standard
        /// The rules of Beagle 1.10.3 on the wire, for use during a migration.
        case beagle1
    }

    /// The treatment of a form's empty text inputs.
    public enum EmptyFields: Sendable, Hashable {
        /// Sends them, in the query and in the body, as a browser does.
        case keep
        /// Omits them, from the query and from the body.
        case omit
    }

    /// The headers of every request to one of the app's origins, which take precedence over all others of the same
    /// name, ignoring case.
    public var additionalHeaders: [String: String] = [:]
    /// The headers for the origin of `baseURL` and for `origins`.
    package var environmentHeaders: [String: String] = [:]
    /// The redactor that knows which headers are secret.
    package var redactor = Redactor.standard
    /// The value of `Beagle-Capabilities` for screens of the app's own origins, or `nil` to omit the header.
    package var capabilities: String?
    /// The value of `beagle-platform`, sent only to `origins` and the origin of `baseURL`, or `nil` to omit the header.
    ///
    /// The default is `IOS` on Apple's platforms and `nil` elsewhere, because a Beagle backend rejects unknown
    /// platforms. With `.beagle1` the default is `IOS` everywhere, and the header is sent to every origin, as Beagle
    /// does.
    public var platform: String?
    /// The value of `User-Agent`, or `nil` to omit the header.
    public var userAgent: String? = "BeagleNet/\(beagleNetVersion)"
    /// The base URL of paths, whose origin is the app's own if `origins` is empty.
    public var baseURL: URL?
    /// The app's own origins, which alone receive `additionalHeaders`.
    ///
    /// If it is empty, only the origin of `baseURL` receives them. Without a base URL, every origin receives them; a
    /// credential among them, such as `Authorization` or `X-Api-Key`, is then a build error. A redirect to another
    /// origin always removes them.
    public var origins: Set<Origin> = []
    /// The only hosts that requests and redirects may reach, in lower case, or `nil` to allow all hosts.
    ///
    /// Set it if URLs come from a server.
    public var allowedHosts: Set<String>?
    /// The encoder of `Encodable` bodies, a plain `JSONEncoder` by default.
    public var bodyEncoder: any BodyEncoder = JSONEncoder()
    /// The treatment of empty inputs, which are sent by default.
    public var emptyFields: EmptyFields = .keep
    /// The rules for building a request, those of this library by default.
    public var compatibility: Compatibility

    /// Creates a builder with the rules of this library.
    public init() {
        self.init(compatibility: .standard)
    }

    /// Creates a builder with the rules of `compatibility`.
    public init(compatibility: Compatibility) {
        self.compatibility = compatibility
        platform = compatibility == .beagle1 ? "IOS" : Self.defaultPlatform
    }

    #if canImport(Darwin)
        private static let defaultPlatform: String? = "IOS"
    #else
        private static let defaultPlatform: String? = nil
    #endif

    /// Builds the HTTP request.
    ///
    /// GET, HEAD and TRACE with a body are rejected, and so is a request with two bodies. `Content-Type` is sent only
    /// with a body. Headers of the same name, ignoring case, replace each other in this order: the builder's defaults,
    /// then those of `additionalData`, of `RequestData`, of a `BeagleEnvironment`, and `additionalHeaders`.
    ///
    /// An unevaluated expression `@{…}` is rejected in the URL, in headers and in the body of `additionalData`, which
    /// come with a screen. It is allowed in the values of forms and the bodies of raw requests, because a user may have
    /// typed it.
    ///
    /// Only the sizes of files in a multipart form are read here.
    ///
    /// - Parameter request: The app's request.
    /// - Returns: The HTTP request and how to transfer it. Its `options` are those of `request`, or the defaults.
    /// - Throws: `NetworkError` during `.build`: `.badURL`, `.unsupportedScheme` or `.badRequest`, or `.file` if a
    ///   form's file can't be read.
    public func build(_ request: Request) throws(NetworkError) -> TransferRequest {
        try build(request, options: .standard, .collect)
    }

    /// Builds the HTTP request, with these options if `request` has none of its own.
    package func build(
        _ request: Request,
        options: TransferOptions,
        _ delivery: TransferRequest.Delivery
    ) throws(NetworkError) -> TransferRequest {
        guard capabilities != nil, case .fetchComponent = request.type else {
            return try compatible(request, options, delivery)
        }
        var message = try compatible(request, options, delivery)
        addCapabilities(to: &message)
        return message
    }

    private func compatible(
        _ request: Request,
        _ options: TransferOptions,
        _ delivery: TransferRequest.Delivery
    ) throws(NetworkError) -> TransferRequest {
        switch compatibility {
        case .standard: try standard(request, options, delivery)
        case .beagle1: try beagle1(request, options, delivery)
        }
    }

    private func standard(
        _ request: Request,
        _ options: TransferOptions,
        _ delivery: TransferRequest.Delivery
    ) throws(NetworkError) -> TransferRequest {
        var url = try target(of: request)
        var (screen, screenHeaders): (HttpAdditionalData.HttpData?, [String: String]) = (nil, [:])
        if let additional = request.additionalData {
            (screen, screenHeaders) = (additional.httpData, additional.headers)
        }
        let content = try content(of: request, screen)
        url.append(content.items)
        url.append(request.query)
        var headers = HeaderList()
        headers.add(content.accepted)
        let sentPlatform = platform != nil && declares(url.origin) ? platform : nil
        if let sentPlatform { try headers.add(.defaultPlatform, or: sentPlatform) }
        if let userAgent { try headers.add(.defaultUserAgent, or: userAgent) }
        if let contentType = content.contentType { try headers.add(.contentType, checking: contentType) }
        try headers.set(screenHeaders)
        if let own = content.headers { try headers.set(own) }
        let environment = environmentHeaders(for: url)
        let additional = additionalHeaders(for: url)
        if !declaresOrigins {
            try checkForCredentials(environment, "the environment's headers")
            try checkForCredentials(additional, "additionalHeaders")
        }
        try headers.set(environment)
        try headers.set(additional)
        if content.body == nil { headers.remove(.contentType) }
        var scoped = environment.isEmpty ? additional : environment.merging(additional) { $1 }
        if let sentPlatform { scoped[HTTPField.Name.beaglePlatform.rawName] = sentPlatform }
        return message(request, url, content.method, headers, content.body, scoped: scoped, options, delivery)
    }

    /// Returns the request's URL if its host is allowed.
    func target(of request: Request) throws(NetworkError) -> WireURL {
        let url = try WireURL(request.url, base: baseURL)
        if let allowedHosts, !allowedHosts.allows(host: url.host) {
            throw .badURL(
                "the host \(url.host) is not in allowedHosts",
                "add it to allowedHosts if it is yours"
            )
        }
        return url
    }

    /// Whether the app declares its own origins.
    var declaresOrigins: Bool { !origins.isEmpty || baseURL != nil }

    /// Returns the app's headers if the URL's origin may receive them.
    private func additionalHeaders(for url: WireURL) -> [String: String] {
        if additionalHeaders.isEmpty { return [:] }
        let origin = url.origin
        guard origins.isEmpty else { return origins.contains(origin) ? additionalHeaders : [:] }
        if let baseURL { return Origin(baseURL) == origin ? additionalHeaders : [:] }
        return additionalHeaders
    }

    /// Throws an error if headers that may be sent to any origin contain a credential.
    func checkForCredentials(_ headers: [String: String], _ holder: String) throws(NetworkError) {
        if headers.isEmpty { return }
        let names = headers.keys.compactMap(HTTPField.Name.init(_:)).map(\.rawName).sorted()
        if let name = names.first(where: { redactor.isSecret(header: $0) }) {
            throw .undeclaredOrigins("\(holder) contain the credential \(name)")
        }
    }

    /// Returns the environment's headers if the URL's origin may receive them.
    func environmentHeaders(for url: WireURL) -> [String: String] {
        environmentHeaders.isEmpty || (declaresOrigins && !declares(url.origin)) ? [:] : environmentHeaders
    }

    /// Returns whether an origin is one of `origins` or that of `baseURL`.
    func declares(_ origin: Origin) -> Bool {
        origins.contains(origin) || baseURL.map { Origin($0) == origin } ?? false
    }

    /// Returns the options of a request.
    ///
    /// If the app declares its origins, the client's credentials and certificate are only for these.
    private func options(of request: Request, _ standard: TransferOptions, for url: WireURL) -> TransferOptions {
        var options = request.options ?? standard
        guard compatibility == .standard, let extras = standard.extras,
            extras.authentication != nil || extras.identity != nil,
            declaresOrigins, !declares(url.origin)
        else { return options }
        if options.authentication == standard.authentication { options.authentication = nil }
        if options.identity == standard.identity { options.identity = nil }
        return options
    }

    func message(
        _ request: Request,
        _ url: WireURL,
        _ method: HTTPRequest.Method,
        _ headers: HeaderList,
        _ body: HTTPBody?,
        scoped: [String: String],
        _ options: TransferOptions,
        _ delivery: TransferRequest.Delivery
    ) -> TransferRequest {
        TransferRequest(
            HTTPRequest(
                method: method,
                scheme: url.scheme,
                authority: url.authority,
                path: url.target,
                headerFields: headers.fields
            ),
            body: body,
            options: self.options(of: request, options, for: url),
            delivery: delivery,
            originScopedFields: scoped.isEmpty ? [] : Set(scoped.keys.compactMap(HTTPField.Name.init(_:))),
            allowedHosts: allowedHosts
        )
    }
}

extension HttpRequestBuilder {
    /// Adds the hash of the app's capabilities to a request for a screen, if its origin is declared.
    ///
    /// The field is part of the message that a client compares, so that two versions of an app never share a screen.
    func addCapabilities(to message: inout TransferRequest) {
        guard let capabilities, declares(Origin(of: message.head)) else { return }
        message.head.headerFields[.beagleCapabilities] = capabilities
        message.originScopedFields.insert(.beagleCapabilities)
    }
}

extension HTTPField.Name {
    /// The name of the header with the platform for which a Beagle backend creates its screens.
    static let beaglePlatform = HTTPField.Name("beagle-platform")!
}

extension HTTPField {
    fileprivate static let defaultPlatform = HTTPField(name: .beaglePlatform, value: "IOS")
    fileprivate static let defaultUserAgent = HTTPField(name: .userAgent, value: "BeagleNet/\(beagleNetVersion)")
}

extension HttpRequestBuilder: CustomStringConvertible, CustomReflectable {
    /// The base URL and headers, with secrets redacted.
    public var description: String {
        let base = baseURL.map { "HttpRequestBuilder for \(redactor.redact(url: $0))" } ?? "HttpRequestBuilder"
        return redactor.messageDescription(
            base,
            redactor.redactedDescription(of: environmentHeaders.merging(additionalHeaders) { $1 }),
            nil
        )
    }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
