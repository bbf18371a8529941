import BeagleNetHTTP
import CBeagleNetCurl

/// A server that is asked in the place of a hop's origin (RFC 7838).
///
/// libcurl's own memory of them (CURLOPT_ALTSVC) belongs to an easy handle and its file, and cannot be shared: each hop
/// would have to read and write it.
extension Hop {
    /// CURL_HTTP_VERSION_3ONLY, since libcurl 7.88.
    private static let onlyHTTP3 = 31

    /// How long it may take until there is a connection.
    var connectLimit: Duration? {
        let limit = request.options.timeouts.connect
        guard alternative != nil, let patience = loop.memory?.altSvc?.patience else { return limit }
        return min(limit ?? patience, patience)
    }

    func configure(_ alternative: AltSvcStore.Service) throws(NetworkError) {
        switch alternative.version {
        case .http3: easy.set(.httpVersion, alternative.isAtOrigin ? Int(CURL_HTTP_VERSION_3) : Self.onlyHTTP3)
        default: easy.set(.httpVersion, Int(CURL_HTTP_VERSION_2TLS))
        }
        guard !alternative.isAtOrigin else { return }
        // Of any host and port: the handle asks one alone.
        let list = LineList(lines: ["::\(alternative.host):\(alternative.port)"])
        lists.append(list)
        try require(easy.set(.overrides, list.first))
    }

    /// Whether the connection speaks what was announced; one that does not is no alternative (2.1).
    var speaksAsAnnounced: Bool {
        guard let alternative, alternative.version == .http2, let name = loop.tlsSession.agreedProtocol(of: easy) else {
            return true
        }
        return name == "h2"
    }

    /// Whether nothing was sent to the alternative, or it went away without a word and the message may be sent twice.
    ///
    /// - Parameter code: libcurl's verdict; nil where it has none.
    func isLostToAlternative(_ code: CURLcode?) -> Bool {
        guard alternative != nil else { return false }
        guard sends > 0 else { return true }
        guard let code, response == nil, failure == nil, !isStale, request.mayBeSentTwice else { return false }
        // libcurl knows no time limit but that of connecting.
        return [.connect, .network, .timeout].contains(error(code).kind)
    }

    /// An answer came from the origin itself, to which libcurl turned because its HTTP/3 did not answer, or later.
    func noteFallback() {
        guard let alternative, alternative.version == .http3, easy.long(CURLINFO_NUM_CONNECTS) > 0,
            easy.long(CURLINFO_HTTP_VERSION) < Int(CURL_HTTP_VERSION_3)
        else { return }
        loop.memory?.altSvc?.rest(alternative)
    }
}

extension AltSvcStore.Service {
    /// Tells the server whom it was taken for (5).
    var field: HTTPField { HTTPField(name: Self.fieldName, value: "\(host):\(port)") }

    private static let fieldName = HTTPField.Name("Alt-Used")!
}
