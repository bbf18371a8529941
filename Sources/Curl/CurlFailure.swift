import BeagleNetHTTP
import CBeagleNetCurl

/// The conversion of libcurl's errors to `NetworkError`.
enum CurlFailure {
    /// Returns the error for a result code.
    ///
    /// - Parameters:
    ///   - code: The result code of libcurl.
    ///   - detail: libcurl's error text, which may be empty.
    ///   - phase: The phase of the hop.
    ///   - options: The options of the request.
    ///   - isOfProxy: Whether a proxy's certificate was rejected.
    static func error(
        _ code: CURLcode,
        _ detail: String,
        during phase: NetworkError.Phase,
        with options: TransferOptions,
        isOfProxy: Bool = false
    ) -> NetworkError {
        if let error = badOption(code, detail, options) { return error }
        let text = detail.isEmpty ? words(for: code, during: phase) : Proxy.withoutSecrets(of: detail)
        // A failed handshake is recognized by its text if libcurl recorded no time for its start.
        let phase = phase == .connect && text.hasPrefix("SSL ") ? .tls : phase
        let (kind, place) = kind(of: code, text, during: phase)
        var error = NetworkError(kind, during: place, message(of: kind, code, text), advice: nil)
        error.advice = isOfProxy ? proxyAdvice(options) : advice(for: error, code, options)
        error.transportCode = Int(code.rawValue)
        return error
    }

    /// Returns libcurl's general text for a code, used if there is no specific one.
    private static func words(for code: CURLcode, during phase: NetworkError.Phase) -> String {
        guard code == CURLE_HTTP2_STREAM, phase == .send else { return String(cString: curl_easy_strerror(code)) }
        return "the server closed the HTTP/2 stream before it received the whole request, and its response was lost"
    }

    /// Returns the error for an option that the TLS library rejected. Nothing has been sent to the server in this case.
    private static func badOption(_ code: CURLcode, _ detail: String, _ options: TransferOptions) -> NetworkError? {
        switch code {
        case CURLE_SSL_CERTPROBLEM: return options.identity.map { .badIdentity($0.problem) }
        // The same error from a libcurl with GnuTLS.
        case CURLE_SSL_CONNECT_ERROR where detail.hasPrefix("error reading X.509"):
            return options.identity.map { .badIdentity($0.problem) }
        case CURLE_SSL_CIPHER where options.ciphers != TLS.Ciphers():
            var error = NetworkError.badOption(
                "ciphers",
                "the TLS library does not support any of them",
                advice: "use names that 'openssl ciphers' lists"
            )
            error.transportCode = Int(code.rawValue)
            return error
        default: return nil
        }
    }

    /// The value of CURLE_TOO_LARGE, which libcurl 8.6 introduced.
    private static let tooLarge = CURLcode(rawValue: 100)
    /// The value of CURLE_ECH_REQUIRED, which libcurl 8.8 introduced.
    private static let echRequired = CURLcode(rawValue: 101)

    /// Returns libcurl's text unless it is misleading: libcurl says "out of memory" for a field that exceeds its limit.
    private static func message(of kind: NetworkError.Kind, _ code: CURLcode, _ text: String) -> String {
        switch code {
        case CURLE_OUT_OF_MEMORY where kind == .tooLarge,
            tooLarge where text == String(cString: curl_easy_strerror(code)):
            "a response header field is larger than libcurl's limit of 100 KiB"
        case _ where isAboutLocation(code, text): "the redirect has two different Location fields"
        case CURLE_RECV_ERROR where kind == .tooLarge: "a trailer of the response is larger than libcurl's limit"
        default: text.asClause
        }
    }

    /// The end of libcurl's message for a malformed chunked body, and the beginnings of the messages in newer versions.
    private static let inChunks = " in chunked-encoding"
    private static let ofChunks = ["chunk hex-length", "invalid chunk size"]

    /// Returns whether libcurl rejected a redirect with several targets, as newer versions do before we see it.
    private static func isAboutLocation(_ code: CURLcode, _ text: String) -> Bool {
        code == CURLE_WEIRD_SERVER_REPLY && text.contains("Location")
    }

