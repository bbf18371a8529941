/// The addresses that begin with the same bits: `10.0.0.0/8`, `fd00::/8`.
package struct IPNetwork: Sendable, Hashable {
    private let address: IPAddress
    private let length: Int

    /// A network of an address in it and the number of bits that all of its addresses share, or of one address alone; `nil` for
    /// anything else.
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

    /// Whether an address is one of them.
    package func contains(_ other: IPAddress) -> Bool { address.shares(length, with: other) }
}
