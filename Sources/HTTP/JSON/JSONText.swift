/// What text in JSON's quotes means, and how text is put into them.
package enum JSONText {
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
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
            case UInt8(ascii: "/") where escapingSlashes: bytes.append(contentsOf: "\\/".utf8)
            case 0x08: bytes.append(contentsOf: "\\b".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0C: bytes.append(contentsOf: "\\f".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x00..<0x20:
                bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u00").utf8)
                bytes.append(contentsOf: String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
