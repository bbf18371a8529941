/// A replacement of a piece of text.
struct RedactionEdit {
    /// The range in the scanned bytes.
    var range: Range<Int>
    /// The replacement.
    var text: String
    /// The path to the secret, as in ``Redactor/Audit``.
    var path: String

    init(_ range: Range<Int>, _ text: String, _ path: String) {
        self.range = range
        self.text = text
        self.path = path
    }
}

extension [UInt8] {
    /// Returns the bytes of a range after these edits, which must be sorted and inside the range.
    func applying(_ edits: [RedactionEdit], in range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var place = range.lowerBound
        for edit in edits {
            result += self[place..<edit.range.lowerBound]
            result += edit.text.utf8
            place = edit.range.upperBound
        }
        result += self[place..<range.upperBound]
        return result
    }
}

/// Decoded text, with the position of each byte in the encoded text.
struct DecodedText {
    /// An encoding of text within other text.
    enum Encoding {
        /// The query of a URL or a form, in which `+` is a space.
        case percent
        /// The other parts of a URL.
        case escapes
        /// A JSON string, without its quotes.
        case json
        /// Text without encoding.
        case plain
    }

    private(set) var bytes: [UInt8] = []
    /// The start of each byte's encoded form, followed by the end of the last one.
    private(set) var origins: [Int] = []
    private let encoding: Encoding

    /// Decodes a range. Invalid escapes stay unchanged.
    ///
    /// - Parameters:
    ///   - context: Bytes decoded before, for looking back.
    ///   - isWhole: Whether the text is complete. If not, a possible part of an escape at the end isn't decoded.
    init(
        _ source: [UInt8],
        _ range: Range<Int>,
        _ encoding: Encoding,
        context: [UInt8] = [],
        isWhole: Bool = true
    ) {
        self.encoding = encoding
        bytes.reserveCapacity(range.count + context.count)
        origins.reserveCapacity(range.count + context.count + 1)
        bytes += context
        origins += repeatElement(range.lowerBound, count: context.count)
        var place = range.lowerBound
        while place < range.upperBound {
            let start = place
            if !isWhole, source[place] == UInt8(ascii: "\\"), range.upperBound - place < Self.longestEscape { break }
            switch (encoding, source[place]) {
            case (.percent, UInt8(ascii: "%")), (.escapes, UInt8(ascii: "%")):
                place += percentEscape(source[place..<range.upperBound])
            case (.percent, UInt8(ascii: "+")): place += take(UInt8(ascii: " "), 1)
            case (.json, UInt8(ascii: "\\")): place += jsonEscape(source[place..<range.upperBound])
            default: place += take(source[place], 1)
            }
            origins += repeatElement(start, count: bytes.count - origins.count)
        }
        origins.append(place)
    }

    /// Joins pieces of text with line feeds.
    init(_ source: [UInt8], lines: [Range<Int>]) {
        encoding = .plain
        for (index, line) in lines.enumerated() {
            if index > 0 {
                bytes.append(0x0A)
                // An edit that ends with a line keeps the bytes between this line and the next one.
                origins.append(lines[index - 1].upperBound)
            }
            bytes += source[line]
            origins += line
        }
        origins.append(lines.last?.upperBound ?? 0)
    }

    /// The maximum length of an escape: two JSON escapes that form one character.
    private static let longestEscape = 12

    /// Converts an edit of the decoded text to an edit of the encoded text.
    func encoded(_ edit: RedactionEdit) -> RedactionEdit {
        var edit = edit
        edit.range = origins[edit.range.lowerBound]..<origins[edit.range.upperBound]
        edit.text = encoding.encoded(edit.text)
        return edit
    }

    private mutating func take(_ byte: UInt8, _ count: Int) -> Int {
        bytes.append(byte)
        return count
    }

    private mutating func percentEscape(_ source: ArraySlice<UInt8>) -> Int {
        let digits = source.dropFirst().prefix(2)
        guard digits.count == 2, let high = digits[digits.startIndex].hexValue,
            let low = digits[digits.startIndex + 1].hexValue
        else { return take(UInt8(ascii: "%"), 1) }
        return take(UInt8(high << 4 | low), 3)
    }

    private mutating func jsonEscape(_ source: ArraySlice<UInt8>) -> Int {
        guard let letter = source.dropFirst().first else { return take(UInt8(ascii: "\\"), 1) }
        if letter != UInt8(ascii: "u") { return take(JSONGrammar.byte(ofEscape: letter) ?? letter, 2) }
        guard let (character, count) = JSONGrammar.character(ofEscape: source) else {
            return take(UInt8(ascii: "\\"), 1)
        }
        bytes += UTF8.encode(character)!
        return count
    }
}

extension DecodedText.Encoding {
    /// Encodes text.
    func encoded(_ text: String) -> String {
        switch self {
        case .plain: text
        case .percent, .escapes: text.utf8.allSatisfy(Self.isPlain) ? text : Self.percentEncoded(text)
        case .json: text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C } ? text : Self.jsonEncoded(text)
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._~:".utf8.contains(byte)
    }

    private static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte in
            isPlain(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func jsonEncoded(_ text: String) -> String {
        String(JSONValue.string(text).description.dropFirst().dropLast())
    }
}

extension UInt8 {
    var isDigit: Bool { self &- 0x30 < 10 }
    var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }
    var isLetterOrDigit: Bool { isDigit || isLetter }
    /// Whether this is a letter, a digit or `_`.
    var isWord: Bool { isLetterOrDigit || self == 0x5F }
    var isSpace: Bool { self == 0x20 || (self >= 0x09 && self <= 0x0D) }

    var hexValue: Int? {
        if isDigit { return Int(self - 0x30) }
        let letter = (self | 0x20) &- 0x61
        return letter < 6 ? Int(letter) + 10 : nil
    }
}
