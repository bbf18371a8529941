/// The rules for following redirects: they decide where a redirect leads and which request is sent there.
///
/// No transport follows redirects by itself: libcurl leaks `X-Api-Key` to other origins, keeps POST on 303 and follows
/// redirects to ftp.
package enum Redirect {
    /// Returns the next request, or `nil` if the response must be returned to the caller as it is.
    ///
    /// - Parameters:
    ///   - response: The response to `request`.
    ///   - request: The request that was redirected.
    ///   - count: The number of redirects followed so far.
    ///   - hsts: The hosts that require https. A redirect to such a host over http is changed to https.
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
            throw .redirect(
                .tooManyRedirects,
                "the server sent more than \(policy.limit) redirects",
                "increase RedirectPolicy.limit"
            )
        }
        let named = try target(of: location, from: request.head)
        let isUpgraded = named.scheme == "http" && hsts?.requiresHTTPS(named.origin.host) == true
        let to = isUpgraded ? named.upgradedToHTTPS : named
        try check(to, request)
        var next = request
        next.head.scheme = to.scheme
        next.head.authority = to.authority
        next.head.path = to.target
        rewriteMethod(&next, response.status.code)
        removeScopedFields(of: request, in: &next, at: to.origin)
        if let decide = policy.decide {
            let proposal = TransferOptions.RedirectPolicy.Proposal(
                response: response.head,
                redirected: request.head,
                next: next.head,
                followed: count
            )
            switch decide(proposal) {
            case .follow: break
            case .followChanged(let head): try change(&next, to: head, after: request)
            case .returnRedirect: return nil
            case .refuse(let reason): throw .redirect(.blocked, reason, "check the app's RedirectPolicy")
            }
        }
        if let body = next.body, !body.isReplayable {
            throw .redirect(
                .badRequest,
                "a \(response.status.code) redirect requires sending the body again, but the body cannot be replayed",
                "make the body replayable or use RedirectPolicy.manual"
            )
        }
        return next
    }

    private static let hostField = HTTPField.Name("Host")!

    /// Returns the value of `Location`, with bytes that aren't UTF-8 percent-encoded.
    private static func location(of response: HTTPResponse) throws(NetworkError) -> String? {
        // One of them may have been injected (RFC 9110, 10.2.2).
        guard !response.headerFields.differ(in: .location) else {
            throw .redirect(.protocol, "the redirect has two different Location fields", "check the server")
        }
        return response.headerFields.single(.location)?.opaqueValue.encodingOpaqueBytes
    }

    private static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Returns the URL in `Location`.
    ///
    /// An empty value means the requested URL (RFC 3986, 5.2.2): some servers set a cookie and redirect the client to
    /// the same URL.
    private static func target(of location: String, from head: HTTPRequest) throws(NetworkError) -> WireURL {
        do {
            return try WireURL(URLReference(location).resolved(against: head))
        } catch {
            throw .redirect(error.kind, "the redirect's Location cannot be followed: \(error.message)")
        }
    }

    private static func check(_ url: WireURL, _ request: TransferRequest) throws(NetworkError) {
        let leavesHTTPS = request.head.scheme == "https" && url.scheme == "http"
        guard request.options.redirects.allowsInsecure || !leavesHTTPS else {
            throw .redirect(
                .insecureRedirect,
                "the redirect leads from https to http",
                "make the server redirect to https, or set RedirectPolicy.allowsInsecure"
            )
        }
        if let allowed = request.allowedHosts, !allowed.allows(host: url.host) {
            throw .redirect(.badURL, "the redirect leads to the host \(url.host), which is not in allowedHosts")
        }
    }

    /// Returns whether the redirected request becomes a GET: after 303, unless it was a HEAD, and after 301 or 302 if
    /// it was a POST (RFC 9110, 15.4).
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

    /// Removes anything that must not be sent to the new destination.
    ///
    /// At another origin, these are fields with credentials and the client certificate; at another authority, `Host`.
    /// Only fields that are unchanged from `request` are removed.
    private static func removeScopedFields(
        of request: TransferRequest,
        in next: inout TransferRequest,
        at origin: Origin
    ) {
        let fields = request.head.headerFields
        if origin != Origin(of: request.head) {
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

    /// Replaces the proposed request with the app's own, under the same rules.
    private static func change(
        _ next: inout TransferRequest,
        to head: HTTPRequest,
        after request: TransferRequest
    ) throws(NetworkError) {
        let to: WireURL
        do {
            to = try WireURL(originOf: head)
        } catch {
            throw .redirect(error.kind, "the RedirectPolicy's request cannot be sent: \(error.message)", error.advice)
        }
        try check(to, request)
        if head.method != next.head.method, head.method == .get || head.method == .head { next.body = nil }
        next.head = head
        // A field that the app sets explicitly has precedence.
        if head.headerFields.contains(.authorization), next.options.extras?.authentication != nil {
            next.options.authentication = nil
        }
        removeScopedFields(of: request, in: &next, at: to.origin)
    }
}

extension NetworkError {
    fileprivate static func redirect(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .redirect, message, advice: advice)
    }
}
