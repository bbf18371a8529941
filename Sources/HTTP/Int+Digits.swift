extension Int {
    /// A number as fields write it: any number of digits and nothing else (RFC 9111, 1.2.2).
    ///
    /// A number that is too large is the largest one, as its sender means "very much"; `nil` for any other text.
    package init?(digits text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = Int(text) ?? .max
    }
}
