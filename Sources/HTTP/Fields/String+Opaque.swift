extension String {
    /// Creates text from bytes that may not be UTF-8, such that `opaqueBytes` returns the same bytes (RFC 9110, 5.5).
    ///
    /// A byte that isn't part of valid UTF-8 becomes a private use character whose low eight bits are the byte. If the
    /// input contains such a character itself, each of its bytes is converted the same way, so that different bytes
    /// always give different texts.
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

    /// The bytes from which the text was created.
    package var opaqueBytes: [UInt8] {
        guard holdsOpaqueBytes else { return Array(utf8) }
        return unicodeScalars.flatMap { scalar in scalar.opaqueByte.map { [$0] } ?? Array(String(scalar).utf8) }
    }

    /// The text with bytes that aren't UTF-8 percent-encoded.
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

    /// Whether any character represents a byte. Such characters begin with the byte F4 in UTF-8, which is rare.
    fileprivate var holdsOpaqueBytes: Bool {
        utf8.contains(0xF4) && unicodeScalars.contains { $0.opaqueByte != nil }
    }
}

extension Unicode.Scalar {
    /// U+10FF00, at the end of the second private use area.
    ///
    /// Only the upper half (bytes from 0x80) is used, because all other bytes are ASCII.
    private static let opaqueBase: UInt32 = 0x10_FF00

    fileprivate init(opaqueByte byte: UInt8) {
        // The fallback is never used: adding eight bits gives neither a surrogate nor a value that is out of range.
        self = Unicode.Scalar(Self.opaqueBase + UInt32(byte)) ?? "\u{FFFD}"
    }

    fileprivate var opaqueByte: UInt8? {
        value >= Self.opaqueBase + 0x80 ? UInt8(truncatingIfNeeded: value) : nil
    }
}

extension HTTPField {
    /// Creates a field from the text of `String(opaque:)`, which is sent as the bytes from which the text was created.
    package init(name: Name, opaqueValue text: String) {
        if text.holdsOpaqueBytes {
            self.init(name: name, value: text.opaqueBytes)
        } else {
            self.init(name: name, value: text)
        }
    }

    /// The value as opaque text. Unlike `value`, it preserves bytes that aren't UTF-8.
    package var opaqueValue: String { withUnsafeBytesOfValue { String(opaque: $0) } }
}
