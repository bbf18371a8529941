import BeagleNetHTTP

/// Checks that reject requests which libcurl would send although they violate the protocol: it sends CR and LF in
/// fields and methods verbatim.
enum MessageCheck {
    /// Checks a whole request.
    static func check(_ request: TransferRequest) throws(NetworkError) {
        let message = Message(request)
        try check(scheme: message.scheme, authority: message.authority)
        try checkRest(of: message, request.options.extras)
    }

    /// Checks the scheme and authority of a request.
    static func check(scheme: String, authority: String) throws(NetworkError) {
        guard !scheme.isEmpty else {
            throw .unsent(.badURL, "the URL has no scheme", "begin it with http:// or https://")
        }
        guard scheme == "http" || scheme == "https" else {
            throw .unsent(.unsupportedScheme, "the scheme \(scheme) is not supported", "use http or https")
        }
        try check(authority: authority)
    }

    /// Checks everything but the scheme and authority.
    ///
    /// - Parameter extras: The options that haven't been checked yet.
    static func checkRest(of message: Message, _ extras: TransferOptions.Extras?) throws(NetworkError) {
        let head = message.request.head
        let method = message.method
        var path = message.path
        guard path.utf8.first == UInt8(ascii: "/") || (path == "*" && method == .options) else {
            throw .unsent(.badURL, "the path does not begin with a slash")
        }
        guard path.withUTF8(mayBePath) else {
            throw .unsent(
                .badURL,
                "the path contains a space, a control character, # or a character that is not percent-encoded"
            )
        }
        guard method != .connect else {
            throw .unsent(.badRequest, "CONNECT is reserved for the transport, which uses it for proxies")
        }
        guard message.request.body == nil || (method != .head && method != .trace) else {
            throw .unsent(
                .badRequest,
                "a \(method.rawValue) request cannot have a body (RFC 9110, 9.3)",
                "remove the body"
            )
        }
        try message.request.options.checkLimits()
        if let extras { try OptionsCheck.check(extras, for: head) }
        let fields = head.headerFields
        // By index, because a loop over the fields would copy each.
        for index in fields.indices where !fields[index].withUnsafeBytesOfValue(HTTPField.isPlain) {
            let field = fields[index]
            guard field.isSendable else {
                throw .unsent(.badRequest, "the value of header \(field.name.rawName) contains a line break or NUL")
            }
        }
        if message.names.contains(.framing) { try refuseFraming(fields) }
    }

    private static func refuseFraming(_ fields: HTTPFields) throws(NetworkError) {
        for field in fields where field.name == .contentLength || field.name == .transferEncoding {
            throw .unsent(
                .badRequest,
                "the transport sets the header \(field.name.rawName) from the body",
                "remove it"
            )
        }
    }

    private static func check(authority: String) throws(NetworkError) {
        guard !authority.isEmpty else { throw .unsent(.badURL, "the URL has no host") }
        // Bytes instead of characters: all searched characters are ASCII, and finding character boundaries is slow.
        let bytes = authority.utf8
        var authority = authority
        let hostBytes = hostBytes
        guard authority.withUTF8({ $0.allSatisfy { hostBytes[Int($0)] } }) else {
            guard !bytes.contains(UInt8(ascii: "@")) else {
                throw .unsent(.badURL, "the URL contains a user name", "send an Authorization header instead")
            }
            throw .unsent(.badURL, "the host contains an invalid character")
        }
        let isLiteral = bytes.first == UInt8(ascii: "[")
        let colon = bytes.lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
            isLiteral && bytes[colon...].contains(UInt8(ascii: "]")) ? nil : colon
        }
        guard colon != bytes.startIndex else {
            throw .unsent(.badURL, "the URL has no host")
        }
        guard let colon else { return }
        let port = authority[bytes.index(after: colon)...]
        guard let number = Int(port), (1...65_535).contains(number), port.utf8.allSatisfy({ $0 >= 0x30 }) else {
            throw .unsent(.badURL, "the port is not a number from 1 to 65535")
        }
    }

    /// Returns whether all bytes are valid in a path with its query. Checks every byte, so that the loop can be
    /// vectorized.
    private static func mayBePath(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var odd: UInt8 = 0
        for byte in bytes { odd |= byte &- 0x21 < 0x5E && byte != UInt8(ascii: "#") ? 0 : 1 }
        return odd == 0
    }

    /// Whether each byte is valid in an authority, by its value.
    private static let hostBytes: [Bool] = (0...255).map { byte in
        switch Unicode.Scalar(UInt8(byte)) {
        case "\0"..." ", "\u{7F}", "/", "?", "#", "\\", "<", ">", "\"", "^", "`", "{", "|", "}", "@": false
        default: true
        }
    }
}

extension NetworkError {
    /// Returns an error that occurred before anything was sent.
    static func unsent(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .build, message, advice: advice)
    }
}
