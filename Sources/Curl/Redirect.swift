import BeagleNetHTTP

/// Decides where a redirect leads and what goes there: a pure function from message, answer and policy.
///
/// libcurl's own following is off: it leaks `X-Api-Key` to other origins, keeps POST on 303 and follows to ftp.
enum Redirect {
    private static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// The next message, or nil when the response is to be handed over as it is.
    ///
    /// - Parameters:
    ///   - response: the answer to `request`.
    ///   - request: the message that was answered.
    ///   - count: redirects followed so far.
    static func next(
        after response: HTTPResponse,
        to request: TransferRequest,
        followed count: Int
    ) throws(NetworkError) -> TransferRequest? {
        let policy = request.options.redirects
        guard policy.limit > 0, statuses.contains(response.status.code), let location = response.headerFields[.location]
        else { return nil }
        guard count < policy.limit else {
            throw .redirect(.tooManyRedirects, "more than \(policy.limit) redirects", "raise RedirectPolicy.limit")
        }
        var next = request
        try move(&next.head, to: location, policy)
        rewriteMethod(&next, response.status.code)
        if let body = next.body, !body.isReplayable {
            throw .redirect(
                .badRequest,
                "a \(response.status.code) redirect asks for the body again, and a streamed body cannot be replayed",
                "make the body replayable or use RedirectPolicy.manual"
            )
        }
        if !next.head.hasSameOrigin(as: request.head) { dropCredentials(&next) }
        return next
    }

    private static func move(
        _ head: inout HTTPRequest,
        to location: String,
        _ policy: RedirectPolicy
    ) throws(NetworkError) {
        guard let base = URL(string: head.urlText),
            let url = URL(string: location, relativeTo: base)?.absoluteURL,
            let scheme = url.scheme?.lowercased()
        else {
            throw .redirect(.badURL, "the redirect's Location is no URL")
        }
        guard scheme == "http" || scheme == "https" else {
            throw .redirect(.unsupportedScheme, "the redirect leads to the scheme \(scheme)")
        }
        guard policy.allowsInsecure || !(head.scheme == "https" && scheme == "http") else {
            throw .redirect(
                .insecureRedirect,
                "the redirect leads from https to http",
                "ask the server for https, or set RedirectPolicy.allowsInsecure"
            )
        }
        guard let host = url.host(percentEncoded: true), !host.isEmpty, url.user == nil, url.password == nil else {
            throw .redirect(.badURL, "the redirect's Location names no host, or a user")
        }
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        var path = components?.percentEncodedPath ?? ""
        if path.isEmpty { path = "/" }
        if let query = components?.percentEncodedQuery { path += "?" + query }
        head.scheme = scheme
        head.authority =
            (host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host)
            + (url.port.map { ":\($0)" } ?? "")
        head.path = path
    }

    /// 303 becomes GET, 301 and 302 too where the method was POST (RFC 9110, 15.4).
    private static func rewriteMethod(_ request: inout TransferRequest, _ status: Int) {
        let method = request.head.method
        let becomesGet = status == 303 ? method != .head : (status == 301 || status == 302) && method == .post
        guard becomesGet else { return }
        request.head.method = .get
        request.body = nil
        for name in [.contentType, .contentEncoding, .contentLanguage] as [HTTPField.Name] {
            request.head.headerFields[name] = nil
        }
    }

    private static func dropCredentials(_ request: inout TransferRequest) {
        struct R { func isSecret(header: String) -> Bool { header.lowercased() == "authorization" } };
        let redactor = R()
        let scoped = request.originScopedFields
        request.head.headerFields = request.head.headerFields.filter { field in
            !scoped.contains(field.name) && !redactor.isSecret(header: field.name.rawName)
        }
    }
}

extension HTTPRequest {
    /// Whether scheme, host and port are the same (RFC 6454, 5).
    fileprivate func hasSameOrigin(as other: HTTPRequest) -> Bool {
        origin == other.origin
    }

    private var origin: String {
        let scheme = (scheme ?? "").lowercased()
        let authority = (authority ?? "").lowercased()
        let defaultPort = scheme == "https" ? ":443" : ":80"
        let host = authority.hasSuffix(defaultPort) ? String(authority.dropLast(defaultPort.count)) : authority
        return scheme + "://" + host
    }
}

extension NetworkError {
    fileprivate static func redirect(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .redirect, message, advice: advice)
    }
}
