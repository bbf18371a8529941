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
    /// Headers for the origin of `baseURL` and for `origins`.
    package var environmentHeaders: [String: String] = [:]
    /// The value of `beagle-platform`, sent to `origins` and the origin of `baseURL` only; `nil` leaves the header out.
    ///
    /// The default is `IOS` on Apple's platforms and `nil` elsewhere: a Beagle backend refuses platforms that it doesn't
    /// know. With `.beagle1` the default is `IOS` everywhere, and the header is sent to every origin, as Beagle does.
    public var platform: String?
    /// The value of `User-Agent`; nil leaves the header out.
    public var userAgent: String? = "BeagleNet/\(beagleNetVersion)"
    /// What paths are put onto, and whose origin is the app's own where `origins` is empty.
    public var baseURL: URL?
    /// The app's own origins, which alone get `additionalHeaders`. Empty: the origin of `baseURL`; without that too,
    /// every origin that the app asks, and then a credential among them, as `Authorization` or `X-Api-Key`, is a build
    /// error. A redirect to another origin drops them in any case.
    public var origins: Set<Origin> = []
    /// The only hosts that may be asked, in lower case, also by a redirect; nil lets any be asked. URLs often come from
    /// a server.
    public var allowedHosts: Set<String>?
    /// What writes `Encodable` values in bodies; a plain `JSONEncoder` by default.
    public var bodyEncoder: any BodyEncoder = JSONEncoder()
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
        platform = compatibility == .beagle1 ? "IOS" : Self.usualPlatform
    }

    #if canImport(Darwin)
        private static let usualPlatform: String? = "IOS"
    #else
        private static let usualPlatform: String? = nil
    #endif

    /// The message of a request.
    ///
    /// A body on GET, HEAD or TRACE is refused, and so are two bodies; `Content-Type` goes out only with a body.
    /// Headers of one name, in any case, replace each other in this order: ours, those of `additionalData`, of
    /// `RequestData`, of a `BeagleEnvironment`, `additionalHeaders`.
    ///
    /// An expression `@{…}` that was not evaluated is refused in the URL, in headers and in the body of `additionalData`,
    /// which come with a screen. Values of forms and bodies of raw requests are data: a person may have typed it.
    ///
    /// Of the files in a multipart form no more than their sizes are read here.
    ///
    /// - Parameter request: what the app asks.
    /// - Returns: the message and how to transfer it; `options` are the request's, else the defaults.
    /// - Throws: `NetworkError` during `.build`: `.badURL`, `.unsupportedScheme` or `.badRequest`, and `.file` where a form's file
    ///   cannot be read.
    public func build(_ request: Request) throws(NetworkError) -> TransferRequest {
        try build(request, options: .standard, .collect)
    }

    /// The message of a request, with these options where it has none of its own.
    package func build(
        _ request: Request,
        options: TransferOptions,
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
        var (screen, headersOfScreen): (HttpAdditionalData.HttpData?, [String: String]) = (nil, [:])
        if let additional = request.additionalData {
            (screen, headersOfScreen) = (additional.httpData, additional.headers)
        }
        let content = try content(of: request, screen)
        url.append(content.items)
        url.append(request.query)
        var headers = HeaderList()
        headers.add(content.accepted)
        let sentPlatform = platform != nil && declares(url.origin) ? platform : nil
        if let sentPlatform { try headers.add(.usualPlatform, or: sentPlatform) }
        if let userAgent { try headers.add(.usualUserAgent, or: userAgent) }
        if let contentType = content.contentType { try headers.add(.contentType, checking: contentType) }
        try headers.set(headersOfScreen)
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

    /// The request's URL, if it may be asked.
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

    /// Whether the app says which origins are its own.
    var declaresOrigins: Bool { !origins.isEmpty || baseURL != nil }

    /// The headers of the app that a URL's origin may have.
    private func additionalHeaders(for url: WireURL) -> [String: String] {
        if additionalHeaders.isEmpty { return [:] }
        let origin = url.origin
        guard origins.isEmpty else { return origins.contains(origin) ? additionalHeaders : [:] }
        if let baseURL { return Origin(baseURL) == origin ? additionalHeaders : [:] }
        return additionalHeaders
    }

    /// Refuses headers that may go to any origin and hold a credential.
    func checkForCredentials(_ headers: [String: String], _ holder: String) throws(NetworkError) {
        if headers.isEmpty { return }
        let redactor = Redactor()
        let names = headers.keys.compactMap(HTTPField.Name.init(_:)).map(\.rawName).sorted()
        if let name = names.first(where: { redactor.isSecret(header: $0) }) {
            throw .undeclaredOrigins("\(holder) contain the credential \(name)")
        }
    }

    /// The headers of the environment that a URL's origin may have.
    func environmentHeaders(for url: WireURL) -> [String: String] {
        environmentHeaders.isEmpty || (declaresOrigins && !declares(url.origin)) ? [:] : environmentHeaders
    }

    /// Whether an origin is among `origins`, or is that of `baseURL`.
    private func declares(_ origin: Origin) -> Bool {
        origins.contains(origin) || baseURL.map { Origin($0) == origin } ?? false
    }

    /// The options of a message. Credentials and the certificate of the client are for the origins that the app declares, if it
    /// declares any.
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

extension HTTPField.Name {
    /// The platform that a Beagle backend makes its screens for.
    static let beaglePlatform = HTTPField.Name("beagle-platform")!
}

extension HTTPField {
    fileprivate static let usualPlatform = HTTPField(name: .beaglePlatform, value: "IOS")
    fileprivate static let usualUserAgent = HTTPField(name: .userAgent, value: "BeagleNet/\(beagleNetVersion)")
}

extension HttpRequestBuilder: CustomStringConvertible, CustomReflectable {
    /// Base URL and headers, with their secrets replaced.
    public var description: String {
        let redactor = Redactor.standard
        let base = baseURL.map { "HttpRequestBuilder for \(redactor.redact(url: $0))" } ?? "HttpRequestBuilder"
        return redactor.shownMessage(base, redactor.shown(environmentHeaders.merging(additionalHeaders) { $1 }), nil)
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
