/// Writes JSON text member by member, in the order in which they come.
///
/// What is generic is inlinable, or it would ask the number's type for each step from another module.
@usableFromInline
package struct JSONOutput: ~Copyable {
    /// What was written, and room for more: made here, given to no one and freed at the end, so that, as this is not copied,
    /// nobody else writes to it. An array would be asked before each byte whether it is shared.
    private var room: UnsafeMutableBufferPointer<UInt8>
    private var count = 0
    private var needsComma = false

    package init(capacity: Int = 0) {
        room = .allocate(capacity: capacity)
    }

    deinit {
        room.deallocate()
    }

    /// What was written.
    package var bytes: [UInt8] { withBytes { Array($0) } }

    /// Looks at what was written, where it lies.
    package func withBytes<R>(_ look: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        look(UnsafeBufferPointer(rebasing: room[..<count]))
    }

    /// Forgets what was written; the room for it, unless that is large, is there for what comes next.
    package mutating func reset() {
        if room.count > 64 << 10 { replaceRoom(0) }
        count = 0
        needsComma = false
    }

    /// An object of what `members` writes, each behind its `name`.
    package mutating func object(_ members: (inout JSONOutput) -> Void) { container("{", "}", members) }

    /// An array of what `elements` writes.
    package mutating func array(_ elements: (inout JSONOutput) -> Void) { container("[", "]", elements) }

    /// The name of the member whose value comes next, in which nothing is to be escaped.
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

    /// The name of the member whose value comes next, whatever is in it.
    package mutating func name(escaping name: String) { quote(name, isName: true) }

    package mutating func string(_ text: String) { quote(text, isName: false) }

    /// The text that these bytes are in UTF-8.
    ///
    /// - Returns: whether they are some; nothing is written otherwise.
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

    /// A number with a point in front of its last digits: `decimal(1_500, places: 3)` is `1.500`.
    ///
    /// - Parameter places: how many digits are behind the point, at most 18.
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

    /// A value that is JSON text already.
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
        room[count] = byte
        count += 1
    }

    /// Writes bytes for which there is room.
    private mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[count...])
            .copyMemory(from: UnsafeRawBufferPointer(bytes))
        count += bytes.count
    }

    /// Writes text in quotes, with the comma in front that is due, and a colon behind a name.
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
            count = JSONText.escape(text, start..<end, to: room, from: count)
            start = end
        }
        // For which there is room.
        write(UInt8(ascii: "\""))
        if isName { write(UInt8(ascii: ":")) }
        needsComma = !isName
    }

    /// Bytes of text for whose escapes room is made at a time.
    private static let piece = 1_024

    @inline(__always)
    private mutating func makeRoom(for more: Int) {
        if room.count - count < more { replaceRoom(room.count + max(more, room.count, 256)) }
    }

    @inline(never)
    private mutating func replaceRoom(_ capacity: Int) {
        let old = room
        room = .allocate(capacity: capacity)
        let kept = min(count, capacity)
        UnsafeMutableRawBufferPointer(room).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(old)[..<kept])
        )
        old.deallocate()
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all are below 128, which is told sooner than what text they are.
    fileprivate var isASCII: Bool {
        var all: UInt64 = 0
        for place in 0..<count / 8 { all |= loadUnaligned(fromByteOffset: place &* 8, as: UInt64.self) }
        for place in (count & ~7)..<count { all |= UInt64(self[place]) }
        return all & 0x8080_8080_8080_8080 == 0
    }
}
