/// The bytes of an image, whose accessors return `nil` beyond the end, so that no offset has to be trusted.
struct ImageBytes {
    let bytes: UnsafeRawBufferPointer

    var count: Int { bytes.count }

    func byte(_ place: Int) -> UInt32? { big(place, 1) }

    /// Reads a big-endian integer of at most four bytes.
    func big(_ place: Int, _ size: Int) -> UInt32? {
        guard holds(size, at: place) else { return nil }
        var number: UInt32 = 0
        for offset in 0..<size { number = number << 8 | UInt32(bytes[place + offset]) }
        return number
    }

    /// Reads a little-endian integer of at most four bytes.
    func little(_ place: Int, _ size: Int) -> UInt32? {
        guard holds(size, at: place) else { return nil }
        var number: UInt32 = 0
        for offset in (0..<size).reversed() { number = number << 8 | UInt32(bytes[place + offset]) }
        return number
    }

    /// Returns a part, whose offsets begin with 0.
    func part(_ range: Range<Int>) -> ImageBytes { ImageBytes(bytes: UnsafeRawBufferPointer(rebasing: bytes[range])) }

    func has(_ word: StaticString, at place: Int) -> Bool {
        guard holds(word.utf8CodeUnitCount, at: place) else { return false }
        for offset in 0..<word.utf8CodeUnitCount where bytes[place + offset] != word.utf8Start[offset] { return false }
        return true
    }

    private func holds(_ size: Int, at place: Int) -> Bool { place >= 0 && place <= count && size <= count - place }
}

// MARK: - Boxes

extension ImageBytes {
    /// Calls `body` for each box in a range (ISO/IEC 14496-12, 4.2).
    ///
    /// A box that is longer than the range is cut off there, and its contents so far still count.
    func forEachBox(in range: Range<Int>, _ body: (_ type: UInt32, _ content: Range<Int>) -> Void) {
        var place = range.lowerBound
        while range.upperBound - place >= 8, let size = big(place, 4), let type = big(place + 4, 4) {
            let rest = range.upperBound - place
            var (head, length) = (8, Int(clamping: size))
            if size == 0 { length = rest }
            if size == 1 {
                guard let high = big(place + 8, 4), let low = big(place + 12, 4) else { return }
                (head, length) = (16, high > 0 ? rest : Int(clamping: low))
            }
            // A box is never shorter than its header, so the loop always advances.
            guard length >= head, rest >= head else { return }
            let end = place + min(length, rest)
            body(type, place + head..<end)
            place = end
        }
    }

    /// Calls `body` for each box at a path of nested box types.
    func forEachBox(in range: Range<Int>, at path: [UInt32], _ body: (_ content: Range<Int>) -> Void) {
        guard let type = path.first else { return body(range) }
        forEachBox(in: range) { found, content in
            guard found == type else { return }
            // The boxes of `meta` follow a version and flags.
            let head = type == 0x6D65_7461 ? min(4, content.count) : 0
            forEachBox(in: content.lowerBound + head..<content.upperBound, at: Array(path.dropFirst()), body)
        }
    }
}
