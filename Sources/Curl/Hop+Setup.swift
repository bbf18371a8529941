import BeagleNetHTTP
import CBeagleNetCurl

/// What libcurl is told of a message before it goes out.
extension Hop {
    /// Whether the answer's content encoding is ours to ask for and to undo.
    static func decodes(_ message: Message) -> Bool {
        // A range is one of the encoded bytes (RFC 9110, 14.2).
        message.names.isDisjoint(with: [.acceptEncoding, .range]) && message.method != .head
            && message.request.options.extras?.codings != []
    }

    /// What goes behind the fields of a message: see `FieldList`.
    static func addedLines(to message: Message, decodes: Bool) -> [String] {
        let extras = message.request.options.extras
        let method = message.method
        // The common case, for which nothing is made.
        if method == .get, decodes, message.request.body == nil, extras?.codings == nil {
            return message.names.contains(.accept) ? linesBesideAccept : usualLines
        }
        // Few, as libcurl goes through all of them for each field that it may add.
        var lines: [String] = []
        if decodes { lines.append(acceptEncoding(extras?.codings)) }
        if !message.names.contains(.accept) { lines.append("Accept:") }
        if message.request.body == nil {
            // A method that expects a body and has none says so (RFC 9110, 8.6).
            if method == .post || method == .put || method == .patch { lines.append("Content-Length: 0") }
        } else {
            lines.append(asksConsent(message.request) ? "Expect: 100-continue" : "Expect:")
            if !message.names.contains(.contentType) { lines.append("Content-Type:") }
        }
        return lines
    }

    private static func acceptEncoding(_ codings: [ContentCoding]?) -> String {
        guard let codings else { return acceptEncoding }
        return "Accept-Encoding: \(codings.map(\.rawValue).joined(separator: ", "))"
    }

    private static let acceptEncoding = "Accept-Encoding: \(ContentDecoder.accepted)"
    private static let linesBesideAccept = [acceptEncoding]
    private static let usualLines = [acceptEncoding, "Accept:"]

    /// Tells libcurl all but the callbacks.
    func configure(freshly: Bool) throws(NetworkError) {
        easy.set(.noSignal, 1)
        easy.set(.quickExit, 1)
        easy.set(.errorText, easy.fields.errorText)
        try configureTarget()
        try require(easy.set(.fields, easy.fields.first))
        if freshly { easy.set(.freshConnect, 1) }
        try configureLimits()
        try configureMethod()
        try configureVersion()
        if let alternative { try configure(alternative) }
        let extras = request.options.extras
        if site.isSecure { try configureTLS(extras) }
        if !loop.hasPlainConnections { try configureConnection(loop.configuration) }
        if let extras {
            try configureConnection(extras)
            try configureProxy(extras.proxy)
            try configureGuard(extras)
        }
        // Last, as it overrules what others say.
        if transfer.webSocket != nil { configureConnectOnly() }
    }

    /// Has libcurl make a connection, through a proxy's tunnel where there is a proxy, and leave it to us.
    /// https://curl.se/libcurl/c/CURLOPT_CONNECT_ONLY.html
    private func configureConnectOnly() {
        easy.set(.connectOnly, 1)
        easy.set(.freshConnect, 1)
        // With it libcurl would close the connection as soon as it is made.
        easy.set(.forbidReuse, 0)
        easy.set(.tunnelsEverything, 1)
    }

    /// What a message cannot go out without.
    func require(_ isSet: Bool) throws(NetworkError) {
        if !isSet { throw .noMemory }
    }

    /// What not every libcurl, or not every TLS library below it, knows.
    func require(_ isSet: Bool, for option: String, since version: String) throws(NetworkError) {
        if isSet { return }
        let capabilities = CurlCapabilities.current
        throw .unsent(
            .unsupported,
            "\(option): libcurl \(capabilities.version) with \(capabilities.tls) does not support it",
            "use libcurl \(version) or later with OpenSSL"
        )
    }

