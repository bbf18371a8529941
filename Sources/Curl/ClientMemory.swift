import BeagleNetHTTP

/// What a client remembers from one message to the next.
struct ClientMemory {
    let cookies: CookieJar?
    let hsts: HSTSStore?

    /// nil where it remembers nothing.
    init?(_ configuration: CurlConfiguration) {
        (cookies, hsts) = (configuration.cookies, configuration.hsts)
        if cookies == nil && hsts == nil { return nil }
    }

    /// Whether a message for http goes out over https.
    func upgrades(_ head: HTTPRequest) -> Bool {
        head.scheme == "http" && hsts?.covers(Origin(of: head).host) == true
    }

    /// The `Cookie` field of a message.
    func cookieField(of request: TransferRequest) -> String? {
        let own = request.head.headerFields[.cookie]
        guard let cookies, request.options.extras?.usesCookies != false else { return own }
        return cookies.field(for: request.head, own: own)
    }

    /// Takes what the answer to a message says of later ones.
    func take(_ response: RawHead, to request: TransferRequest) {
        let fields = response.head.headerFields
        if request.options.extras?.usesCookies != false { cookies?.take(from: fields, of: request.head) }
        hsts?.take(from: fields, of: request.head)
    }
}