    private static func kind(
        of code: CURLcode,
        _ text: String,
        during phase: NetworkError.Phase
    ) -> (NetworkError.Kind, NetworkError.Phase) {
        switch code {
        // libcurl also returns this for a response without a head (HTTP/0.9).
        case CURLE_UNSUPPORTED_PROTOCOL where phase == .firstByte || phase == .send: (.protocol, phase)
        case CURLE_UNSUPPORTED_PROTOCOL: (.unsupportedScheme, .build)
        case CURLE_URL_MALFORMAT: (.badURL, .build)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: (.dns, .resolve)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE, CURLE_QUIC_CONNECT_ERROR,
            CURLE_PROXY:
            (.connect, .connect)
        case CURLE_OPERATION_TIMEDOUT: (.timeout, phase)
        // Also an HTTP/2 connection that ended before the response head.
        case CURLE_PARTIAL_FILE: phase == .body ? (.truncated, phase) : (.network, phase)
        case CURLE_OUT_OF_MEMORY where phase == .firstByte || phase == .send, tooLarge: (.tooLarge, phase)
        case CURLE_FILESIZE_EXCEEDED: (.tooLarge, .body)
        case CURLE_BAD_CONTENT_ENCODING: (.encoding, .body)
        // libcurl returns this for a response head that it can't store, such as one with a folded first line.
        case CURLE_BAD_FUNCTION_ARGUMENT where phase == .firstByte: (.protocol, phase)
        // libcurl returns the code of a failed write for a malformed trailer; the second text is from 8.14.
        case _ where ["Failed reading the chunked-encoded stream", "Invalid response header"].contains(text):
            (.protocol, phase)
        case _ where isAboutLocation(code, text): (.protocol, .redirect)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3: (.protocol, phase)
        case CURLE_TOO_MANY_REDIRECTS: (.tooManyRedirects, .redirect)
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND: (.network, phase)
        // The only buffer that grows with a chunked body is that of a trailer.
        case CURLE_RECV_ERROR where text == "Out of memory\(inChunks)": (.tooLarge, phase)
        case CURLE_RECV_ERROR where text.hasSuffix(inChunks) || ofChunks.contains(where: text.hasPrefix):
            (.protocol, phase)
        // The proxy refused the tunnel.
        case CURLE_RECV_ERROR where text.contains("CONNECT"): (.connect, .connect)
        case CURLE_RECV_ERROR: phase == .body ? (.truncated, phase) : (.network, phase)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_USE_SSL_FAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_CLIENTCERT, echRequired:
            (.tls, .tls)
        // Codes of other protocols, obsolete codes, misuse of libcurl, and errors of our own callbacks, which state
        // their own reason.
        default: (.other, phase)
        }
    }

    private static func advice(
        for error: NetworkError,
        _ code: CURLcode,
        _ options: TransferOptions
    ) -> String? {
        let trust = options.trust
        return switch error.kind {
        case .dns where code == CURLE_COULDNT_RESOLVE_PROXY,
            .connect where code == CURLE_PROXY || code == CURLE_RECV_ERROR:
            proxyAdvice(options)
        case .dns: "check the host name and the network"
        case .connect where code == CURLE_INTERFACE_FAILED:
            "check TransferOptions.local: this machine must have the interface and a free port"
        case .connect:
            if case .through(let proxy) = options.proxy {
                "check that the server is running at this address and port, and that the proxy \(proxy.address) is running"
            } else {
                "check that the server is running at this address and port"
            }
        // OpenSSL's and GnuTLS's messages for a response that isn't TLS.
        case .tls where ["wrong version number", "unexpected TLS packet"].contains(where: error.message.contains):
            "if this port serves plain HTTP, begin the URL with http://"
        // OpenSSL's and GnuTLS's messages for a connection that the server closed, as http servers may do.
        case .tls
        where code == CURLE_SSL_CONNECT_ERROR
            && [
                "SSL_ERROR_SYSCALL", "SSL_ERROR_ZERO_RETURN", "unexpected eof", "Connection reset", "Broken pipe",
                "non-properly terminated",
            ]
            .contains(where: error.message.contains):
            "the server closed the connection during the handshake; if this port serves plain HTTP, begin the URL with http://"
        case .tls where code == CURLE_SSL_CACERT_BADFILE:
            "check that \(file(of: trust)) exists, is readable and is in PEM format"
        case .tls where code == CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            "the server's public key does not match any pinned key (TransferOptions.pins); update the pins if it changed"
        case .tls: "check the certificate and the host name; \(advice(on: trust))"
        case .timeout: "increase Timeouts.\(error.phase.timeoutName), or check the server"
        default: nil
        }
    }

    /// Returns the error for a malformed response to CONNECT.
    static func malformedProxyHead(_ options: TransferOptions) -> NetworkError {
        var error = NetworkError(
            .protocol,
            during: .connect,
            "the proxy's response to CONNECT has a malformed head, or one that contains NUL",
            advice: proxyAdvice(options)
        )
        error.transportCode = Int(CURLE_WEIRD_SERVER_REPLY.rawValue)
        return error
    }

    private static func proxyAdvice(_ options: TransferOptions) -> String {
        switch options.proxy {
        case .through(let proxy): "check the proxy \(proxy.address), its credentials and its certificate (Proxy.trust)"
        case .environment, .environmentExcept, .direct:
            "check the proxy that is set in http_proxy, https_proxy or all_proxy"
        }
    }

    private static func advice(on trust: TLS.Trust) -> String {
        switch trust {
        case .system:
            TrustStore.systemFile.map {
                "trust its authority with TLS.Trust.file(path:) (the system's authorities were read from \($0))"
            } ?? "name a file of trusted authorities with TLS.Trust.file(path:); no file of the system's was found"
        case .native: "add its authority to the system's trust store"
        case .file, .authorities: "only the authorities in \(file(of: trust)) are trusted (TLS.Trust)"
        }
    }

    private static func file(of trust: TLS.Trust) -> String {
        switch trust {
        case .system: TrustStore.systemFile ?? "the file of the system's authorities"
        case .file(let path): path
        case .authorities: "the bytes of TransferOptions.trust"
        case .native: "the system's store"
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
    /// The text without the initial capital and final full stop of a sentence. A name such as OpenSSL keeps its
    /// capitals.
    fileprivate var asClause: String {
        var text = self[...]
        while let last = text.last, last == "." || last.isWhitespace { text = text.dropLast() }
        let word = text.dropFirst().prefix { $0.isLetter }
        guard let first = text.first, !word.isEmpty, word.allSatisfy(\.isLowercase) else { return String(text) }
        return first.lowercased() + text.dropFirst()
    }
}
