/// Decides where a redirect leads and what goes there: a pure function from message, answer and policy.
///
/// No engine follows by itself: libcurl leaks `X-Api-Key` to other origins, keeps POST on 303 and follows to ftp.
package enum Redirect {
    /// The next message, or nil when the response is to be handed over as it is.
    ///
    /// - Parameters:
    ///   - response: the answer to `request`.
    ///   - request: the message that was answered.
    ///   - count: redirects followed so far.
    package static func next(
        after response: RawHead,
        to request: TransferRequest,
        followed count: Int
    ) throws(NetworkError) -> TransferRequest? {
        let policy = request.options.redirects
        guard policy.limit > 0, isRedirect(response.status.code), let location = response.head.headerFields[.location]
        else { return nil }
        guard count < policy.limit else {
            throw .redirect(.tooManyRedirects, "more than \(policy.limit) redirects", "raise RedirectPolicy.limit")
        }
        guard let from = URL(string: request.head.urlText),
            // Of a whole URL the dot segments go too (RFC 3986, 5.2.2).
            let to = URL(string: location, relativeTo: from)?.absoluteURL.standardized
        else {
            throw .redirect(.badURL, "the redirect's Location is no URL")
        }
        try check(to, from: from, policy)
        if let allowed = request.allowedHosts, let host = Origin(to)?.host, !allowed.contains(host) {
            throw .redirect(.badURL, "the redirect leads to the host \(host), which is not among the allowed ones")
        }
        var next = request
        try move(&next.head, to: to)
        rewriteMethod(&next, response.status.code)
        if let body = next.body, !body.isReplayable {
            throw .redirect(
                .badRequest,
                "a \(response.status.code) redirect asks for the body again, and a streamed body cannot be replayed",
                "make the body replayable or use RedirectPolicy.manual"
            )
        }
        if Origin(to) != Origin(from) { dropCredentials(&next) }
        if next.head.authority != request.head.authority { next.head.headerFields[hostField] = nil }
        return next
    }

    private static let hostField = HTTPField.Name("Host")!

    private static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    private static func check(_ url: URL, from: URL, _ policy: RedirectPolicy) throws(NetworkError) {
        let scheme = url.scheme?.lowercased() ?? ""
        guard scheme == "http" || scheme == "https" else {
            throw .redirect(.unsupportedScheme, "the redirect leads to the scheme \(scheme)")
        }
        guard policy.allowsInsecure || !(from.scheme == "https" && scheme == "http") else {
            throw .redirect(
                .insecureRedirect,
                "the redirect leads from https to http",
                "ask the server for https, or set RedirectPolicy.allowsInsecure"
            )
        }
    }

    private static func move(_ head: inout HTTPRequest, to url: URL) throws(NetworkError) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let host = parts.encodedHost,
            !host.isEmpty, url.user == nil, url.password == nil
        else {
            throw .redirect(.badURL, "the redirect's Location names no host, or a user")
        }
        head.scheme = url.scheme?.lowercased()
        head.authority = host + (parts.port.map { ":\($0)" } ?? "")
        head.path =
            (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath)
            + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
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
        let redactor = Redactor()
        let scoped = request.originScopedFields
        request.head.headerFields = request.head.headerFields.filter { field in
            !scoped.contains(field.name) && !redactor.isSecret(header: field.name.rawName)
        }
    }
}

extension NetworkError {
    fileprivate static func redirect(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .redirect, message, advice: advice)
    }
}
