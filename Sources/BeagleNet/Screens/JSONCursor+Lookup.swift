import BeagleNetHTTP

/// Reading values of a document that has been checked.
///
/// The functions return `nil` instead of an error for a value of another type. The number of bytes that they pass is
/// `index` minus the position at which they began.
extension JSONCursor {
    /// Moves to the value of the last member with this name, compared byte by byte, of the object that begins here.
    mutating func moveToMember(_ name: some Collection<UInt8>) throws(JSONFault) -> Int? {
        guard peek() == UInt8(ascii: "{") else { return nil }
        if openContainer(true) { return nil }
        var found: Int?
        repeat {
            let span = try self.name()
            _ = peek()
            if isText(span, name) { found = index }
            _ = try skipValue()
        } while takeComma()
        return found
    }

    /// Moves to an element of the array that begins here.
    mutating func moveToElement(_ place: Int) throws(JSONFault) -> Int? {
        var (count, found) = (0, Int?.none)
        try forEachElement { start in
            if count == place { found = start }
            count += 1
            return found == nil
        }
        return found
    }

    /// Calls a function with the position of each element of the array that begins here, until it returns `false`.
    ///
    /// - Returns: Whether the value is an array.
    @discardableResult
    mutating func forEachElement(_ visit: (Int) -> Bool) throws(JSONFault) -> Bool {
        guard peek() == UInt8(ascii: "[") else { return false }
        if openContainer(false) { return true }
        repeat {
            _ = peek()
            if !visit(index) { return true }
            _ = try skipValue()
        } while takeComma()
        return true
    }

    private mutating func takeComma() -> Bool {
        guard peek() == UInt8(ascii: ",") else { return false }
        index += 1
        return true
    }

    /// Whether a string has this text.
    func isText(_ span: JSONSpan, _ text: some Collection<UInt8>) -> Bool {
        let written = span.written(in: bytes)
        guard span.hasEscapes else { return written.elementsEqual(text) }
        return JSONText.unescaped(Array(written)[...]).utf8.elementsEqual(text)
    }
}

extension JSONSpan {
    /// Returns the text of a string, without its escapes. An unpaired surrogate becomes U+FFFD.
    func text(in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let written = written(in: bytes)
        return hasEscapes ? JSONText.unescaped(Array(written)[...]) : String(decoding: written, as: UTF8.self)
    }
}
