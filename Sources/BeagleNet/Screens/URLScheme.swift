import BeagleNetHTTP

/// The kind of a URL by its scheme (RFC 3986, 3.1).
enum URLScheme {
    /// The URL is relative, or begins with an expression.
    case none
    /// `http://` or `https://`
    case web
    /// Any other scheme, or http without a host.
    case other

    init(of url: UnsafeBufferPointer<UInt8>) {
        self = .none
        guard let first = url.first, first.asciiLowercased &- 0x61 < 26 else { return }
        guard let colon = url.firstIndex(where: { !$0.isSchemeByte }), url[colon] == UInt8(ascii: ":") else { return }
        self = Self.isWeb(url, colon) ? .web : .other
    }

    init(of url: String) {
        var url = url
        self = url.withUTF8 { URLScheme(of: $0) }
    }

    private static func isWeb(_ url: UnsafeBufferPointer<UInt8>, _ colon: Int) -> Bool {
        guard colon + 2 < url.count, url[colon + 1] == UInt8(ascii: "/"), url[colon + 2] == UInt8(ascii: "/") else {
            return false
        }
        let name: StaticString = colon == 4 ? "http" : "https"
        guard colon == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { name in name.indices.allSatisfy { url[$0].asciiLowercased == name[$0] } }
    }
}

extension UInt8 {
    fileprivate var isSchemeByte: Bool {
        asciiLowercased &- 0x61 < 26 || self &- 0x30 < 10 || self == UInt8(ascii: "+") || self == UInt8(ascii: "-")
            || self == UInt8(ascii: ".")
    }
}

extension JSONSpan {
    /// Returns the kind of the scheme of a string that is a URL.
    func scheme(in bytes: UnsafeBufferPointer<UInt8>) -> URLScheme {
        let written = written(in: bytes)
        guard hasEscapes else { return URLScheme(of: written) }
        // The scheme is in the first bytes. An escape may be cut off after them.
        let beginning = Array(JSONText.unescaped(Array(written.prefix(96))[...]).utf8)
        return beginning.withUnsafeBufferPointer { URLScheme(of: $0) }
    }
}
