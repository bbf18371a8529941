import BeagleNetHTTP
import CBeagleNetCurl

/// The alternative service of a hop's origin (RFC 7838).
///
/// libcurl's own implementation (CURLOPT_ALTSVC) belongs to one easy handle and its file and can't be shared: each hop
/// would have to read and write the file.
extension Hop {
    /// The limit on the time until a connection is open.
    var connectLimit: Duration? {
        let limit = request.options.timeouts.connect
        guard alternative != nil, let connectTimeout = loop.memory?.altSvc?.connectTimeout else { return limit }
        return min(limit ?? connectTimeout, connectTimeout)
    }

    /// Whether the connection uses the advertised protocol; if not, it isn't a valid alternative (2.1).
    var usesAdvertisedProtocol: Bool {
        guard let alternative, alternative.version == .http2, let name = loop.tlsSession.agreedProtocol(of: easy) else {
            return true
        }
        return name == "h2"
    }

    /// Returns whether the alternative received nothing, or was lost without a response to a request that may be sent
    /// twice.
    ///
    /// - Parameter code: The code of libcurl; `nil` if it hasn't returned one.
    func shouldFallBackToOrigin(after code: CURLcode?) -> Bool {
        if alternative == nil { return false }
        if case .resend = route { return false }
        guard attempts.count > 0 else { return true }
        guard let code, receiver.response == nil, failure == nil, request.canBeResent else { return false }
        // libcurl's only time limit is that of connecting.
        return [.connect, .network, .timeout].contains(error(code).kind)
    }

    /// Marks the HTTP/3 alternative as broken for a while if the response came from the origin, to which libcurl falls
    /// back if HTTP/3 doesn't respond or is slower.
    func noteFallback() {
        guard let alternative, alternative.version == .http3, easy.long(CURLINFO_NUM_CONNECTS) > 0,
            easy.long(CURLINFO_HTTP_VERSION) < Int(CURL_HTTP_VERSION_3)
        else { return }
        loop.memory?.altSvc?.markBroken(alternative)
    }
}

extension AltSvcStore.Service {
    /// The `Alt-Used` field, which tells the server the alternative's name (5).
    var field: HTTPField { HTTPField(name: Self.fieldName, value: "\(host):\(port)") }

    private static let fieldName = HTTPField.Name("Alt-Used")!
}
