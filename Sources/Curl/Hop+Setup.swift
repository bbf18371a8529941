import BeagleNetHTTP
import CBeagleNetCurl

/// What libcurl is told of a message before it goes out.
extension Hop {
    /// Whether the answer's content encoding is ours to ask for and to undo.
    static func decodes(_ request: TransferRequest) -> Bool {
        let asked = request.head.headerFields
        // A range is one of the encoded bytes (RFC 9110, 14.2).
        return !asked.contains(.acceptEncoding) && !asked.contains(.range) && request.head.method != .head
            && request.options.extras?.codings != []
    }

    /// What goes behind the fields of a message: see `FieldList`.
    static func addedLines(to request: TransferRequest, decodes: Bool) -> [String] {
        let fields = request.head.headerFields
        let method = request.head.method
        // Few, as libcurl goes through all of them for each field that it may add.
        var lines: [String] = []
        if decodes { lines.append(acceptEncoding(request.options.extras?.codings)) }
        if !fields.contains(.accept) { lines.append("Accept:") }
        if request.body == nil {
            // A method that expects a body and has none says so (RFC 9110, 8.6).
            if method == .post || method == .put || method == .patch { lines.append("Content-Length: 0") }
        } else {
            lines.append(asksConsent(request) ? "Expect: 100-continue" : "Expect:")
            if !fields.contains(.contentType) { lines.append("Content-Type:") }
        }
        return lines
    }

    private static func acceptEncoding(_ codings: [ContentCoding]?) -> String {
        guard let codings else { return acceptEncoding }
        return "Accept-Encoding: \(codings.map(\.rawValue).joined(separator: ", "))"
    }

    private static let acceptEncoding = "Accept-Encoding: \(ContentDecoder.accepted)"

    /// Tells libcurl all but the callbacks.
    func configure(freshly: Bool) throws(NetworkError) {
        easy.set(.noSignal, 1)
        easy.set(.quickExit, 1)
        easy.set(.suppressConnectHeaders, 1)
        easy.set(.errorText, easy.fields.errorText)
        try configureTarget()
        try require(easy.set(.fields, easy.fields.first))
        if freshly { easy.set(.freshConnect, 1) }
        try configureLimits()
        try configureMethod()
        try configureVersion()
        if let alternative { try configure(alternative) }
        let extras = request.options.extras
        if request.head.scheme == "https" { try configureTLS(extras) }
        if let configuration = loop.connectionConfiguration { try configureConnection(configuration) }
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
            "\(option): libcurl \(capabilities.version) with \(capabilities.tls) does not take it",
            "it takes libcurl \(version) with OpenSSL"
        )
    }

    private func configureTarget() throws(NetworkError) {
        guard request.head.path == "*" else {
            try require(easy.set(.url, url))
            // Without one, libcurl will say what is wrong with the text.
            if let parsed = parsedURL.pointer { easy.set(.parsedURL, UnsafeMutableRawPointer(parsed)) }
            return
        }
        // OPTIONS of the server as a whole (RFC 9110, 9.3.7).
        try require(easy.set(.requestTarget, "*"))
        var head = request.head
        head.path = "/"
        try require(easy.set(.url, head.urlText))
    }

    private func configureMethod() throws(NetworkError) {
        if let upload {
            easy.set(.upload, 1)
            easy.set(.uploadSize, upload.length ?? -1)
        } else if request.head.method == .head {
            easy.set(.noBody, 1)
            return
        } else if request.head.method == .get {
            return
        }
        try require(easy.set(.method, request.head.method.rawValue))
    }

    /// Whether the message may go over HTTP/2.
    var mayMultiplex: Bool {
        switch request.options.version {
        case .automatic, .http3: request.head.scheme == "https"
        case .http1: false
        case .http2: true
        }
    }

    private func configureVersion() throws(NetworkError) {
        let isSecure = request.head.scheme == "https"
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
        if !mayMultiplex, request.delivery != .collect, !loop.isForWhatLasts {
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
