import BeagleNetHTTP

/// What a client remembers from one message to the next.
struct ClientMemory {
    let cookies: CookieJar?
    let hsts: HSTSStore?
    let altSvc: AltSvcStore?

    /// nil where it remembers nothing.
    init?(_ configuration: CurlConfiguration) {
        (cookies, hsts, altSvc) = (configuration.cookies, configuration.hsts, configuration.altSvc)
        if cookies == nil && hsts == nil && altSvc == nil { return nil }
    }

    /// Whether a message for http goes out over https.
    func upgrades(_ head: HTTPRequest) -> Bool {
        head.scheme == "http" && hsts?.covers(Origin(of: head).host) == true
    }

    /// Who is asked in the place of a message's origin; nil where that is the origin itself.
    func alternative(for request: TransferRequest) -> AltSvcStore.Service? {
        guard let altSvc else { return nil }
        if let extras = request.options.extras {
            if extras.unixSocket != nil || !extras.overrides.isEmpty { return nil }
            if case .through = extras.proxy { return nil }
        }
        let (asked, capabilities) = (request.options.version, CurlCapabilities.current)
        return altSvc.service(for: request.head) { version in
            switch version {
            case .http2: asked != .http1 && capabilities.contains(.http2)
            case .http3: (asked == .automatic || asked == .http3) && capabilities.contains(.http3)
            case .automatic, .http1: false
            }
        }
    }

    /// The `Cookie` field of a message, as opaque text.
    func cookieField(of request: TransferRequest) -> String? {
        let own = request.head.headerFields.cookies
        guard let cookies, request.options.extras?.usesCookies != false else { return own }
        return cookies.field(for: request.head, own: own)
    }

    /// Takes what the answer to a message says of later ones.
    func take(_ response: RawHead, to request: TransferRequest) {
        if request.options.extras?.usesCookies != false { cookies?.take(from: response, of: request.head) }
        hsts?.take(from: response.head.headerFields, of: request.head)
        // Who was reached by an option of one request speaks for nobody else's.
        if let extras = request.options.extras {
            guard extras.unixSocket == nil, extras.overrides.isEmpty else { return }
        }
        altSvc?.take(from: response.head, of: request.head)
    }
}

extension HTTPFields {
    /// The `Cookie` fields as one, as opaque text (`String(opaque:)`); `nil` if there is none.
    var cookies: String? {
        let texts = self[fields: .cookie].map(\.opaqueValue)
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }
}
