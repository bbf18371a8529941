#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An IPv4 or IPv6 address, such as that of a connection's peer.
public struct IPAddress: Sendable, Hashable {
    /// The scope in which an address is valid (https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-).
    public enum Scope: String, Sendable {
        /// Reachable from everywhere.
        case global
        /// This machine: 127.0.0.0/8, ::1.
        case loopback
        /// A private network: RFC 1918, unique local and site-local IPv6.
        case privateNetwork = "private"
        /// This link: fe80::/10 and 169.254.0.0/16, where cloud providers serve the credentials of their machines.
        case linkLocal = "link-local"
        /// A carrier's network: 100.64.0.0/10 (RFC 6598).
        case shared
        /// A multicast group: 224.0.0.0/4, ff00::/8.
        case multicast
        /// No specific address, which systems treat as this machine: 0.0.0.0/8, ::.
        case unspecified
        /// Reserved for documentation, benchmarks, protocols or future use.
        case reserved
    }

    /// Whether it is an IPv6 address, including one that embeds an IPv4 address.
    public let isIPv6: Bool
    /// The address as two numbers. An IPv4 address is the last 32 bits.
    private let high: UInt64
    private let low: UInt64

    /// Parses an address in the form of RFC 4291, 2.2 or as four decimal numbers, with or without brackets.
    ///
    /// Returns `nil` for any other text.
    public init?(_ text: String) {
        let text = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        var bytes: (UInt64, UInt64) = (0, 0)
        let address = withUnsafeMutableBytes(of: &bytes) { bytes -> IPAddress? in
            if inet_pton(AF_INET, text, bytes.baseAddress) == 1 {
                return IPAddress(UnsafeRawBufferPointer(rebasing: bytes[..<4]))
            }
            return inet_pton(AF_INET6, text, bytes.baseAddress) == 1 ? IPAddress(UnsafeRawBufferPointer(bytes)) : nil
        }
        guard let address else { return nil }
        self = address
    }

    /// Creates an address from 4 or 16 bytes in network order. Returns `nil` for any other number of bytes.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self.init(v4: number(bytes[...]))
        case 16: self.init(isIPv6: true, high: number(bytes[..<8]), low: number(bytes[8...]))
        default: return nil
        }
    }

    private init(v4 address: UInt64) {
        self.init(isIPv6: false, high: 0, low: address & 0xFFFF_FFFF)
    }

    private init(isIPv6: Bool, high: UInt64, low: UInt64) {
        self.isIPv6 = isIPv6
        self.high = high
        self.low = low
    }

    /// Returns whether the first `count` bits of both addresses are the same.
    ///
    /// Addresses of different versions never match.
    func sharesPrefix(ofLength count: Int, with other: IPAddress) -> Bool {
        guard isIPv6 == other.isIPv6 else { return false }
        let bits = isIPv6 ? count : count + 96
        // Shifting by the full width of a number gives 0.
        return (high ^ other.high) >> max(0, 64 - bits) == 0 && (low ^ other.low) >> min(64, 128 - bits) == 0
    }

    /// The scope of the address.
    ///
    /// An address that embeds an IPv4 address (mapped, 6to4, NAT64) has the scope of that address.
    public var scope: Scope {
        guard isIPv6 else { return Self.scopes4.first { low >> (32 - $0.length) == $0.prefix }?.scope ?? .global }
        if let embedded { return embedded.scope }
        if high == 0, low <= 1 { return low == 1 ? .loopback : .unspecified }
        return Self.scopes6.first { high >> (64 - $0.length) == $0.prefix }?.scope
            // All global addresses that have been allocated so far begin with the bits 001 (RFC 4291, 2.4).
            ?? (high >> 61 == 1 ? .global : .reserved)
    }

    /// The embedded IPv4 address that receives packets sent to this address.
    private var embedded: IPAddress? {
        switch high {
        case 0 where low >> 32 == 0xFFFF: IPAddress(v4: low)  // ::ffff:0:0/96, RFC 4291, 2.5.5.2
        case 0x0064_FF9B_0000_0000 where low >> 32 == 0: IPAddress(v4: low)  // 64:ff9b::/96, RFC 6052, 2.1
        case _ where high >> 48 == 0x2002: IPAddress(v4: high >> 16)  // 2002::/16, RFC 3056, 2
        default: nil
        }
    }

    private struct Block {
        let prefix: UInt64
        let length: Int
        let scope: Scope
    }

    private static let scopes4 = [
        Block(prefix: 0, length: 8, scope: .unspecified),
        Block(prefix: 10, length: 8, scope: .privateNetwork),
        Block(prefix: 0x6440 >> 6, length: 10, scope: .shared),  // 100.64.0.0
        Block(prefix: 127, length: 8, scope: .loopback),
        Block(prefix: 0xA9FE, length: 16, scope: .linkLocal),  // 169.254.0.0
        Block(prefix: 0xAC10 >> 4, length: 12, scope: .privateNetwork),  // 172.16.0.0
        Block(prefix: 0xC0_00_00, length: 24, scope: .reserved),  // 192.0.0.0
        Block(prefix: 0xC0_00_02, length: 24, scope: .reserved),  // 192.0.2.0
        Block(prefix: 0xC0_58_63, length: 24, scope: .reserved),  // 192.88.99.0
        Block(prefix: 0xC0A8, length: 16, scope: .privateNetwork),  // 192.168.0.0
        Block(prefix: 0xC612 >> 1, length: 15, scope: .reserved),  // 198.18.0.0
        Block(prefix: 0xC6_33_64, length: 24, scope: .reserved),  // 198.51.100.0
        Block(prefix: 0xCB_00_71, length: 24, scope: .reserved),  // 203.0.113.0
        Block(prefix: 0xE, length: 4, scope: .multicast),
        Block(prefix: 0xF, length: 4, scope: .reserved),
    ]

    private static let scopes6 = [
        Block(prefix: 0x0064_FF9B_0001, length: 48, scope: .privateNetwork),  // RFC 8215
        Block(prefix: 0x2001_0000 >> 9, length: 23, scope: .reserved),  // Teredo and other protocol assignments
        Block(prefix: 0x2001_0DB8, length: 32, scope: .reserved),
        Block(prefix: 0x3FFF_0000 >> 12, length: 20, scope: .reserved),
        Block(prefix: 0xFC >> 1, length: 7, scope: .privateNetwork),
        Block(prefix: 0xFE80 >> 6, length: 10, scope: .linkLocal),
        Block(prefix: 0xFEC0 >> 6, length: 10, scope: .privateNetwork),
        Block(prefix: 0xFF, length: 8, scope: .multicast),
    ]
}

extension IPAddress: CustomStringConvertible {
    /// The address in its short form (RFC 5952), without brackets.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if isIPv6 {
            var bytes = (high.bigEndian, low.bigEndian)
            inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
        } else {
            var bytes = UInt32(low).bigEndian
            inet_ntop(AF_INET, &bytes, &text, socklen_t(text.count))
        }
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}
