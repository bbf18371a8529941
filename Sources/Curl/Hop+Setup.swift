import BeagleNetHTTP
import CBeagleNetCurl

/// What libcurl is told of a message before it goes out.
extension Hop {
    /// Whether the answer's content encoding is ours to ask for and to undo.
    static func decodes(_ request: TransferRequest) -> Bool {
        let asked = request.head.headerFields
        // A range is one of the encoded bytes (RFC 9110, 14.2).
        return !asked.contains(.acceptEncoding) && !asked.contains(.range) && request.head.method != .head
    }

    /// What goes behind the fields of a message: see `FieldList`.
    static func addedLines(to request: TransferRequest, decodes: Bool) -> [String] {
        let fields = request.head.headerFields
        let method = request.head.method
        var lines = ["Expect:"]
        if decodes { lines.append(acceptEncoding) }
        if !fields.contains(.accept) { lines.append("Accept:") }
        if !fields.contains(.userAgent) { lines.append("User-Agent:") }
        if request.body == nil {
            // A method that expects a body and has none says so (RFC 9110, 8.6).
            if method == .post || method == .put || method == .patch { lines.append("Content-Length: 0") }
        } else if !fields.contains(.contentType) {
            lines.append("Content-Type:")
        }
        return lines
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
        // Without a value libcurl has a limit of its own.
        let connect = request.options.timeouts.connect?.milliseconds ?? Int64(Int32.max)
        easy.set(.connectTimeout, Int(min(max(1, connect), Int64(Int32.max))))
        try configureMethod()
        configureVersion()
        if request.head.scheme == "https" { try configureTLS() }
    }

    /// What a message cannot go out without.
    func require(_ isSet: Bool) throws(NetworkError) {
        if !isSet { throw .noMemory }
    }

    private func configureTarget() throws(NetworkError) {
        var head = request.head
        if head.path == "*" {
            // OPTIONS of the server as a whole (RFC 9110, 9.3.7).
            try require(easy.set(.requestTarget, "*"))
            head.path = "/"
        }
        // Else libcurl takes dot segments out, and what goes out is not what was asked, logged and signed.
        easy.set(.pathAsIs, 1)
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
        case .automatic: request.head.scheme == "https"
        case .http1: false
        case .http2: true
        }
    }

    private func configureVersion() {
        let isSecure = request.head.scheme == "https"
        switch request.options.version {
        case .automatic: easy.set(.httpVersion, Int(CURL_HTTP_VERSION_2TLS))
        case .http1: easy.set(.httpVersion, Int(CURL_HTTP_VERSION_1_1))
        case .http2:
            easy.set(.httpVersion, Int(isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        }
        if mayMultiplex { easy.set(.pipeWait, 1) }
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
