import BeagleNetHTTP

extension ScreenWalk {
    /// Whether the text of an image's path is an expression or an address, and not the name of a local image.
    func mayBeImage(_ path: JSONSpan) -> Bool {
        path.text(in: cursor.bytes).utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/") }
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
