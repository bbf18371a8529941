/// What text in JSON's quotes means, and how text is put into them.
package enum JSONText {
    /// Where the next quote, backslash or control character is, eight bytes looked at together; the end where there is none.
    package static func endOfPlain(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index + 8 <= bytes.count {
            let word = UInt64(
                littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self)
            )
            let (quotes, backslashes) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
            // A byte that is one of these has its high bit set; so may one behind it, but the first is right.
            let controls = (word &- (ones &* 0x20)) & ~word
            let found = controls | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
            let ends = found & (ones &* 0x80)
            if ends != 0 { return index + ends.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < bytes.count, !bytes[index].endsPlainText { index += 1 }
        return index
    }

    /// What escaped text means; half of a surrogate pair, and what is not UTF-8, is U+FFFD. It has passed the tokenizer.
    package static func unescaped(_ written: ArraySlice<UInt8>) -> String {
        String(decoding: bytes(of: written) { _ in }, as: UTF8.self)
    }

    /// The bytes that escaped text means.
    ///
    /// - Parameter tellHalf: hears of each half of a surrogate pair, where its digits are; U+FFFD stands for it.
    static func bytes(of written: ArraySlice<UInt8>, tellHalf: (Int) -> Void) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(written.count)
        var rest = written
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                text.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                let digits = rest.startIndex
                let scalar = scalar(&rest)
                if scalar == nil { tellHalf(digits) }
                text.append(contentsOf: String(scalar ?? "\u{FFFD}").utf8)
            default: text.append(escape)
            }
        }
        return text
    }

    /// The character of one `\uXXXX`, or of the two that make a surrogate pair; nil where half of one is missing.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        let high = codeUnit(&rest)
        if let scalar = Unicode.Scalar(high) { return scalar }
        var behind = rest
        guard UTF16.isLeadSurrogate(high), behind.popFirst() == UInt8(ascii: "\\"),
            behind.popFirst() == UInt8(ascii: "u")
        else { return nil }
        let low = codeUnit(&behind)
        guard UTF16.isTrailSurrogate(low) else { return nil }
        rest = behind
        return UTF16.decode(UTF16.EncodedScalar([high, low]))
    }

    private static func codeUnit(_ rest: inout ArraySlice<UInt8>) -> UInt16 {
        var unit: UInt16 = 0
        for byte in rest.prefix(4) {
            unit = unit << 4 | UInt16(byte & 0xF) + (byte > UInt8(ascii: "9") ? 9 : 0)
        }
        rest = rest.dropFirst(4)
        return unit
    }

    /// Writes text in quotes.
    package static func append(_ text: String, to bytes: inout [UInt8], escapingSlashes: Bool = false) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { text in
            var start = 0
            while start < text.count {
                let end =
                    escapingSlashes
                    ? text[start...].firstIndex { $0.endsPlainText || $0 == UInt8(ascii: "/") } ?? text.count
                    : endOfPlain(text, from: start)
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<end]))
                if end < text.count { escape(text[end], to: &bytes) }
                start = end + 1
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x00..<0x20:
            let digit = byte & 0xF
            bytes.append(contentsOf: byte < 0x10 ? "u000".utf8 : "u001".utf8)
            bytes.append(digit + (digit < 10 ? 0x30 : 0x57))
        default: bytes.append(byte)
        }
    }
}

extension UInt8 {
    /// Whether text in JSON's quotes has this byte only as their end or as an escape, or not at all.
    fileprivate var endsPlainText: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}
