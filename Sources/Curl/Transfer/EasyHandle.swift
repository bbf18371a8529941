import BeagleNetHTTP
import CBeagleNetCurl

/// The owner of one libcurl easy handle, for one request and its response.
struct EasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    /// The header fields. libcurl reads them as long as the handle exists, so they are freed after it.
    let fields: FieldList
    /// The other lists that libcurl reads.
    private var lists: [LineList] = []
    /// The whole URL, parsed, if libcurl has to send it to a proxy.
    private var wholeURL: ParsedURL?
    /// The group that owns the connection; `nil` for the common pool. Freed after the handle.
    private let group: ConnectionGroup?
    /// The handles to which this one is added after its use; `nil` if it is freed.
    private var spares: SpareHandles?

    init?(_ fields: consuming FieldList, in group: ConnectionGroup? = nil, from spares: SpareHandles? = nil) {
        guard EventLoop.isLibcurlReady, let pointer = spares?.take() ?? curl_easy_init() else { return nil }
        self.pointer = pointer
        self.fields = fields
        self.group = group
        if let group { set(.share, group.pointer) }
        set(.noSignal, 1)
        set(.quickExit, 1)
    }

    deinit {
        if let spares { spares.add(pointer) } else { curl_easy_cleanup(pointer) }
    }

    /// Notes that libcurl has completed the transfer, so that the handle may be used again. A group remains set in a
    /// handle, so its handle is never used again.
    mutating func allowReuse(by spares: SpareHandles) {
        if group == nil { self.spares = spares }
    }

    // MARK: options

    /// Sets the options of a request to an origin, which must outlive the handle's use.
    mutating func apply(_ options: HandleOptions, to origin: ParsedOrigin, path: String) throws(NetworkError) {
        set(.errorText, fields.errorText)
        beagle_easy_set_list(pointer, ListOption.fields.id, fields.first)
        if let url = options.wholeURL {
            let parsed = ParsedURL(url)
            try set(url, parsed)
            wholeURL = consume parsed
        } else {
            try set(origin.url, origin.parsedURL)
            guard set(.requestTarget, path) else { throw .noMemory }
        }
        set(.connectTimeout, options.connectTimeout)
        set(.httpVersion, options.httpVersion)
        if options.waitsForMultiplexing { set(.pipeWait, 1) }
        try apply(options.settings)
    }

    private func set(_ url: String, _ parsed: borrowing ParsedURL) throws(NetworkError) {
        // Also as text, which libcurl would otherwise rebuild from the parts byte by byte.
        guard set(.url, url) else { throw .noMemory }
        // If parsing failed, libcurl reports the reason from the text.
        if let pointer = parsed.pointer { set(.parsedURL, UnsafeMutableRawPointer(pointer)) }
    }

    /// Sets options in order.
    mutating func apply(_ settings: [HandleOptions.Setting]) throws(NetworkError) {
        for setting in settings where !set(setting) { throw setting.rejection }
    }

    /// Sets an option.
    ///
    /// - Returns: Whether libcurl accepted it, or the request may be sent without it.
    private mutating func set(_ setting: HandleOptions.Setting) -> Bool {
        switch setting {
        case .long(let option, let value): return set(option, value) || !option.isRequired
        case .offset(let option, let value):
            return beagle_easy_set_offset(pointer, option.id, curl_off_t(value)) == CURLE_OK
        case .string(let option, nil):
            beagle_easy_set_string(pointer, option.id, nil)
            return true
        // GnuTLS takes them for its priority string, which also sets versions.
        case .string(.ciphers, _) where Self.usesGnuTLS: return false
        case .string(let option, let value?): return set(option, value)
        // With GnuTLS, libcurl accepts the bytes but doesn't present the certificate to the server.
        case .blob(.certificate, _) where Self.usesGnuTLS, .blob(.key, _) where Self.usesGnuTLS: return false
        case .blob(let option, let bytes):
            return bytes.withUnsafeBytes {
                beagle_easy_set_blob(pointer, option.id, $0.baseAddress, $0.count) == CURLE_OK
            }
        case .list(let option, let fields, let lines):
            let list = LineList(fields, lines: lines)
            lists.append(list)
            return beagle_easy_set_list(pointer, option.id, list.first) == CURLE_OK
        }
    }

    private static let usesGnuTLS = CurlTransport.Capabilities.current.tls.isOfGnuTLS

    // A setter returns false if this libcurl lacks the option or memory runs out.

    @discardableResult
    func set(_ option: LongOption, _ value: Int) -> Bool {
        beagle_easy_set_long(pointer, option.id, value) == CURLE_OK
    }

    private func set(_ option: StringOption, _ value: String) -> Bool {
        value.withCString { beagle_easy_set_string(pointer, option.id, $0) == CURLE_OK }
    }

    @discardableResult
    func set(_ option: PointerOption, _ value: UnsafeMutableRawPointer?) -> Bool {
        beagle_easy_set_pointer(pointer, option.id, value) == CURLE_OK
    }

    @discardableResult
    func set(_ option: DataCallbackOption, _ call: beagle_data_callback) -> Bool {
        beagle_easy_set_data_callback(pointer, option.id, call) == CURLE_OK
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        beagle_easy_get_long(pointer, info, &value)
        return value
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        beagle_easy_get_offset(pointer, info, &value)
        return Int64(value)
    }

    func string(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        beagle_easy_get_string(pointer, info, &value)
        return value.map { String(cString: $0) }
    }

    /// The server's address and port, with an IPv6 address in brackets; empty if there is no connection.
    var remoteAddress: String {
        guard let address = string(CURLINFO_PRIMARY_IP), !address.isEmpty else { return "" }
        let port = long(CURLINFO_PRIMARY_PORT)
        // For a Unix socket, the address is its path.
        guard port > 0 else { return address }
        return address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    // MARK: a connection handed over by libcurl

    /// The socket of the connection, or `nil` if the connection is closed.
    var activeSocket: Int32? {
        var socket = CURL_SOCKET_BAD
        beagle_easy_get_socket(pointer, CURLINFO_ACTIVESOCKET, &socket)
        return socket == CURL_SOCKET_BAD ? nil : socket
    }

    /// Sends as much as the socket accepts and returns the number of bytes. `CURLE_AGAIN` means that it accepts nothing
    /// now. The next call must then pass the same bytes at the same address, as OpenSSL requires.
    func send(_ bytes: UnsafeRawBufferPointer) -> (code: CURLcode, count: Int) {
        var count = 0
        let code = curl_easy_send(pointer, bytes.baseAddress, bytes.count, &count)
        return (code, count)
    }

    /// Receives the available bytes and returns their number; 0 is the end. `CURLE_AGAIN` means that nothing is
    /// available now.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> (code: CURLcode, count: Int) {
        var count = 0
        let code = curl_easy_recv(pointer, buffer.baseAddress, buffer.count, &count)
        return (code, count)
    }
}

