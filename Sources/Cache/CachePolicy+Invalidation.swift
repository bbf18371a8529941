package import BeagleNetHTTP

extension CachePolicy {
    /// The targets whose stored responses a response makes invalid (RFC 9111, 4.4): after a successful request with an
    /// unsafe method, that of the request, and those of `Location` and `Content-Location` if they have the same origin.
    package static func invalidatedTargets(by response: HTTPResponse, to request: HTTPRequest) -> [String] {
        guard !isSafe(request.method), (200..<400).contains(response.status.code) else { return [] }
        let own = Origin(of: request)
        let others = [HTTPField.Name.location, .contentLocation].compactMap { response.headerFields[single: $0] }
            .compactMap { target(of: $0, in: request, ifOf: own) }
        return [request.path ?? "/"] + others
    }

    /// The target of a reference, or `nil` if it isn't a URL of the origin.
    private static func target(of reference: String, in request: HTTPRequest, ifOf origin: Origin) -> String? {
        do throws(NetworkError) {
            let url = try WireURL(URLReference(reference).resolved(against: request))
            return url.origin == origin ? url.target : nil
        } catch {
            return nil
        }
    }

    /// Whether a method is safe (RFC 9110, 9.2.1).
    package static func isSafe(_ method: HTTPRequest.Method) -> Bool {
        [.get, .head, .options, .trace].contains(method)
    }

    /// Whether a response asks to remove all stored responses of its origin (`Clear-Site-Data: "cache"`), which counts
    /// over https and from this machine (Clear Site Data, a W3C working draft, 3.1).
    package static func clearsOrigin(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        clears(["\"cache\"", "\"*\""], response, to: request)
    }

    /// Whether a response removes what was prefetched from its origin (`Clear-Site-Data: "prefetchCache"`).
    package static func clearsPrefetches(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        clears(["\"cache\"", "\"prefetchCache\"", "\"*\""], response, to: request)
    }

    private static func clears(_ types: [String], _ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard let text = response.headerFields[.clearSiteData] else { return false }
        let origin = Origin(of: request)
        guard origin.scheme == "https" || ["localhost", "127.0.0.1", "[::1]"].contains(origin.host) else {
            return false
        }
        return text.split(separator: ",").contains { types.contains($0.filter { $0 != " " }) }
    }
}

extension HTTPField.Name {
    /// `Clear-Site-Data`.
    package static let clearSiteData = Self("Clear-Site-Data")!
}
