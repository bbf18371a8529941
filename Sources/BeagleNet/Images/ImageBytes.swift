/// The numbers and words of an image, each by its place; nil beyond the end, so that no place has to be trusted.
struct ImageBytes {
    let bytes: UnsafeRawBufferPointer

    var count: Int { bytes.count }

    func byte(_ place: Int) -> UInt32? { big(place, 1) }

    /// A number of at most four bytes, the highest first.
    func big(_ place: Int, _ size: Int) -> UInt32? {
        guard holds(size, at: place) else { return nil }
        var number: UInt32 = 0
        for offset in 0..<size { number = number << 8 | UInt32(bytes[place + offset]) }
        return number
    }

    /// A number of at most four bytes, the lowest first.
    func little(_ place: Int, _ size: Int) -> UInt32? {
        guard holds(size, at: place) else { return nil }
        var number: UInt32 = 0
        for offset in (0..<size).reversed() { number = number << 8 | UInt32(bytes[place + offset]) }
        return number
    }

    func has(_ word: StaticString, at place: Int) -> Bool {
        guard holds(word.utf8CodeUnitCount, at: place) else { return false }
        for offset in 0..<word.utf8CodeUnitCount where bytes[place + offset] != word.utf8Start[offset] { return false }
        return true
    }

    private func holds(_ size: Int, at place: Int) -> Bool { place >= 0 && place <= count && size <= count - place }
}

// MARK: - Boxes

extension ImageBytes {
    /// Goes through the boxes of a range (ISO/IEC 14496-12, 4.2). One that is longer than the range ends with it: what it
    /// holds so far still counts.
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
            // A box is never shorter than its head: none is looked at twice.
            guard length >= head, rest >= head else { return }
            let end = place + min(length, rest)
            body(type, place + head..<end)
            place = end
        }
    }

    /// Goes through those boxes of one type that lie in boxes of these types, one inside of the other.
    func forEachBox(in range: Range<Int>, at path: [UInt32], _ body: (_ content: Range<Int>) -> Void) {
        guard let type = path.first else { return body(range) }
        forEachBox(in: range) { found, content in
            guard found == type else { return }
            // `meta` has a version and flags before its boxes.
            let head = type == 0x6D65_7461 ? min(4, content.count) : 0
            forEachBox(in: content.lowerBound + head..<content.upperBound, at: Array(path.dropFirst()), body)
        }
    }
}
