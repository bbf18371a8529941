/// The escaping and unescaping of JSON strings.
package enum JSONText {
    /// Returns the position of the next quote, backslash or control character, or the end of the bytes.
    ///
    /// Examines several bytes at a time.
    package static func endOfPlain(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        // Names and most values are short.
        if index &+ 8 <= bytes.count {
            let ends = ends(in: word(of: bytes, at: index))
            if ends != 0 { return index &+ ends.trailingZeroBitCount / 8 }
            index &+= 8
        }
        // Most blocks have no match. If one has, the loop below finds its position.
        while index &+ 16 <= bytes.count {
            if ends(in: word(of: bytes, at: index)) | ends(in: word(of: bytes, at: index &+ 8)) != 0 { break }
            index &+= 16
        }
        while index + 8 <= bytes.count {
            let ends = ends(in: word(of: bytes, at: index))
            if ends != 0 { return index + ends.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < bytes.count, !bytes[index].endsPlainText { index += 1 }
        return index
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Returns the next eight bytes, the first in the lowest byte.
    private static func word(of bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt64 {
        UInt64(littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Returns fewer than eight bytes, the first in the lowest byte.
    private static func word(of bytes: UnsafeBufferPointer<UInt8>, at index: Int, count: Int) -> UInt64 {
        // Reads the last eight bytes and shifts out those before `index`.
        if index + count >= 8 { return word(of: bytes, at: index + count - 8) >> UInt64(8 * (8 - count)) }
        return (0..<count).reduce(0) { $0 | UInt64(bytes[index + $1]) << UInt64(8 * $1) }
    }

    /// Sets the high bit of each quote, backslash and control character.
    ///
    /// A byte after a match may also be marked by mistake, but the first mark is correct.
    private static func ends(in word: UInt64) -> UInt64 {
        let controls = (word &- (ones &* 0x20)) & ~word
        return (controls | zeros(in: word ^ (ones &* 0x22)) | zeros(in: word ^ (ones &* 0x5C))) & (ones &* 0x80)
    }

    private static func zeros(in word: UInt64) -> UInt64 { (word &- ones) & ~word }

    /// The number of bytes examined at a time in long text. `blockRoom` adds a word, because bytes are copied in whole
    /// words.
    private static let blockCount = 64
    private static let blockRoom = blockCount + 8

    /// Returns a mask of the next 64 bytes that must be escaped, the first in the lowest bit. The words are independent
    /// of each other, so the CPU needn't wait for one before the next.
    private static func marks(of bytes: UnsafeBufferPointer<UInt8>, at index: Int, _ escapesSlashes: Bool) -> UInt64 {
        var marks: UInt64 = 0
        for place in 0..<blockCount / 8 {
            let word = word(of: bytes, at: index &+ place &* 8)
            var plain = filled(in: word & (ones &* 0xE0))
            plain &= filled(in: word ^ (ones &* 0x22)) & filled(in: word ^ (ones &* 0x5C))
            if escapesSlashes { plain &= filled(in: word ^ (ones &* 0x2F)) }
            let ends = (~plain & (ones &* 0x80)) >> 7
            // Collects one bit of each byte into adjacent bits.
            marks |= ((ends &* 0x0102_0408_1020_4080) >> 56) << UInt64(place &* 8)
        }
        return marks
    }

    /// Sets the high bit of each byte that isn't zero.
    private static func filled(in word: UInt64) -> UInt64 { ((word & (ones &* 0x7F)) &+ (ones &* 0x7F)) | word }

    /// Returns the unescaped text.
    ///
    /// The input must have passed the tokenizer. Unpaired surrogates and invalid UTF-8 become U+FFFD.
    package static func unescaped(_ written: ArraySlice<UInt8>) -> String {
        String(decoding: bytes(of: written), as: UTF8.self)
    }

    /// Returns the bytes of the unescaped text. Unpaired surrogates become U+FFFD.
    static func bytes(of written: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(written.count)
        var start = written.startIndex
        while let backslash = written[start...].firstIndex(of: UInt8(ascii: "\\")), backslash + 1 < written.endIndex {
            text += written[start..<backslash]
            let letter = written[backslash + 1]
            if letter == UInt8(ascii: "u"),
                let (character, count) = JSONGrammar.character(ofEscape: written[backslash...])
            {
                text += UTF8.encode(character)!
                start = backslash + count
            } else {
                text.append(JSONGrammar.byte(ofEscape: letter) ?? letter)
                start = backslash + 2
            }
        }
        text += written[start...]
        return text
    }

    /// Appends a string with quotes and escapes.
    package static func append(_ text: String, to bytes: inout [UInt8], escapingSlashes: Bool = false) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { text in
            // Escaped into a temporary buffer first, because each append to an array has a cost. A larger buffer
            // wouldn't be on the stack.
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { aside in
                var start = 0
                while start < text.count {
                    let end = min(text.count, start + (aside.count - 8) / 6)
                    let count = escape(text, start..<end, escapingSlashes, to: aside, from: 0)
                    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: aside[..<count]))
                    start = end
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes bytes of a text with escapes, without quotes.
    ///
    /// - Parameters:
    ///   - output: A buffer with room for six bytes for each byte of text, and eight more.
    ///   - start: The position in `output` at which to write.
    /// - Returns: The position after the bytes written.
    static func escape(
        _ text: UnsafeBufferPointer<UInt8>,
        _ range: Range<Int>,
        _ escapesSlashes: Bool = false,
        to output: UnsafeMutableBufferPointer<UInt8>,
        from start: Int
    ) -> Int {
        var (index, count) = (range.lowerBound, start)
        while range.upperBound - index >= blockRoom {
            count = escapeBlock(of: text, at: index, escapesSlashes, to: output, count)
            index += blockCount
        }
        while index < range.upperBound {
            let rest = range.upperBound - index
            let word = rest < 8 ? self.word(of: text, at: index, count: rest) : self.word(of: text, at: index)
            var ends = ends(in: word)
            if escapesSlashes { ends |= zeros(in: word ^ (ones &* 0x2F)) & (ones &* 0x80) }
            // The bytes after a match are overwritten later.
            UnsafeMutableRawBufferPointer(output)
                .storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
            let plain = min(rest, ends == 0 ? 8 : ends.trailingZeroBitCount / 8)
            index += plain
            count += plain
            if plain == 8 || plain == rest { continue }
            count = escape(text[index], to: output, count)
            index += 1
        }
        return count
    }

    /// Writes 64 bytes with escapes. At least eight more bytes of text must follow them.
    ///
    /// - Returns: The position after the bytes written.
    private static func escapeBlock(
        of text: UnsafeBufferPointer<UInt8>,
        at start: Int,
        _ escapesSlashes: Bool,
        to output: UnsafeMutableBufferPointer<UInt8>,
        _ place: Int
    ) -> Int {
        let room = UnsafeMutableRawBufferPointer(output)
        var marks = marks(of: text, at: start, escapesSlashes)
        var (index, count) = (start, place)
        while true {
            let end = marks == 0 ? start &+ blockCount : start &+ marks.trailingZeroBitCount
            var copied = 0
            while copied < end &- index {
                let word = word(of: text, at: index &+ copied)
                room.storeBytes(of: word.littleEndian, toByteOffset: count &+ copied, as: UInt64.self)
                copied &+= 8
            }
            count &+= end &- index
            if marks == 0 { return count }
            count = escape(text[end], to: output, count)
            index = end &+ 1
            marks &= marks &- 1
        }
    }

    /// Writes the escape of a byte.
    ///
    /// - Returns: The position after the escape.
    private static func escape(_ byte: UInt8, to output: UnsafeMutableBufferPointer<UInt8>, _ start: Int) -> Int {
        output[start] = UInt8(ascii: "\\")
        if byte >= 0x20 {
            output[start + 1] = byte
            return start + 2
        }
        let short: UInt8? =
            switch byte {
            case 0x08: UInt8(ascii: "b")
            case 0x09: UInt8(ascii: "t")
            case 0x0A: UInt8(ascii: "n")
            case 0x0C: UInt8(ascii: "f")
            case 0x0D: UInt8(ascii: "r")
            default: nil
            }
        if let short {
            output[start + 1] = short
            return start + 2
        }
        let digit = byte & 0xF
        output[start + 1] = UInt8(ascii: "u")
        output[start + 2] = UInt8(ascii: "0")
        output[start + 3] = UInt8(ascii: "0")
        output[start + 4] = UInt8(ascii: byte < 0x10 ? "0" : "1")
        output[start + 5] = digit + (digit < 10 ? 0x30 : 0x57)
        return start + 6
    }
}

extension UInt8 {
    /// Whether this byte can't appear unescaped inside a JSON string: a quote, a backslash or a control character.
    fileprivate var endsPlainText: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}
