import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// A check of the requests of one screen against the container's rules.
struct ScreenRequestCheck {
    private let screen: String
    /// The screen's origin; `nil` if it isn't known.
    private let source: Origin?
    private let permissions: ScreenRequest.Rules.Permissions
    private let declared: Set<Origin>
    private let builder: HttpRequestBuilder
    private let redactor: Redactor

    /// - Parameter screen: The URL of the screen; `nil` if it isn't known.
    init(screen: String?, in container: BeagleDependencies) {
        let rules = container.screenRequestRules
        builder = container.environment.applied(to: container.httpRequestBuilder, container.redactor)
        redactor = container.redactor
        source = screen.flatMap { Origin(ofURL: $0) } ?? builder.baseURL.flatMap { Origin($0) }
        permissions = source.flatMap { rules.origins[$0] } ?? rules.standard
        declared = builder.ownOrigins
        self.screen = screen.map(redactor.redact(url:)) ?? ""
    }

    /// Checks a request.
    ///
    /// A URL that can't be sent for another reason than its scheme isn't checked: the builder refuses it.
    ///
    /// - Throws: `NetworkError` of kind `.blocked` if a rule forbids it.
    func check(_ request: RequestOfScreen) throws(NetworkError) {
        if let target = try target(of: request) {
            try checkScheme(of: target, request)
            try checkMethod(at: target, request)
        }
        try checkFields(of: request)
    }

    private func target(of request: RequestOfScreen) throws(NetworkError) -> Origin? {
        do throws(NetworkError) {
            return try WireURL(request.url, base: builder.baseURL).origin
        } catch {
            guard error.kind == .unsupportedScheme else { return nil }
            throw refusal(.scheme, request.pointers.url, error.message, "use http or https")
        }
    }

    private func checkScheme(of target: Origin, _ request: RequestOfScreen) throws(NetworkError) {
        guard permissions.schemes.contains(target.scheme) else {
            let advice = "add it to the schemes of ScreenRequest.Rules"
            throw refusal(.scheme, request.pointers.url, "the scheme \(target.scheme) is not allowed", advice)
        }
        if source?.scheme == "https", target.scheme == "http", !permissions.allowsDowngrade {
            throw refusal(
                .downgrade,
                request.pointers.url,
                "a screen with https asks for \(target)",
                "use https, or set allowsDowngrade in ScreenRequest.Rules"
            )
        }
    }

    private func checkMethod(at target: Origin, _ request: RequestOfScreen) throws(NetworkError) {
        let method = HTTPRequest.Method(request.method.uppercased())
        if request.isImage, permissions.allowsImagesOfAllHosts, method == .get, request.headers.isEmpty { return }
        guard let allowed = try methods(at: target, request) else { return }
        if let method, allowed.contains(method) { return }
        throw refusal(
            .method,
            request.pointers.method,
            "\(request.method) is not allowed at \(target)",
            target == source
                ? "add it to ownMethods of ScreenRequest.Rules"
                : "add it to otherMethods or hosts[\(target.host.debugDescription)] of ScreenRequest.Rules"
        )
    }

    /// Returns the methods that are allowed at an origin; `nil` for every method.
    private func methods(
        at target: Origin,
        _ request: RequestOfScreen
    ) throws(NetworkError) -> Set<HTTPRequest.Method>? {
        if target == source { return permissions.ownMethods }
        if let host = permissions.hosts.first(where: { Set([$0.key]).allows(host: target.host) }) { return host.value }
        if declared.isEmpty || declared.contains(target) { return permissions.otherMethods }
        throw refusal(
            .host,
            request.pointers.url,
            "\(target) is neither the screen's origin nor one of the app's",
            "add it to HttpRequestBuilder.origins if it is yours, or to the hosts of ScreenRequest.Rules"
        )
    }

    private func checkFields(of request: RequestOfScreen) throws(NetworkError) {
        for name in request.headers.keys.sorted() {
            // The builder refuses a name that isn't valid.
            guard let field = HTTPField.Name(name), isGuarded(field), !permissions.fields.contains(field) else {
                continue
            }
            throw refusal(
                .field,
                request.pointers.headers,
                "the field \(field.rawName) is not allowed",
                "let the app add it, or add it to the fields of ScreenRequest.Rules"
            )
        }
    }

    private func isGuarded(_ field: HTTPField.Name) -> Bool {
        let name = field.canonicalName
        return Self.guardedFields.contains(name) || Self.guardedPrefixes.contains { name.hasPrefix($0) }
            || redactor.isSecret(header: name)
    }

    private static let guardedPrefixes = ["proxy-", "sec-", "access-control-", "x-forwarded-"]
    private static let guardedFields: Set<String> = [
        "accept-charset", "accept-encoding", "authorization", "beagle-capabilities", "beagle-capability-list",
        "connection", "content-length", "cookie", "cookie2", "date", "dnt", "expect", "forwarded", "host",
        "http2-settings", "keep-alive", "origin", "referer", "set-cookie", "te", "trailer", "transfer-encoding",
        "upgrade", "via", "x-http-method", "x-http-method-override", "x-method-override",
    ]

    private func refusal(
        _ rule: ScreenRequest.Rules.Refusal.Rule,
        _ pointer: String,
        _ problem: String,
        _ advice: String
    ) -> NetworkError {
        let place = pointer.isEmpty ? "" : " at \(pointer)"
        return NetworkError(
            .blocked,
            during: .build,
            "the request\(place) of the screen\(screen.isEmpty ? "" : " \(screen)") is forbidden: \(problem)",
            advice: advice,
            underlying: ScreenRequest.Rules.Refusal(rule: rule, screen: screen, pointer: pointer)
        )
    }
}
