import BeagleNetHTTP
import CBeagleNetCurl

/// The libcurl options of a request.
extension Hop {
    /// Returns whether we set `Accept-Encoding` and decode the response.
    static func decodes(_ message: Message) -> Bool {
        // A byte range refers to the encoded bytes (RFC 9110, 14.2).
        message.names.isDisjoint(with: [.acceptEncoding, .range]) && message.method != .head
            && message.request.options.extras?.codings != []
    }

    /// Returns the lines to add after the request's own fields: see `FieldList`.
    static func addedLines(to message: Message, decodes: Bool) -> [String] {
        let extras = message.request.options.extras
        let method = message.method
        // A fast path without allocations for the most common case.
        if method == .get, decodes, message.request.body == nil, extras?.codings == nil {
            return message.names.contains(.accept) ? linesBesideAccept : usualLines
        }
        // Few lines, because libcurl searches all of them for each field that it may add.
        var lines: [String] = []
        if decodes { lines.append(acceptEncoding(extras?.codings)) }
        if !message.names.contains(.accept) { lines.append("Accept:") }
        if message.request.body == nil {
            // A method that expects a body must declare an empty one (RFC 9110, 8.6).
            if method == .post || method == .put || method == .patch { lines.append("Content-Length: 0") }
        } else {
            lines.append(sendsExpectContinue(message.request) ? "Expect: 100-continue" : "Expect:")
            if !message.names.contains(.contentType) { lines.append("Content-Type:") }
        }
        return lines
    }

    private static func acceptEncoding(_ codings: [TransferOptions.ContentCoding]?) -> String {
        guard let codings else { return acceptEncoding }
        return "Accept-Encoding: \(codings.map(\.rawValue).joined(separator: ", "))"
    }

    private static let acceptEncoding = "Accept-Encoding: \(ContentDecoder.accepted)"
    private static let linesBesideAccept = [acceptEncoding]
    private static let usualLines = [acceptEncoding, "Accept:"]

    /// Sets all options except the callbacks.
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
        if origin.isSecure { try configureTLS(extras) }
        if !loop.hasPlainConnections { try configureConnection(loop.configuration) }
        if let extras {
            try configureConnection(extras)
            try configureProxy(extras.proxy)
            try configureGuard(extras)
        }
        // Last, because it overrides other options.
        if transfer.webSocket != nil { configureConnectOnly() }
    }

    /// Makes libcurl only open the connection, through a tunnel if there is a proxy, and leave it to us.
    /// https://curl.se/libcurl/c/CURLOPT_CONNECT_ONLY.html
    private func configureConnectOnly() {
        easy.set(.connectOnly, 1)
        easy.set(.freshConnect, 1)
        // If set, libcurl would close the connection immediately.
        easy.set(.forbidReuse, 0)
        easy.set(.tunnelsEverything, 1)
    }

    /// Throws if libcurl rejected an option for lack of memory.
    func require(_ isSet: Bool) throws(NetworkError) {
        if !isSet { throw .noMemory }
    }

    /// Throws if this libcurl or its TLS library doesn't support an option.
    func require(_ isSet: Bool, for option: String, since version: String) throws(NetworkError) {
        if isSet { return }
        let capabilities = CurlTransport.Capabilities.current
        throw .unsent(
            .unsupported,
            "\(option): libcurl \(capabilities.version) with \(capabilities.tls) does not support it",
            "use libcurl \(version) or later with OpenSSL"
        )
    }

    private func configureTarget() throws(NetworkError) {
        let path = message.path
        bypassesProxy = mayAskProxy && isProxyBypassAddress
        // A proxy needs the whole URL, except inside a tunnel and for OPTIONS of the whole server (RFC 9110, 9.3.7).
        if mayAskProxy, !bypassesProxy, !origin.isSecure, path != "*" {
            let url = message.urlText
            let parsed = ParsedURL(url)
            try configure(url, parsed)
            wholeURL = consume parsed
        } else {
            try configure(origin.url, origin.parsedURL)
            try require(easy.set(.requestTarget, path))
        }
        if !loop.mayAskProxy || bypassesProxy { try require(easy.set(.proxy, "")) }
    }

    /// Whether the host is an address that is excluded from the proxy. Checked here because libcurl 7.88 ignores IPv6
    /// networks; libcurl itself matches names.
    private var isProxyBypassAddress: Bool {
        guard let address = origin.address else { return false }
        return switch request.options.extras?.proxy ?? .environment {
        case .environment: loop.exceptionsOfEnvironment.contains { $0.contains(address) }
        case .environmentExcept(let hosts): hosts.contains { IPNetwork($0)?.contains(address) == true }
        case .direct: false
        case .through(let proxy): proxy.exceptions.contains { IPNetwork($0)?.contains(address) == true }
        }
    }

    private func configure(_ url: String, _ parsed: borrowing ParsedURL) throws(NetworkError) {
        // Also as text, which libcurl would otherwise rebuild from the parts byte by byte.
        try require(easy.set(.url, url))
        // If parsing failed, libcurl reports the reason from the text.
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
        if let upload = sender.source {
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

    /// Whether HTTP/2 may be used.
    var mayMultiplex: Bool {
        switch request.options.version {
        case .automatic, .http3: origin.isSecure
        case .http1: false
        case .http2: true
        }
    }

    private func configureVersion() throws(NetworkError) {
        let isSecure = origin.isSecure
        switch request.options.version {
        case .automatic: easy.set(.httpVersion, Int(CURL_HTTP_VERSION_2TLS))
        case .http1: easy.set(.httpVersion, Int(CURL_HTTP_VERSION_1_1))
        case .http2:
            easy.set(.httpVersion, Int(isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        case .http3:
            try CurlTransport.Capabilities.current.require(.http3, for: "TransferOptions.version")
            easy.set(.httpVersion, Int(isSecure ? CURL_HTTP_VERSION_3 : CURL_HTTP_VERSION_2TLS))
        }
        if waitsForMultiplexing { easy.set(.pipeWait, 1) }
        if !mayMultiplex, request.delivery != .collect, !loop.isForLongLived, rateLimiter == nil {
            // Four times libcurl's default, which halves the cost of long unencrypted bodies. HTTP/2 and TLS deliver
            // frames and records, for which a larger buffer costs more, and an idle stream would hold it for nothing.
            easy.set(.bufferSize, 64 << 10)
        }
        if request.options.version == .http2, !isSecure, Self.losesPriorKnowledge {
            easy.set(.freshConnect, 1)
            easy.set(.forbidReuse, 1)
        }
    }

    /// Whether this libcurl (7.88) fails on reusing a prior-knowledge connection, before it has sent anything
    /// (https://github.com/curl/curl/pull/10643).
    private static let losesPriorKnowledge: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST) else { return false }
        return (0x07_58_00..<0x08_00_00).contains(version.pointee.version_num)
    }()
}
