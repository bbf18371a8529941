import BeagleNetHTTP
import CBeagleNetCurl

/// The owner of one libcurl easy handle, for one request and its response.
///
/// A handle is never reused, because libcurl 7.88.1 has a double free when the first header line of a reused handle is
/// folded. The multi handle owns the connections, so creating a handle costs less than a microsecond.
struct EasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    /// The header fields. libcurl reads them as long as the handle exists, so they are freed after it.
    let fields: FieldList
    /// The group that owns the connection; `nil` for the common pool. Freed after the handle.
    private let group: ConnectionGroup?

    init?(_ fields: consuming FieldList, in group: ConnectionGroup? = nil) {
        guard EventLoop.isLibcurlReady, let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        self.fields = fields
        self.group = group
        if let group { set(.share, group.pointer) }
    }

    deinit {
        curl_easy_cleanup(pointer)
    }

    // A setter returns false if this libcurl lacks the option or memory runs out.

    @discardableResult
    func set(_ option: LongOption, _ value: Int) -> Bool {
        beagle_easy_set_long(pointer, option.id, value) == CURLE_OK
    }

    @discardableResult
    func set(_ option: OffsetOption, _ value: Int64) -> Bool {
        beagle_easy_set_offset(pointer, option.id, curl_off_t(value)) == CURLE_OK
    }

    @discardableResult
    func set(_ option: StringOption, _ value: String?) -> Bool {
        guard let value else { return beagle_easy_set_string(pointer, option.id, nil) == CURLE_OK }
        return value.withCString { beagle_easy_set_string(pointer, option.id, $0) == CURLE_OK }
    }

    @discardableResult
    func set(_ option: BlobOption, _ bytes: Data) -> Bool {
        bytes.withUnsafeBytes {
            beagle_easy_set_blob(pointer, option.id, $0.baseAddress, $0.count) == CURLE_OK
        }
    }

    @discardableResult
    func set(_ option: PointerOption, _ value: UnsafeMutableRawPointer?) -> Bool {
        beagle_easy_set_pointer(pointer, option.id, value) == CURLE_OK
    }

    @discardableResult
    func set(_ option: ListOption, _ value: UnsafeMutablePointer<curl_slist>?) -> Bool {
        beagle_easy_set_list(pointer, option.id, value) == CURLE_OK
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
