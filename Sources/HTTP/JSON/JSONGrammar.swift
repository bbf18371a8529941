/// The lexical rules of JSON (RFC 8259), which all readers of JSON text share.
///
/// Each reader reports violations with its own reasons and positions.
package enum JSONGrammar {
    /// Returns the position of the next byte that isn't whitespace, or the end of the bytes.
    package static func endOfSpace(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let words = UnsafeRawBufferPointer(bytes)
        var index = start
        while index < bytes.count, bytes[index].isJSONSpace {
            index &+= 1
            // Most whitespace is indentation.
            while index &+ 8 <= bytes.count,
                words.loadUnaligned(fromByteOffset: index, as: UInt64.self) == 0x2020_2020_2020_2020
            {
                index &+= 8
            }
        }
        return index
    }

    /// Returns the byte of an escape with one letter, such as `\n`, or `nil` if there is no such escape.
    package static func byte(ofEscape letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Reads the escape whose letter is at `start`.
    ///
    /// - Returns: The end of the escape, or the position at which it becomes invalid.
    package static func escape(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) -> (end: Int, isValid: Bool) {
        guard start < bytes.count else { return (start, false) }
        if bytes[start] != UInt8(ascii: "u") {
            return byte(ofEscape: bytes[start]) == nil ? (start, false) : (start + 1, true)
        }
        let digits = start + 1..<min(start + 5, bytes.count)
        if let invalid = digits.first(where: { bytes[$0].hexValue == nil }) { return (invalid, false) }
        return (digits.upperBound, digits.count == 4)
    }

    /// Returns the character of an escape `\uXXXX`, or of two that form a surrogate pair, and their length; `nil` for other
    /// text.
    ///
    /// An unpaired surrogate becomes U+FFFD.
    static func character(ofEscape bytes: ArraySlice<UInt8>) -> (character: Unicode.Scalar, count: Int)? {
        guard let high = codeUnit(bytes) else { return nil }
        if let character = Unicode.Scalar(high) { return (character, 6) }
        guard UTF16.isLeadSurrogate(high), let low = codeUnit(bytes.dropFirst(6)), UTF16.isTrailSurrogate(low) else {
            return ("\u{FFFD}", 6)
        }
        return (UTF16.decode(UTF16.EncodedScalar([high, low])), 12)
    }

    /// Returns the code unit of a `\uXXXX` at the beginning.
    private static func codeUnit(_ bytes: ArraySlice<UInt8>) -> UInt16? {
        guard bytes.count >= 6 else { return nil }
        let start = bytes.startIndex
        guard bytes[start] == UInt8(ascii: "\\"), bytes[start + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt16 = 0
        for byte in bytes.dropFirst(2).prefix(4) {
            guard let digit = byte.hexValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// Returns the literal that begins with a letter, or `nil` if there is none.
    @inlinable
    package static func literal(_ first: UInt8) -> (kind: JSONTokenizer.Token.Kind, text: StaticString)? {
        switch first {
        case UInt8(ascii: "t"): (.true, "true")
        case UInt8(ascii: "f"): (.false, "false")
        case UInt8(ascii: "n"): (.null, "null")
        default: nil
        }
    }

    /// Returns whether a literal is at `start`.
    @inlinable
    package static func has(_ literal: StaticString, _ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        let end = start + literal.utf8CodeUnitCount
        return end <= bytes.count
            && literal.withUTF8Buffer { $0.elementsEqual(UnsafeBufferPointer(rebasing: bytes[start..<end])) }
    }

    /// The part of a number to which its last byte belongs.
    package enum NumberPart: Sendable {
        case minus, zero, whole, point, fraction, exponent, exponentSign, exponentDigits

        /// Creates the part that begins with a byte, or `nil` if no number does.
        @inlinable
        package init?(first byte: UInt8) {
            switch byte {
            case UInt8(ascii: "-"): self = .minus
            case UInt8(ascii: "0"): self = .zero
            case UInt8(ascii: "1")...UInt8(ascii: "9"): self = .whole
            default: return nil
            }
        }

        /// Whether a number may end here.
        @inlinable package var isComplete: Bool { self == .zero || repeats }

        /// Whether any number of digits may follow.
        @inlinable package var repeats: Bool { self == .whole || self == .fraction || self == .exponentDigits }

        /// Returns the part that a byte belongs to, or `nil` if it doesn't continue the number.
        @inlinable
        package func next(_ byte: UInt8) -> Self? {
            let isDigit = byte &- 0x30 < 10
            switch self {
            case .minus where isDigit: return byte == UInt8(ascii: "0") ? .zero : .whole
            case .whole where isDigit: return .whole
            case .point where isDigit, .fraction where isDigit: return .fraction
            case .exponent where isDigit, .exponentSign where isDigit, .exponentDigits where isDigit:
                return .exponentDigits
            case .zero where byte == UInt8(ascii: "."), .whole where byte == UInt8(ascii: "."): return .point
            case .zero where byte | 0x20 == UInt8(ascii: "e"), .whole where byte | 0x20 == UInt8(ascii: "e"),
                .fraction where byte | 0x20 == UInt8(ascii: "e"):
                return .exponent
            case .exponent where byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"): return .exponentSign
            default: return nil
            }
        }
    }

    /// The result of reading a number.
    package enum Number {
        case valid
        /// The bytes aren't the beginning of a number.
        case none
        /// A digit is missing.
        case incomplete
        /// A digit follows a leading zero.
        case leadingZero
    }

    /// Reads the number at `start`.
    ///
    /// - Returns: The end of the number, or the position at which it becomes invalid.
    @inlinable
    package static func number(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) -> (end: Int, result: Number) {
        guard start < bytes.count, var part = NumberPart(first: bytes[start]) else { return (start, .none) }
        var end = start &+ 1
        while true {
            if part.repeats {
                while end < bytes.count, bytes[end] &- 0x30 < 10 { end &+= 1 }
            }
            guard end < bytes.count, let next = part.next(bytes[end]) else { break }
            part = next
            end &+= 1
        }
        guard part.isComplete else { return (end, .incomplete) }
        return (end, part == .zero && end < bytes.count && bytes[end] &- 0x30 < 10 ? .leadingZero : .valid)
    }
}

extension UInt8 {
    /// Whether this is whitespace in JSON.
    @inlinable package var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