extension LongOption {
    /// Whether a request must not be sent if libcurl doesn't accept the option.
    fileprivate var isRequired: Bool { self == .sslVersion || self == .maxAge }
}

extension HandleOptions.Setting {
    /// The error for a setting that libcurl didn't accept: it or its TLS library doesn't support it, or memory ran out.
    fileprivate var rejection: NetworkError {
        guard let (option, version) = support else { return .noMemory }
        let capabilities = CurlTransport.Capabilities.current
        return .unsent(
            .unsupported,
            "\(option): libcurl \(capabilities.version) with \(capabilities.tls) does not support it",
            "use libcurl \(version) or later with OpenSSL"
        )
    }

    /// The app's option, and the version of libcurl that introduced it; `nil` for an option of every supported version.
    private var support: (option: String, version: String)? {
        switch self {
        case .long(.maxAge, _): ("CurlTransport.Configuration.connectionLifetime", "7.80")
        case .string(.pins, _): ("TransferOptions.pins", "7.44")
        case .string(.ciphers, _): ("TransferOptions.ciphers", "7.9")
        case .string(.ciphersOfTLS13, _): ("TransferOptions.ciphers", "7.61")
        case .blob(.authorities, _): ("TransferOptions.trust", "7.77")
        case .blob(.proxyAuthorities, _): ("Proxy.trust", "7.77")
        case .blob: ("TransferOptions.identity as bytes", "7.71")
        default: nil
        }
    }
}

extension NetworkError {
    /// The error for memory that ran out before the request was sent.
    static var noMemory: NetworkError {
        NetworkError(.other, during: .queue, "libcurl did not accept the request: out of memory")
    }
}
