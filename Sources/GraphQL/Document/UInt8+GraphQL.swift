extension UInt8 {
    /// Whether a name may begin with this byte (GraphQL specification, 2.1.9).
    var isNameStart: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 || self == UInt8(ascii: "_") }

    /// Whether the byte is a decimal digit.
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    /// Whether the byte is white space, a line end or a comma (2.1.2, 2.1.3, 2.1.5).
    var isIgnored: Bool { self < 64 && 0x1001_0000_2600 & (1 as UInt64) &<< UInt64(self) != 0 }

    /// Whether a name may contain this byte.
    var isNamePart: Bool { isNameStart || isDigit }

    /// The value of the byte as a hexadecimal digit, or `nil` if it isn't one.
    var hexDigit: UInt32? {
        if isDigit { return UInt32(self & 0xF) }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? UInt32(letter) + 10 : nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns whether the bytes of a range equal a word.
    func has(_ word: StaticString, _ start: Int, _ end: Int) -> Bool {
        guard end - start == word.utf8CodeUnitCount else { return false }
        for index in 0..<(end - start) where self[start + index] != word.utf8Start[index] { return false }
        return true
    }
}
