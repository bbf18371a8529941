/// A writer for JSON text that writes members in the order in which they are given.
///
/// Generic functions are inlinable. Otherwise each step of a call from another module would look up the number's type.
@usableFromInline
package struct JSONOutput: ~Copyable {
    /// The allocated buffer, of which the first `count` bytes are written.
    ///
    /// The output is its only owner and isn't copyable, so nothing else writes to the buffer. An array would check for
    /// uniqueness before each byte.
    private var buffer: UnsafeMutableBufferPointer<UInt8>
    private var count = 0
    private var needsComma = false

    package init(capacity: Int = 0) {
        buffer = .allocate(capacity: capacity)
    }

    deinit {
        buffer.deallocate()
    }

    /// A copy of the bytes written.
    package var bytes: [UInt8] { withBytes { Array($0) } }

    /// Calls a function with the bytes written, without copying them.
    package func withBytes<R>(_ look: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        look(UnsafeBufferPointer(rebasing: buffer[..<count]))
    }

    /// Discards the text but keeps the buffer for reuse, unless it is larger than 64 KiB.
    package mutating func reset() {
        if buffer.count > 64 << 10 { reallocate(0) }
        count = 0
        needsComma = false
    }

    /// Writes an object.
    ///
    /// `members` writes each value after its `name`.
    package mutating func object(_ members: (inout JSONOutput) -> Void) { container("{", "}", members) }

    /// Writes an array.
    ///
    /// `elements` writes its elements.
    package mutating func array(_ elements: (inout JSONOutput) -> Void) { container("[", "]", elements) }

    /// Writes the name of the next member.
    ///
    /// The name must not need escapes.
    @usableFromInline
    package mutating func name(_ name: StaticString) {
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        assert(JSONText.endOfPlain(name, from: 0) == name.count, "this name needs escapes")
        makeRoom(for: name.count + 4)
        if needsComma { write(UInt8(ascii: ",")) }
        write(UInt8(ascii: "\""))
        write(name)
        write(UInt8(ascii: "\""))
        write(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes the name of the next member with escapes if necessary.
    package mutating func name(escaping name: String) { quote(name, isName: true) }

    package mutating func string(_ text: String) { quote(text, isName: false) }

    /// Writes a string from bytes in UTF-8.
    ///
    /// - Returns: Whether the bytes are valid UTF-8. Otherwise nothing is written.
    package mutating func string(validating bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.isASCII || String(validating: bytes, as: UTF8.self) != nil else { return false }
        bytes.withMemoryRebound(to: UInt8.self) { quote($0, isName: false) }
        return true
    }

    @inlinable
    package mutating func integer(_ number: some BinaryInteger) {
        guard let number = Int64(exactly: number) else { return raw("\(number)".utf8) }
        decimal(number)
    }

    /// Writes a number with a decimal point before its last digits: `decimal(1_500, places: 3)` is `1.500`.
    ///
    /// - Parameter places: The number of digits after the point, at most 18.
    @usableFromInline
    package mutating func decimal(_ number: Int64, places: Int = 0) {
        separate()
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digits in
            var start = digits.count
            func put(_ byte: UInt8) {
                start -= 1
                digits[start] = byte
            }
            var rest = number.magnitude
            while rest > 0 || digits.count - start <= (places == 0 ? 0 : places + 1) {
                if places > 0, digits.count - start == places { put(UInt8(ascii: ".")) }
                put(UInt8(ascii: "0") + UInt8(rest % 10))
                rest /= 10
            }
            if number < 0 { put(UInt8(ascii: "-")) }
            append(UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }

    package mutating func bool(_ value: Bool) { raw((value ? "true" : "false").utf8) }

    package mutating func null() { raw("null".utf8) }

    /// Writes a value that is already JSON text.
    @inlinable
    package mutating func raw(_ json: some Sequence<UInt8>) {
        if json.withContiguousStorageIfAvailable({ raw($0) }) == nil {
            Array(json).withUnsafeBufferPointer { raw($0) }
        }
    }

    @usableFromInline
    mutating func raw(_ json: UnsafeBufferPointer<UInt8>) {
        separate()
        append(json)
    }

    package mutating func member(_ name: StaticString, _ text: String) {
        self.name(name)
        string(text)
    }

    @inlinable
    package mutating func member(_ name: StaticString, _ number: some BinaryInteger) {
        self.name(name)
        integer(number)
    }

    package mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        bool(value)
    }

    private mutating func separate() {
        if needsComma { put(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func container(
        _ start: Unicode.Scalar,
        _ end: Unicode.Scalar,
        _ content: (inout JSONOutput) -> Void
    ) {
        separate()
        put(UInt8(ascii: start))
        needsComma = false
        content(&self)
        put(UInt8(ascii: end))
        needsComma = true
    }
}

// MARK: - Bytes

extension JSONOutput {
    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        makeRoom(for: 1)
        write(byte)
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: bytes.count)
        write(bytes)
    }

    /// Writes a byte for which there is room.
    private mutating func write(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
    }

    /// Writes bytes for which there is room.
    private mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
            .copyMemory(from: UnsafeRawBufferPointer(bytes))
        count += bytes.count
    }

    /// Writes a string in quotes, after a comma if one is due. A name is followed by a colon.
    private mutating func quote(_ text: String, isName: Bool) {
        var text = text
        text.withUTF8 { quote($0, isName: isName) }
    }

    private mutating func quote(_ text: UnsafeBufferPointer<UInt8>, isName: Bool) {
        makeRoom(for: 6 * min(text.count, Self.piece) + 12)
        if needsComma { write(UInt8(ascii: ",")) }
        write(UInt8(ascii: "\""))
        var start = 0
        while start < text.count {
            let end = min(text.count, start + Self.piece)
            makeRoom(for: 6 * (end - start) + 10)
            count = JSONText.escape(text, start..<end, to: buffer, from: count)
            start = end
        }
        // There is buffer for these bytes already.
        write(UInt8(ascii: "\""))
        if isName { write(UInt8(ascii: ":")) }
        needsComma = !isName
    }

    /// The number of bytes of text for which room is made at a time.
    private static let piece = 1_024

    @inline(__always)
    private mutating func makeRoom(for more: Int) {
        if buffer.count - count < more { reallocate(buffer.count + max(more, buffer.count, 256)) }
    }

    @inline(never)
    private mutating func reallocate(_ capacity: Int) {
        let old = buffer
        buffer = .allocate(capacity: capacity)
        let kept = min(count, capacity)
        UnsafeMutableRawBufferPointer(buffer).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(old)[..<kept])
        )
        old.deallocate()
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all bytes are below 128. This check is faster than validating UTF-8.
    fileprivate var isASCII: Bool {
        var all: UInt64 = 0
        for place in 0..<count / 8 { all |= loadUnaligned(fromByteOffset: place &* 8, as: UInt64.self) }
        for place in (count & ~7)..<count { all |= UInt64(self[place]) }
        return all & 0x8080_8080_8080_8080 == 0
    }
}
