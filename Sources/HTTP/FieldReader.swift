/// Reads the words of a header field, given as opaque text (`String(opaque:)`), one after another (RFC 9110, 5.6).
package struct FieldReader {
    private let bytes: [UInt8]
    package var place = 0

    package init(_ field: String) {
        bytes = field.opaqueBytes
    }

    /// The byte that comes next; nil at the end.
    package var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    /// Goes over a byte, if it is this one.
    package mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// Goes over spaces and tabs, and over these characters.
    package mutating func skipSpace(and others: String = "") {
        skip { $0 == 0x20 || $0 == 0x09 || others.utf8.contains($0) }
    }

    package mutating func skip(_ belongs: (UInt8) -> Bool) {
        while let next, belongs(next) { place += 1 }
    }

    /// A token (5.6.2), empty where there is none.
    package mutating func token() -> String {
        let start = place
        skip(Self.isTokenByte)
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    /// A token or what stands in quotes (5.6.4); nil where there is neither.
    package mutating func value() -> String? {
        guard skip("\"") else {
            let token = token()
            return token.isEmpty ? nil : token
        }
        var text: [UInt8] = []
        while let byte = next {
            place += 1
            if byte == UInt8(ascii: "\"") { return String(opaque: text) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = next else { return nil }
                place += 1
                text.append(escaped)
            } else {
                text.append(byte)
            }
        }
        return nil
    }

    package static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
