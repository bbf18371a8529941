/// A block of IP addresses in CIDR notation: `10.0.0.0/8`, `fd00::/8`.
package struct IPNetwork: Sendable, Hashable {
    private let address: IPAddress
    private let length: Int

    /// Parses an address followed by a prefix length, or a single address. Returns `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let bits = address.isIPv6 ? 128 : 32
        guard parts.count == 2 else {
            (self.address, length) = (address, bits)
            return
        }
        guard let length = Int(digits: parts[1]), length <= bits else { return nil }
        (self.address, self.length) = (address, length)
    }

    /// Returns whether an address is in this network.
    package func contains(_ other: IPAddress) -> Bool { address.sharesPrefix(ofLength: length, with: other) }
}
