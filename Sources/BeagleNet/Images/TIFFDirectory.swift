/// The first directory of a TIFF file (TIFF 6.0, 2) or of EXIF data, which has the same structure.
struct TIFFDirectory {
    private struct Entry {
        let tag: UInt32
        let type: UInt32
        /// The offset of the number of values.
        let count: Int
        /// The offset of the value, or of its offset.
        let value: Int
    }

    private let bytes: ImageBytes
    private let isLittle: Bool
    /// Whether offsets have 64 bits. The entries and their number are longer then.
    private let isBig: Bool

    /// Creates a directory of a file, whose signature isn't checked.
    init(of bytes: ImageBytes) {
        self.bytes = bytes
        isLittle = bytes.has("II", at: 0)
        isBig = (isLittle ? bytes.little(2, 2) : bytes.big(2, 2)) == 43
    }

    /// The largest width and height, because most decoders use the first of several values, and some use the last.
    var size: ImageSize? {
        var (width, height): (UInt32?, UInt32?)
        forEachEntry { entry in
            if entry.tag == 256 { width = [width, value(of: entry)].compactMap(\.self).max() }
            if entry.tag == 257 { height = [height, value(of: entry)].compactMap(\.self).max() }
        }
        return bytes.size(width, height)
    }

    /// The first valid orientation; `.up` without one.
    ///
    /// Like browsers, this ignores values of other types than a single 16-bit integer (TIFF 6.0, 8).
    var orientation: ImageHeader.Orientation {
        var orientation: ImageHeader.Orientation?
        forEachEntry { entry in
            guard entry.tag == 274, entry.type == 3, orientation == nil,
                (isBig ? long(entry.count) : number(entry.count, 4)) == 1, let value = number(entry.value, 2)
            else { return }
            orientation = ImageHeader.Orientation(rawValue: Int(value))
        }
        return orientation ?? .up
    }

    private func forEachEntry(_ body: (Entry) -> Void) {
        guard let offset = isBig ? long(8) : number(4, 4) else { return }
        let start = Int(clamping: offset)
        guard start < bytes.count, let entries = isBig ? long(start) : number(start, 2) else { return }
        for index in 0..<Int(clamping: entries) {
            let entry = start + (isBig ? 8 + 20 * index : 2 + 12 * index)
            guard let tag = number(entry, 2), let type = number(entry + 2, 2) else { return }
            body(Entry(tag: tag, type: type, count: entry + 4, value: entry + (isBig ? 12 : 8)))
        }
    }

    private func value(of entry: Entry) -> UInt32? {
        switch entry.type {
        // Signed types too, because decoders reject negative sizes.
        case 1, 6: bytes.byte(entry.value)
        case 3, 8: number(entry.value, 2)
        case 4, 9: number(entry.value, 4)
        // A 64-bit value is stored elsewhere if the entry has no space for it.
        case 16, 17: isBig ? long(entry.value) : number(entry.value, 4).flatMap { long(Int(clamping: $0)) }
        default: nil
        }
    }

    private func number(_ place: Int, _ size: Int) -> UInt32? {
        isLittle ? bytes.little(place, size) : bytes.big(place, size)
    }

    /// Reads a 64-bit integer, clamped to 32 bits.
    private func long(_ place: Int) -> UInt32? {
        guard place < bytes.count, let high = number(place + (isLittle ? 4 : 0), 4),
            let low = number(place + (isLittle ? 0 : 4), 4)
        else { return nil }
        return high > 0 ? .max : low
    }
}
