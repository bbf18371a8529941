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
    static func byte(ofEscape letter: UInt8) -> UInt8? {
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

    /// Returns the character of a `\u` escape, or of two that form a surrogate pair, and their length; `nil` for other
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

    /// Returns the code unit of the `\u` escape at the beginning, or `nil` for other text.
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

    /// Returns the literal that begins with a letter, or `nil` if no literal does.
    static func literal(_ first: UInt8) -> (kind: JSONTokenizer.Token.Kind, text: StaticString)? {
        switch first {
        case UInt8(ascii: "t"): (.true, "true")
        case UInt8(ascii: "f"): (.false, "false")
        case UInt8(ascii: "n"): (.null, "null")
        default: nil
        }
    }

    /// Returns whether a literal is at `start`.
    static func has(_ literal: StaticString, _ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        let end = start + literal.utf8CodeUnitCount
        return end <= bytes.count
            && literal.withUTF8Buffer { $0.elementsEqual(UnsafeBufferPointer(rebasing: bytes[start..<end])) }
    }

    /// The result of reading a number.
    enum Number {
        case valid
        /// The bytes aren't the beginning of a number.
        case none
        /// A digit is missing.
        case incomplete
        /// A digit follows a leading zero.
        case leadingZero
    }

    /// Reads the number at `start` in complete text. With `NumberPart`, `JSONScanner` read a list of numbers at 517 instead
    /// of 618 MB/s.
    ///
    /// - Returns: The end of the number, or the position at which it becomes invalid.
    static func number(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) -> (end: Int, result: Number) {
        var index = start
        if index < bytes.count, bytes[index] == UInt8(ascii: "-") { index &+= 1 }
        let whole = index
        guard passDigits(bytes, &index) else { return (index, index == start ? .none : .incomplete) }
        if bytes[whole] == UInt8(ascii: "0"), index > whole &+ 1 { return (whole &+ 1, .leadingZero) }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index &+= 1
            guard passDigits(bytes, &index) else { return (index, .incomplete) }
        }
        guard index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") else { return (index, .valid) }
        index &+= 1
        if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index &+= 1 }
        let isComplete = passDigits(bytes, &index)
        return (index, isComplete ? .valid : .incomplete)
    }

    /// Skips digits, and returns whether there were any.
    @inline(__always)
    static func passDigits(_ bytes: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> Bool {
        let start = index
        while index < bytes.count, bytes[index].isDigit { index &+= 1 }
        return index > start
    }

    /// The part of a number to which its last byte belongs, for text in parts.
    enum NumberPart {
        case minus, zero, whole, point, fraction, exponent, exponentSign, exponentDigits

        /// Creates the part that begins with a byte, or `nil` if no number does.
        init?(first byte: UInt8) {
            switch byte {
            case UInt8(ascii: "-"): self = .minus
            case UInt8(ascii: "0"): self = .zero
            case UInt8(ascii: "1")...UInt8(ascii: "9"): self = .whole
            default: return nil
            }
        }

        /// Whether a number may end here.
        var isComplete: Bool {
            self == .zero || self == .whole || self == .fraction || self == .exponentDigits
        }

        /// Returns the part that a byte belongs to, or `nil` if it doesn't continue the number.
        func next(_ byte: UInt8) -> Self? {
            switch self {
            case .minus where byte.isDigit: return byte == UInt8(ascii: "0") ? .zero : .whole
            case .whole where byte.isDigit: return .whole
            case .point where byte.isDigit, .fraction where byte.isDigit: return .fraction
            case .exponent where byte.isDigit, .exponentSign where byte.isDigit, .exponentDigits where byte.isDigit:
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
}

extension UInt8 {
    /// Whether this is whitespace in JSON.
    @inlinable package var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
