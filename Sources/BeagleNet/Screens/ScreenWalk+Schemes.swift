import BeagleNetHTTP

extension ScreenWalk {
    /// Whether a URL begins with a scheme other than http and https, such as `empty:` or `data:`.
    func hasOtherScheme(_ url: JSONSpan) -> Bool { scheme(of: url) == .other }

    /// Whether the text of an image's path is an expression or an address, and not the name of a local image.
    func mayBeImage(_ path: JSONSpan) -> Bool {
        path.text(in: cursor.bytes).utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/") }
    }

    /// Returns the kind of a URL's scheme.
    func scheme(of url: JSONSpan) -> URLScheme {
        let written = url.written(in: cursor.bytes)
        guard url.hasEscapes else { return URLScheme(of: written) }
        // The scheme is in the first bytes. An escape may be cut off after them.
        let beginning = Array(JSONText.unescaped(Array(written.prefix(96))[...]).utf8)
        return beginning.withUnsafeBufferPointer { URLScheme(of: $0) }
    }
}
