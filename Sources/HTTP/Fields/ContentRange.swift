/// The byte range of a response body within its representation, as in `Content-Range` (RFC 9110, 14.4).
package struct ContentRange: Sendable, Hashable {
    /// The first and last byte, or `nil` if the requested range doesn't exist (416).
    package let bytes: ClosedRange<Int64>?
    /// The size of the whole representation in bytes, or `nil` if the server doesn't know it.
    package let total: Int64?

    /// Parses `bytes 0-499/1234`, `bytes 0-499/*` or `bytes */1234`. Returns `nil` for anything else.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        total = Self.number(parts[1])
        guard total != nil || (parts[1] == "*" && parts[0] != "*") else { return nil }
        if parts[0] == "*" {
            bytes = nil
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < total ?? .max
        else { return nil }
        bytes = first...last
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
