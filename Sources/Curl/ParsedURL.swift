import CBeagleNetCurl

/// A URL taken apart by libcurl. A handle that has it beside the text does not write the text anew of its parts,
/// letter by letter, which is a twelfth of all that libcurl does for a small request.
struct ParsedURL: ~Copyable {
    /// What libcurl reads as long as the handle is in use; nil where it takes the text for no URL.
    let pointer: OpaquePointer?

    init(_ text: String) {
        let url = curl_url()
        // Else it takes dot segments out, and what goes out is not what was asked, logged and signed.
        let isURL = text.withCString {
            curl_url_set(url, CURLUPART_URL, $0, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK
        }
        if !isURL { curl_url_cleanup(url) }
        pointer = isURL ? url : nil
    }

    /// The host in libcurl's spelling, an IPv6 address in brackets.
    var host: String? {
        var text: UnsafeMutablePointer<CChar>?
        guard let pointer, curl_url_get(pointer, CURLUPART_HOST, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    deinit {
        curl_url_cleanup(pointer)
    }
}
