/// Writes JSON text member by member, in the order in which they come.
///
/// What is generic is inlinable, or it would ask the number's type for each step from another module.
@usableFromInline
package struct JSONOutput: Sendable {
    /// What was written, and room for more.
    private var room: [UInt8]
    private var count = 0
    private var needsComma = false

    package init(capacity: Int = 0) {
        room = Array(repeating: 0, count: capacity)
    }

    /// What was written.
    package var bytes: [UInt8] { Array(room[..<count]) }

    /// Looks at what was written, where it lies.
    package func withBytes<R>(_ look: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        room.withUnsafeBufferPointer { look(UnsafeBufferPointer(rebasing: $0[..<count])) }
    }

    /// Forgets what was written; the room for it, unless that is large, is there for what comes next.
    package mutating func reset() {
        if room.count > 64 << 10 { room = [] }
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
        name.withUTF8Buffer { name in
            assert(JSONText.endOfPlain(name, from: 0) == name.count, "this name needs escapes")
            makeRoom(for: name.count + 4)
            let (hasComma, place) = (needsComma, count)
            count = room.withUnsafeMutableBytes { room in
                var place = place
                func put(_ byte: UInt8) {
                    room[place] = byte
                    place += 1
                }
                if hasComma { put(UInt8(ascii: ",")) }
                put(UInt8(ascii: "\""))
                UnsafeMutableRawBufferPointer(rebasing: room[place...]).copyMemory(from: UnsafeRawBufferPointer(name))
                place += name.count
                put(UInt8(ascii: "\""))
                put(UInt8(ascii: ":"))
                return place
            }
        }
        needsComma = false
    }

    /// The name of the member whose value comes next, whatever is in it.
    package mutating func name(escaping name: String) { quote(name, isName: true) }

    package mutating func string(_ text: String) { quote(text, isName: false) }

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
    private mutating func put(_ byte: UInt8) {
        makeRoom(for: 1)
        room[count] = byte
        count += 1
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: bytes.count)
        let start = count
        room.withUnsafeMutableBytes { room in
            UnsafeMutableRawBufferPointer(rebasing: room[start...]).copyMemory(from: UnsafeRawBufferPointer(bytes))
        }
        count += bytes.count
    }

    /// Writes text in quotes, with the comma in front that is due, and a colon behind a name: all at once, as an array is
    /// looked after at each look into it.
    private mutating func quote(_ text: String, isName: Bool) {
        var text = text
        text.withUTF8 { text in
            var start = 0
            repeat {
                let end = min(text.count, start + 1_024)
                makeRoom(for: 6 * (end - start) + 12)
                let (isBegin, isEnd, hasComma, place) = (start == 0, end == text.count, needsComma, count)
                count = room.withUnsafeMutableBufferPointer { room in
                    var place = place
                    func put(_ byte: UInt8) {
                        room[place] = byte
                        place += 1
                    }
                    if isBegin, hasComma { put(UInt8(ascii: ",")) }
                    if isBegin { put(UInt8(ascii: "\"")) }
                    place = JSONText.escape(text, start..<end, to: room, from: place)
                    if isEnd { put(UInt8(ascii: "\"")) }
                    if isEnd, isName { put(UInt8(ascii: ":")) }
                    return place
                }
                start = end
            } while start < text.count
        }
        needsComma = !isName
    }

    private mutating func makeRoom(for more: Int) {
        if room.count - count >= more { return }
        room += [UInt8](repeating: 0, count: max(more, room.count, 256))
    }
}
