import BeagleNetHTTP
import CBeagleNetCurl

/// Makes a `NetworkError` of what libcurl says about a hop.
enum CurlFailure {
    /// - Parameters:
    ///   - code: libcurl's verdict.
    ///   - detail: libcurl's own words, may be empty.
    ///   - phase: how far the hop was.
    static func error(_ code: CURLcode, _ detail: String, during phase: NetworkError.Phase) -> NetworkError {
        let text = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        // libcurl has no mark for the begin of a handshake that did not come to its end, only words.
        let phase = phase == .connect && text.hasPrefix("SSL ") ? .tls : phase
        let (kind, place) = kind(of: code, during: phase)
        var error = NetworkError(kind, during: place, text.asClause, advice: advice(for: kind, place))
        error.transportCode = Int(code.rawValue)
        return error
    }

    /// CURLE_TOO_LARGE, since libcurl 8.6.
    private static let tooLarge = CURLcode(rawValue: 100)

    private static func kind(
        of code: CURLcode,
        during phase: NetworkError.Phase
    ) -> (NetworkError.Kind, NetworkError.Phase) {
        switch code {
        // Also what libcurl says to an answer without a head (HTTP/0.9).
        case CURLE_UNSUPPORTED_PROTOCOL where phase == .firstByte || phase == .send: (.protocol, phase)
        case CURLE_UNSUPPORTED_PROTOCOL: (.unsupportedScheme, .build)
        case CURLE_URL_MALFORMAT: (.badURL, .build)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: (.dns, .resolve)
        case CURLE_COULDNT_CONNECT: (.connect, .connect)
        case CURLE_OPERATION_TIMEDOUT: (.timeout, phase)
        // Also an HTTP/2 connection that ended before the head of the answer.
        case CURLE_PARTIAL_FILE: phase == .body ? (.truncated, phase) : (.network, phase)
        case CURLE_OUT_OF_MEMORY where phase == .firstByte, tooLarge: (.tooLarge, phase)
        case CURLE_FILESIZE_EXCEEDED: (.tooLarge, .body)
        case CURLE_BAD_CONTENT_ENCODING: (.encoding, .body)
        // What libcurl says to a response head that it cannot store, as one whose first line is folded.
        case CURLE_BAD_FUNCTION_ARGUMENT where phase == .firstByte: (.protocol, phase)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3: (.protocol, phase)
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND: (.network, phase)
        case CURLE_RECV_ERROR: phase == .body ? (.truncated, phase) : (.network, phase)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            (.tls, .tls)
        default: (.other, phase)
        }
    }

    private static func advice(for kind: NetworkError.Kind, _ phase: NetworkError.Phase) -> String? {
        switch kind {
        case .dns: "check the host name and the network"
        case .connect: "check that the server runs at this address and port"
        case .tls:
            "check the certificate and the host name; trust its authority with TLSTrust.file(path:) "
                + "(the system's authorities were read from \(TrustStore.systemFile ?? "nowhere: no file was found"))"
        case .timeout: "raise Timeouts.\(phase.timeoutName), or look at the server"
        default: nil
        }
    }
}

extension NetworkError.Phase {
    fileprivate var timeoutName: String {
        switch self {
        case .resolve, .connect, .tls, .queue: "connect"
        case .firstByte, .send: "firstByte"
        default: "idle"
        }
    }
}

extension String {
    /// Without the capital and the full stop of a sentence.
    fileprivate var asClause: String {
        var text = self[...]
        while let last = text.last, last == "." || last.isWhitespace { text = text.dropLast() }
        guard let first = text.first, text.dropFirst().first?.isLowercase == true else { return String(text) }
        return first.lowercased() + text.dropFirst()
    }
}
