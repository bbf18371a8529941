extension Int {
    /// Parses a number that consists only of digits, as in header fields (RFC 9111, 1.2.2).
    ///
    /// A number that is too large becomes `Int.max`, because its sender means "very much". Any other text gives `nil`.
    package init?(digits text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = Int(text) ?? .max
    }
}

/// Returns a number with its noun, such as `1 byte`, `2 bytes` or `2 entries`.
///
/// - Parameter many: The plural, or `nil` if it is the singular with an `s`.
package func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    count == 1 ? "1 \(one)" : "\(count) \(many ?? "\(one)s")"
}