    private func configureTarget() throws(NetworkError) {
        let path = message.path
        isException = mayAskProxy && isExceptedAddress
        // A proxy wants the whole URL, but not inside a tunnel, nor of OPTIONS of the server as a whole (RFC 9110, 9.3.7).
        if mayAskProxy, !isException, !site.isSecure, path != "*" {
            let url = message.urlText
            let parsed = ParsedURL(url)
            try configure(url, parsed)
            wholeURL = consume parsed
        } else {
            try configure(site.url, site.parsedURL)
            try require(easy.set(.requestTarget, path))
        }
        if !loop.mayAskProxy || isException { try require(easy.set(.proxy, "")) }
    }

    /// Whether the host is an address that is asked without the proxy. libcurl matches names; libcurl 7.88 ignores networks of IPv6.
    private var isExceptedAddress: Bool {
        guard let address = site.address else { return false }
        return switch request.options.extras?.proxy ?? .environment {
        case .environment: loop.exceptionsOfEnvironment.contains { $0.contains(address) }
        case .environmentExcept(let hosts): hosts.contains { IPNetwork($0)?.contains(address) == true }
        case .direct: false
        case .through(let proxy): proxy.exceptions.contains { IPNetwork($0)?.contains(address) == true }
        }
    }

    private func configure(_ url: String, _ parsed: borrowing ParsedURL) throws(NetworkError) {
        // As text, too: libcurl would write it of the parts, byte by byte.
        try require(easy.set(.url, url))
        // Without one, libcurl will say what is wrong with the text.
        if let pointer = parsed.pointer { easy.set(.parsedURL, UnsafeMutableRawPointer(pointer)) }
    }

    private var mayAskProxy: Bool {
        switch request.options.extras?.proxy ?? .environment {
        case .environment, .environmentExcept: loop.mayAskProxy
        case .direct: false
        case .through: true
        }
    }

    private func configureMethod() throws(NetworkError) {
        if let upload {
            easy.set(.upload, 1)
            easy.set(.uploadSize, upload.length ?? -1)
        } else if message.method == .head {
            easy.set(.noBody, 1)
            return
        } else if message.method == .get {
            return
        }
        try require(easy.set(.method, message.method.rawValue))
    }

    /// Whether the message may go over HTTP/2.
    var mayMultiplex: Bool {
        switch request.options.version {
        case .automatic, .http3: site.isSecure
        case .http1: false
        case .http2: true
        }
    }

    private func configureVersion() throws(NetworkError) {
        let isSecure = site.isSecure
        switch request.options.version {
        case .automatic: easy.set(.httpVersion, Int(CURL_HTTP_VERSION_2TLS))
        case .http1: easy.set(.httpVersion, Int(CURL_HTTP_VERSION_1_1))
        case .http2:
            easy.set(.httpVersion, Int(isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        case .http3:
            try CurlCapabilities.current.require(.http3, for: "TransferOptions.version")
            easy.set(.httpVersion, Int(isSecure ? CURL_HTTP_VERSION_3 : CURL_HTTP_VERSION_2TLS))
        }
        if waitsForMultiplexing { easy.set(.pipeWait, 1) }
        if !mayMultiplex, request.delivery != .collect, !loop.isForWhatLasts, pace == nil {
            // Four times libcurl's own: long bodies in plain cost half as much. Over HTTP/2 and TLS, where bytes come
            // in frames and records, more room costs more; and a parked stream would keep it for nothing.
            easy.set(.bufferSize, 64 << 10)
        }
        if request.options.version == .http2, !isSecure, Self.losesPriorKnowledge {
            easy.set(.freshConnect, 1)
            easy.set(.forbidReuse, 1)
        }
    }

    /// Whether this libcurl fails when it uses a connection of prior knowledge a second time, before it has sent
    /// anything: 7.88 (https://github.com/curl/curl/pull/10643).
    private static let losesPriorKnowledge: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST) else { return false }
        return (0x07_58_00..<0x08_00_00).contains(version.pointee.version_num)
    }()
}
