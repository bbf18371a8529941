/// A table that numbers the member names of a vocabulary from 1. All other names have the number 0.
struct NameTable: Sendable {
    private struct Slot {
        /// The first eight bytes, or fewer, with the first in the lowest byte.
        var head: UInt64 = 0
        /// The position of the name in `bytes`.
        var start: UInt32 = 0
        var number: UInt16 = 0
        var length: UInt8 = 0
    }

    private var texts: [[UInt8]] = [[]]
    /// The names without gaps.
    private var bytes: ContiguousArray<UInt8> = []
    private var slots = ContiguousArray(repeating: Slot(), count: 64)
    private var longest = 0

    /// The number of names, including 0 for all others.
    var count: Int { texts.count }

    static func slotCount(for count: Int) -> Int {
        var slots = 64
        while slots < count * 4 { slots *= 2 }
        return slots
    }

    /// Returns the number of a name, which is added if it is new. Names of more than 255 bytes aren't added.
    mutating func number(of name: String) -> UInt16 {
        let text = Array(name.utf8)
        let known = number(name)
        guard known == 0, !text.isEmpty, text.count < 256, texts.count < UInt16.max else { return known }
        texts.append(text)
        longest = max(longest, text.count)
        slots = ContiguousArray(repeating: Slot(), count: Self.slotCount(for: texts.count))
        bytes = []
        for number in 1..<texts.count { insert(number) }
        return UInt16(texts.count - 1)
    }

    private mutating func insert(_ number: Int) {
        let text = texts[number]
        let head = text.withUnsafeBufferPointer { Self.head(of: $0, 0, text.count) }
        var slot = Self.hash(head, text.count) & (slots.count - 1)
        while slots[slot].number != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = Slot(
            head: head,
            start: UInt32(bytes.count),
            number: UInt16(number),
            length: UInt8(text.count)
        )
        bytes += text
    }

    /// Returns the number of a name, or 0.
    func number(_ name: String) -> UInt16 {
        Array(name.utf8).withUnsafeBufferPointer { number($0, 0, $0.count) }
    }

    /// Returns the number of the name at this position of a document, or 0.
    @inline(__always)
    func number(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ length: Int) -> UInt16 {
        guard length <= longest, length > 0 else { return 0 }
        let head = Self.head(of: bytes, start, length)
        var slot = Self.hash(head, length) & (slots.count &- 1)
        while slots[slot].number != 0 {
            let found = slots[slot]
            if found.head == head, found.length == length, length <= 8 || isSame(bytes, start, found) {
                return found.number
            }
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        return 0
    }

    /// Whether the name at a position is that of a slot with the same length and first bytes.
    private func isSame(_ document: UnsafeBufferPointer<UInt8>, _ start: Int, _ slot: Slot) -> Bool {
        for place in 8..<Int(slot.length) where bytes[Int(slot.start) &+ place] != document[start &+ place] {
            return false
        }
        return true
    }

    @inline(__always)
    private static func hash(_ head: UInt64, _ length: Int) -> Int {
        Int(truncatingIfNeeded: ((head ^ UInt64(length)) &* 0x9E37_79B9_7F4A_7C15) >> 40)
    }

    @inline(__always)
    private static func head(of bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ length: Int) -> UInt64 {
        if start &+ 8 <= bytes.count {
            // The load ends within the buffer.
            let word = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: start, as: UInt64.self)
            return length >= 8
                ? UInt64(littleEndian: word) : UInt64(littleEndian: word) & (1 << UInt64(8 &* length) &- 1)
        }
        var head: UInt64 = 0
        for place in 0..<min(8, length) { head |= UInt64(bytes[start &+ place]) << UInt64(8 &* place) }
        return head
    }
}
