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
    ///   - hsts: what is known of hosts that want https alone; a redirect to http leads to https there.
    package static func next(
        after response: RawHead,
        to request: TransferRequest,
        followed count: Int,
        hsts: HSTSStore? = nil
    ) throws(NetworkError) -> TransferRequest? {
        let policy = request.options.redirects
        guard policy.limit > 0, isRedirect(response.status.code), let location = try location(of: response.head)
        else { return nil }
        guard count < policy.limit else {
            throw .redirect(.tooManyRedirects, "more than \(policy.limit) redirects", "raise RedirectPolicy.limit")
        }
        guard let from = URL(string: request.head.urlText),
            // Of a whole URL the dot segments go too (RFC 3986, 5.2.2).
            let named = URL(string: location, relativeTo: from)?.absoluteURL.standardized
        else {
            throw .redirect(.badURL, "the redirect's Location is no URL")
        }
        let to = hsts.flatMap { upgraded(named, by: $0) } ?? named
        try check(to, from: from, request)
        var next = request
        try move(&next.head, to: to)
        rewriteMethod(&next, response.status.code)
        leaveBehind(of: request, from: from, in: &next, at: to)
        if let decide = policy.decide {
            let proposal = RedirectPolicy.Proposal(
                response: response.head,
                answered: request.head,
                next: next.head,
                followed: count
            )
            switch decide(proposal) {
            case .follow: break
            case .followChanged(let head): try change(&next, to: head, after: request)
            case .handOver: return nil
            case .refuse(let reason): throw .redirect(.blocked, reason, "ask whoever wrote the RedirectPolicy")
            }
        }
        if let body = next.body, !body.isReplayable {
            throw .redirect(
                .badRequest,
                "a \(response.status.code) redirect asks for the body again, and a streamed body cannot be replayed",
                "make the body replayable or use RedirectPolicy.manual"
            )
        }
        return next
    }

    private static let hostField = HTTPField.Name("Host")!

    /// The text of `Location`, with percent-encoded bytes in the place of those that aren't UTF-8.
    private static func location(of response: HTTPResponse) throws(NetworkError) -> String? {
        // One of them may have been put there by somebody else (RFC 9110, 10.2.2).
        guard !response.headerFields.differ(in: .location) else {
            throw .redirect(.protocol, "the redirect has two Location fields that differ", "look at the server")
        }
        return response.headerFields.single(.location)?.opaqueValue.encodingOpaqueBytes
    }

    private static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// nil where nothing is known of the host.
    private static func upgraded(_ url: URL, by hsts: HSTSStore) -> URL? {
        guard let origin = Origin(url), origin.scheme == "http", hsts.covers(origin.host),
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return nil }
        parts.scheme = "https"
        if parts.port == 80 { parts.port = nil }
        return parts.url
    }

    private static func check(_ url: URL, from: URL, _ request: TransferRequest) throws(NetworkError) {
        let scheme = url.scheme?.lowercased() ?? ""
        guard scheme == "http" || scheme == "https" else {
            throw .redirect(.unsupportedScheme, "the redirect leads to the scheme \(scheme)")
        }
        guard request.options.redirects.allowsInsecure || !(from.scheme == "https" && scheme == "http") else {
            throw .redirect(
                .insecureRedirect,
                "the redirect leads from https to http",
                "ask the server for https, or set RedirectPolicy.allowsInsecure"
            )
        }
        if let allowed = request.allowedHosts, let host = Origin(url)?.host, !allowed.contains(host) {
            throw .redirect(.badURL, "the redirect leads to the host \(host), which is not among the allowed ones")
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

    /// Whether a GET takes a message's place after this status: after 303, and after 301 and 302 where it was a POST
    /// (RFC 9110, 15.4).
    package static func becomesGet(_ method: HTTPRequest.Method, after status: Int) -> Bool {
        switch status {
        case 303: method != .head
        case 301, 302: method == .post
        default: false
        }
    }

    private static func rewriteMethod(_ request: inout TransferRequest, _ status: Int) {
        guard becomesGet(request.head.method, after: status) else { return }
        request.head.method = .get
        request.body = nil
        for name in [.contentType, .contentEncoding, .contentLanguage] as [HTTPField.Name] {
            request.head.headerFields[name] = nil
        }
    }

    /// Takes out what must not go where a message goes: fields that it has of `request`, at another origin those that
    /// hold credentials and the client's certificate, and at another host `Host`.
    private static func leaveBehind(of request: TransferRequest, from: URL, in next: inout TransferRequest, at to: URL)
    {
        let fields = request.head.headerFields
        if Origin(to) != Origin(from) {
            let redactor = Redactor.standard
            let scoped = request.originScopedFields
            next.head.headerFields = next.head.headerFields.filter { field in
                let isSecret = scoped.contains(field.name) || redactor.isSecret(header: field.name.rawName)
                return !isSecret || !fields[values: field.name].contains(field.value)
            }
            next.options.dropCredentials()
        }
        if next.head.authority != request.head.authority, next.head.headerFields[hostField] == fields[hostField] {
            next.head.headerFields[hostField] = nil
        }
    }

    /// Puts the message of the app's own in the place of the proposed one, under the same rules.
    private static func change(
        _ next: inout TransferRequest,
        to head: HTTPRequest,
        after request: TransferRequest
    ) throws(NetworkError) {
        guard let from = URL(string: request.head.urlText), let to = URL(string: head.urlText) else {
            throw .redirect(.badURL, "the URL that the RedirectPolicy led to is none")
        }
        try check(to, from: from, request)
        if head.method != next.head.method, head.method == .get || head.method == .head { next.body = nil }
        next.head = head
        // What the app writes itself counts.
        if head.headerFields.contains(.authorization), next.options.extras?.authentication != nil {
            next.options.authentication = nil
        }
        leaveBehind(of: request, from: from, in: &next, at: to)
    }
}

extension NetworkError {
    fileprivate static func redirect(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .redirect, message, advice: advice)
    }
}
