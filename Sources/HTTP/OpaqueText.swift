extension String {
    /// Text of bytes that may not be UTF-8, from which `opaqueBytes` makes the very same bytes again (RFC 9110, 5.5).
    ///
    /// A byte that isn't part of UTF-8 becomes the character of a private use area whose last eight bits it is. So does each
    /// byte of such a character itself, so that no two rows of bytes have the same text.
    package init(opaque bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.holdsOpaqueBytes {
            self = text
            return
        }
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
        while let byte = rest.first {
            var decoder = UTF8()
            var iterator = rest.makeIterator()
            if case .scalarValue(let scalar) = decoder.decode(&iterator), scalar.opaqueByte == nil {
                text.append(scalar)
                rest = rest.dropFirst(UTF8.width(scalar))
            } else {
                text.append(Unicode.Scalar(opaqueByte: byte))
                rest = rest.dropFirst()
            }
        }
        self = String(text)
    }

    /// The bytes that the text was made of.
    package var opaqueBytes: [UInt8] {
        guard holdsOpaqueBytes else { return Array(utf8) }
        return unicodeScalars.flatMap { scalar in scalar.opaqueByte.map { [$0] } ?? Array(String(scalar).utf8) }
    }

    /// The text with percent-encoded bytes in the place of those that aren't UTF-8.
    package var encodingOpaqueBytes: String {
        guard holdsOpaqueBytes else { return self }
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if let byte = scalar.opaqueByte {
                text.append(contentsOf: ["%", digits[Int(byte >> 4)], digits[Int(byte & 15)]])
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }

    /// Whether a character stands for a byte. All of them begin with the byte F4, which is rare.
    fileprivate var holdsOpaqueBytes: Bool {
        utf8.contains(0xF4) && unicodeScalars.contains { $0.opaqueByte != nil }
    }
}

extension Unicode.Scalar {
    /// U+10FF00, at the end of the second private use area. Only the half for bytes from 80 on is used: all others are ASCII.
    private static let opaqueBase: UInt32 = 0x10_FF00

    fileprivate init(opaqueByte byte: UInt8) {
        // No sum with eight bits is out of range or a surrogate, for which alone the initializer has no scalar.
        self = Unicode.Scalar(Self.opaqueBase + UInt32(byte)) ?? "\u{FFFD}"
    }

    fileprivate var opaqueByte: UInt8? {
        value >= Self.opaqueBase + 0x80 ? UInt8(truncatingIfNeeded: value) : nil
    }
}

extension HTTPField {
    /// A field of `String(opaque:)`'s text, which is sent as the bytes that the text was made of.
    package init(name: Name, opaqueValue text: String) {
        if text.holdsOpaqueBytes {
            self.init(name: name, value: text.opaqueBytes)
        } else {
            self.init(name: name, value: text)
        }
    }

    /// The value as text that keeps bytes that aren't UTF-8, in contrast to `value`.
    package var opaqueValue: String { withUnsafeBytesOfValue { String(opaque: $0) } }
}
