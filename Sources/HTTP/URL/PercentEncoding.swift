/// The encoding of a URL component: the bytes that it may contain (RFC 3986, 2.3 and 3). All other bytes become `%XX`.
package struct PercentEncoding {
    /// The encoding of names and values in a query. Encodes all reserved characters.
    package static let item = PercentEncoding(allowing: "")
    /// The encoding of a path, including `/`.
    package static let path = PercentEncoding(allowing: "/:@!$&'()*+,;=", keepsEscapes: true)
    /// The encoding of a query or fragment.
    package static let query = PercentEncoding(allowing: "/:@!$&'()*+,;=?", keepsEscapes: true)
    /// The encoding of names and values in `application/x-www-form-urlencoded` (WHATWG URL Standard, 5.2).
    ///
    /// `~` is encoded, and a space becomes `+`.
    package static let form = PercentEncoding(allowing: "*", except: "~", writesSpaceAsPlus: true)

    private let isAllowed: [Bool]
    /// Whether existing `%XX` escapes are kept. A `%` that doesn't begin an escape is always encoded.
    private let keepsEscapes: Bool
    private let writesSpaceAsPlus: Bool

    private init(
        allowing reserved: String,
        except encoded: String = "",
        keepsEscapes: Bool = false,
        writesSpaceAsPlus: Bool = false
    ) {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        var isAllowed = [Bool](repeating: false, count: 256)
        for byte in (unreserved + reserved).utf8 { isAllowed[Int(byte)] = true }
        for byte in encoded.utf8 { isAllowed[Int(byte)] = false }
        self.isAllowed = isAllowed
        self.keepsEscapes = keepsEscapes
        self.writesSpaceAsPlus = writesSpaceAsPlus
    }

    /// Returns whether no byte needs to be encoded.
    func allows(_ text: some Sequence<UInt8>) -> Bool {
        text.allSatisfy { isAllowed[Int($0)] }
    }

    /// Returns the text with all bytes encoded that aren't allowed.
    package func encode(_ text: some StringProtocol) -> String {
        if text.utf8.allSatisfy({ isAllowed[Int($0)] }) { return String(text) }
        let bytes = Array(text.utf8)
        var encoded: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if isAllowed[Int(byte)] || (keepsEscapes && Self.beginsEscape(bytes[index...])) {
                encoded.append(byte)
            } else if writesSpaceAsPlus && byte == UInt8(ascii: " ") {
                encoded.append(UInt8(ascii: "+"))
            } else {
                encoded += [UInt8(ascii: "%"), Self.digit(byte >> 4), Self.digit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Decodes percent-encoded UTF-8. Returns `nil` if an escape or the UTF-8 is invalid.
    package static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes = Array(text.utf8)[...]
        var decoded: [UInt8] = []
        while let byte = bytes.first {
            if byte != UInt8(ascii: "%") {
                decoded.append(byte)
                bytes = bytes.dropFirst()
            } else if beginsEscape(bytes) {
                let digits = String(decoding: bytes.dropFirst().prefix(2), as: UTF8.self)
                decoded.append(contentsOf: UInt8(digits, radix: 16).map { [$0] } ?? [])
                bytes = bytes.dropFirst(3)
            } else {
                return nil
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func beginsEscape(_ bytes: ArraySlice<UInt8>) -> Bool {
        let start = bytes.prefix(3)
        return start.count == 3 && start.first == UInt8(ascii: "%")
            && start.dropFirst().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension UInt8 {
    /// Whether the byte is unreserved in all parts of a URL (RFC 3986, 2.3).
    package var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
