import BeagleNetHTTP

/// The state that a client keeps between requests: cookies, HSTS hosts and alternative services.
struct ClientStores {
    let cookies: CookieJar?
    let hsts: HSTSStore?
    let altSvc: AltSvcStore?

    /// Creates the memory of a client, or returns `nil` if the configuration has no stores.
    init?(_ configuration: CurlTransport.Configuration) {
        (cookies, hsts, altSvc) = (configuration.cookies, configuration.hsts, configuration.altSvc)
        if cookies == nil && hsts == nil && altSvc == nil { return nil }
    }

    /// Returns whether an http request is upgraded to https.
    func upgrades(_ head: HTTPRequest) -> Bool {
        head.scheme == "http" && hsts?.requiresHTTPS(Origin(of: head).host) == true
    }

    /// Returns the alternative service to send a request to, or `nil` to use the origin itself.
    func alternative(for request: TransferRequest) -> AltSvcStore.Service? {
        guard let altSvc else { return nil }
        if let extras = request.options.extras {
            if extras.unixSocket != nil || !extras.overrides.isEmpty { return nil }
            if case .through = extras.proxy { return nil }
        }
        let (asked, capabilities) = (request.options.version, CurlTransport.Capabilities.current)
        return altSvc.service(for: request.head) { version in
            switch version {
            case .http2: asked != .http1 && capabilities.contains(.http2)
            case .http3: (asked == .automatic || asked == .http3) && capabilities.contains(.http3)
            case .automatic, .http1: false
            }
        }
    }

    /// Returns the `Cookie` field of a request, as opaque text.
    func cookieField(of request: TransferRequest) -> String? {
        let own = request.head.headerFields.cookies
        guard let cookies, request.options.extras?.usesCookies != false else { return own }
        return cookies.field(for: request.head, own: own)
    }

    /// Stores the cookies, HSTS policy and alternative services of a response.
    func take(_ response: RawHead, to request: TransferRequest) {
        if request.options.extras?.usesCookies != false { cookies?.store(from: response, of: request.head) }
        hsts?.store(from: response.head.headerFields, of: request.head)
        // A server that was reached through one request's options must not affect other requests.
        if let extras = request.options.extras {
            guard extras.unixSocket == nil, extras.overrides.isEmpty else { return }
        }
        altSvc?.store(from: response.head, of: request.head)
    }
}

extension HTTPFields {
    /// The `Cookie` fields joined into one, as opaque text (`String(opaque:)`); `nil` if there are no such fields.
    var cookies: String? {
        let texts = self[fields: .cookie].map(\.opaqueValue)
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }
}
