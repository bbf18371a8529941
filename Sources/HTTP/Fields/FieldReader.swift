/// A reader for the words of a header field, given as opaque text (`String(opaque:)`) (RFC 9110, 5.6).
package struct FieldReader {
    private let bytes: [UInt8]
    package var position = 0

    package init(_ field: String) {
        bytes = field.opaqueBytes
    }

    /// The next byte, or `nil` at the end.
    package var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Skips the next byte if it is this character. Returns whether it was.
    package mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Skips spaces, tabs and the given characters.
    package mutating func skipSpace(and others: String = "") {
        skip { $0 == 0x20 || $0 == 0x09 || others.utf8.contains($0) }
    }

    package mutating func skip(_ belongs: (UInt8) -> Bool) {
        while let next, belongs(next) { position += 1 }
    }

    /// Reads a token (5.6.2). Returns an empty string if there is no token.
    package mutating func token() -> String {
        let start = position
        skip(Self.isTokenByte)
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Reads a token or a quoted string (5.6.4). Returns `nil` if there is neither.
    package mutating func value() -> String? {
        guard skip("\"") else {
            let token = token()
            return token.isEmpty ? nil : token
        }
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { return String(opaque: text) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = next else { return nil }
                position += 1
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
