/// The sizes in AVIF and HEIC files.
extension ImageBytes {
    /// The size of the largest image or track.
    ///
    /// It is the declared size, unless decoders allocate more: they use the size of a grid, or the coded size, whatever
    /// is declared.
    var heif: ImageSize? {
        let claimed = claimedHEIF
        guard let coded = codedHEIF else { return claimed }
        guard let claimed else { return coded }
        // Pictures are coded in whole blocks of at most 64 pixels a side (ITU-T H.265, 7.4.3.2); a difference up to
        // that is padding.
        func whole(_ side: UInt32) -> UInt64 { (UInt64(side) + 63) / 64 * 64 }
        let isPadding = coded.width <= whole(claimed.width) && coded.height <= whole(claimed.height)
        return isPadding ? claimed : larger(claimed, coded)
    }

    private var claimedHEIF: ImageSize? {
        var largest: ImageSize?
        // meta, iprp, ipco, ispe
        forEachBox(in: 0..<count, at: [0x6D65_7461, 0x6970_7270, 0x6970_636F, 0x6973_7065]) { content in
            guard content.count >= 12 else { return }
            largest = larger(largest, size(big(content.lowerBound + 4, 4), big(content.lowerBound + 8, 4)))
        }
        // moov, trak, tkhd: it ends with the size in 16.16 fixed point, of which only the whole pixels are read
        forEachBox(in: 0..<count, at: [0x6D6F_6F76, 0x7472_616B, 0x746B_6864]) { content in
            guard content.count >= 84 else { return }
            largest = larger(largest, size(big(content.upperBound - 8, 2), big(content.upperBound - 4, 2)))
        }
        return largest
    }

    private var codedHEIF: ImageSize? {
        var largest: ImageSize?
        // meta, iprp, ipco
        forEachBox(in: 0..<count, at: [0x6D65_7461, 0x6970_7270, 0x6970_636F]) { content in
            largest = larger(largest, sizeOfConfigurations(in: content))
        }
        // meta
        forEachBox(in: 0..<count, at: [0x6D65_7461]) { content in largest = larger(largest, sizeOfItems(in: content)) }
        // moov, trak, mdia, minf, stbl, stsd
        let samples: [UInt32] = [
            0x6D6F_6F76, 0x7472_616B, 0x6D64_6961, 0x6D69_6E66, 0x7374_626C, 0x7374_7364,
        ]
        forEachBox(in: 0..<count, at: samples) { content in
            guard content.count > 8 else { return }
            forEachBox(in: content.lowerBound + 8..<content.upperBound) { _, entry in
                largest = larger(largest, size(big(entry.lowerBound + 24, 2), big(entry.lowerBound + 26, 2)))
                guard entry.count > 78 else { return }
                largest = larger(largest, sizeOfConfigurations(in: entry.lowerBound + 78..<entry.upperBound))
            }
        }
        return largest
    }

    /// Returns the largest size in the decoder configurations of a range.
    private func sizeOfConfigurations(in range: Range<Int>) -> ImageSize? {
        var largest: ImageSize?
        forEachBox(in: range) { type, content in
            switch type {
            case 0x6176_3143:  // av1C
                largest = larger(largest, sizeOfAV1(from: content.lowerBound + 4, to: content.upperBound))
            case 0x6876_6343: largest = larger(largest, sizeOfHEVC(in: content))  // hvcC
            default: break
            }
        }
        return largest
    }
}

// MARK: - Items

extension ImageBytes {
    /// The maximum number of bytes to read of an item, whose size is at its beginning.
    private static let headBytes = 256

    /// Returns the largest size of the items in a `meta` box that are grids, overlays or coded pictures.
    private func sizeOfItems(in meta: Range<Int>) -> ImageSize? {
        var types: [UInt32: UInt32] = [:]
        var locations: Range<Int>?
        var data: Range<Int>?
        forEachBox(in: meta) { type, content in
            switch type {
            case 0x6969_6E66:  // iinf
                let head = byte(content.lowerBound) == 0 ? 6 : 8
                guard content.count > head else { return }
                forEachBox(in: content.lowerBound + head..<content.upperBound) { _, entry in
                    // infe, of version 2 or 3
                    let isLong = byte(entry.lowerBound) == 3
                    guard let id = big(entry.lowerBound + 4, isLong ? 4 : 2) else { return }
                    types[id] = big(entry.lowerBound + (isLong ? 10 : 8), 4)
                }
            case 0x696C_6F63: locations = content  // iloc
            case 0x6964_6174: data = content  // idat
            default: break
            }
        }
        guard let locations else { return nil }
        var largest: ImageSize?
        forEachItem(at: locations, data ?? 0..<0) { id, head in
            // Each item is read only once.
            guard let type = types.removeValue(forKey: id) else { return }
            let size = head().withUnsafeBytes { ImageBytes(bytes: $0).sizeOfItem(type) }
            largest = larger(largest, size)
        }
        return largest
    }

    private func sizeOfItem(_ type: UInt32) -> ImageSize? {
        switch type {
        case 0x6772_6964: sizeOfDerived(at: 4)  // grid
        case 0x696F_766C: sizeOfDerived(at: 10)  // iovl
        case 0x6176_3031: sizeOfAV1(from: 0, to: count)  // av01
        case 0x6876_6331, 0x6865_7631: sizeOfHEVCItem  // hvc1, hev1
        default: nil
        }
    }

    /// Returns the size of an image that is derived from others (ISO/IEC 23008-12, 6.6.2).
    private func sizeOfDerived(at place: Int) -> ImageSize? {
        let bytes = byte(1).map { $0 & 1 == 1 ? 4 : 2 } ?? 2
        return size(big(place, bytes), big(place + bytes, bytes))
    }

    /// Calls `body` for each item that `iloc` lists (ISO/IEC 14496-12, 8.11.3).
    ///
    /// - Parameters:
    ///   - data: The range of items that are stored in the `meta` box.
    ///   - body: Receives the item's ID and a function that reads its beginning.
    private func forEachItem(
        at locations: Range<Int>,
        _ data: Range<Int>,
        _ body: (_ id: UInt32, _ head: () -> [UInt8]) -> Void
    ) {
        var place = locations.lowerBound
        guard let version = byte(place), version <= 2, let sizes = big(place + 4, 2) else { return }
        let bytes = (
            offset: Int(sizes >> 12), length: Int(sizes >> 8 & 15), base: Int(sizes >> 4 & 15),
            index: version == 0 ? 0 : Int(sizes & 15)
        )
        let extentBytes = bytes.index + bytes.offset + bytes.length
        let idBytes = version == 2 ? 4 : 2
        guard let count = big(place + 6, idBytes) else { return }
        place += 6 + idBytes
        for _ in 0..<count {
            guard place < locations.upperBound, let id = big(place, idBytes) else { return }
            place += idBytes
            // The base of the offsets: 0 is the file, 1 is `idat`.
            let method = version == 0 ? 0 : big(place, 2).map { $0 & 15 } ?? 0
            place += version == 0 ? 2 : 4
            guard let base = long(place, bytes.base), let extents = big(place + bytes.base, 2) else { return }
            place += bytes.base + 2
            let first = place
            body(id) {
                var head: [UInt8] = []
                // Extents with neither an offset nor a length are all the same.
                for index in 0..<(extentBytes == 0 ? min(1, Int(extents)) : Int(extents)) {
                    let extent = first + index * extentBytes + bytes.index
                    guard head.count < Self.headBytes, extent <= locations.upperBound,
                        let offset = long(extent, bytes.offset), let length = long(extent + bytes.offset, bytes.length)
                    else { break }
                    let whole = method == 0 ? 0..<self.count : method == 1 ? data : 0..<0
                    let start = whole.lowerBound + base + offset
                    guard start < whole.upperBound else { continue }
                    let room = min(Self.headBytes - head.count, whole.upperBound - start)
                    head += self.bytes[start..<start + (length == 0 ? room : min(length, room))]
                }
                return head
            }
            place += Int(extents) * extentBytes
        }
    }

    /// Reads an integer of 0, 4 or 8 bytes; a value above 32 bits is returned as a number beyond the end of any image.
    private func long(_ place: Int, _ bytes: Int) -> Int? {
        switch bytes {
        case 0: return 0
        case 8:
            guard let high = big(place, 4), let low = big(place + 4, 4) else { return nil }
            return high > 0 ? .max / 4 : Int(clamping: low)
        default: return big(place, 4).map { Int(clamping: $0) }
        }
    }
}

// MARK: - Codecs

extension ImageBytes {
    /// Returns the size in the sequence header, if it is among the first units of AV1 data (AV1, 5.3 and 5.5).
    private func sizeOfAV1(from start: Int, to end: Int) -> ImageSize? {
        var place = start
        for _ in 0..<8 {
            guard place < end, let head = byte(place) else { return nil }
            place += head & 4 == 0 ? 1 : 2
            var length = end - place
            if head & 2 != 0 {
                length = 0
                for index in 0..<4 {
                    guard let byte = byte(place) else { return nil }
                    place += 1
                    length |= Int(byte & 127) << (7 * index)
                    if byte & 128 == 0 { break }
                }
            }
            if head >> 3 & 15 == 1 { return sizeOfSequenceHeader(at: place) }
            place += length
        }
        return nil
    }

    private func sizeOfSequenceHeader(at place: Int) -> ImageSize? {
        var bits = ImageBits(bytes: self, position: place * 8)
        bits.skip(4)
        if bits.next(1) == 1 {
            bits.skip(5)
        } else {
            var delayBits: Int?
            if bits.next(1) == 1 {
                bits.skip(64)
                if bits.next(1) == 1 { _ = bits.golomb() }
                if bits.next(1) == 1 {
                    delayBits = Int(bits.next(5) ?? 0) + 1
                    bits.skip(42)
                }
            }
            let hasDelay = bits.next(1) == 1
            for _ in 0...(bits.next(5) ?? 0) {
                bits.skip(12)
                if bits.next(5) ?? 0 > 7 { bits.skip(1) }
                if let delayBits, bits.next(1) == 1 { bits.skip(2 * delayBits + 1) }
                if hasDelay, bits.next(1) == 1 { bits.skip(4) }
            }
        }
        guard let widthBits = bits.next(4), let heightBits = bits.next(4), let width = bits.next(Int(widthBits) + 1),
            let height = bits.next(Int(heightBits) + 1)
        else { return nil }
        return (width + 1, height + 1)
    }

    /// Returns the largest size in the parameter sets of a configuration (ISO/IEC 14496-15, 8.3.3.1).
    private func sizeOfHEVC(in content: Range<Int>) -> ImageSize? {
        var largest: ImageSize?
        var place = content.lowerBound + 22
        guard let arrays = byte(place) else { return nil }
        place += 1
        for _ in 0..<arrays {
            guard place < content.upperBound, let count = big(place + 1, 2) else { break }
            place += 3
            for _ in 0..<count {
                guard place < content.upperBound, let length = big(place, 2) else { return largest }
                largest = larger(largest, sizeOfUnit(in: place + 2..<min(place + 2 + Int(length), self.count)))
                place += 2 + Int(length)
            }
        }
        return largest
    }

    /// The size in a parameter set among the first units of a picture.
    private var sizeOfHEVCItem: ImageSize? {
        var (largest, place): (ImageSize?, Int) = (nil, 0)
        for _ in 0..<8 {
            guard let length = big(place, 4), place + 4 < count else { break }
            let end = Int(clamping: UInt64(place) + 4 + UInt64(length))
            largest = larger(largest, sizeOfUnit(in: place + 4..<min(end, count)))
            place = end
        }
        return largest
    }

    /// Returns the size in a unit if it is a sequence parameter set (ITU-T H.265, 7.3.2.2.1).
    private func sizeOfUnit(in range: Range<Int>) -> ImageSize? {
        guard range.count > 2, let type = byte(range.lowerBound), type >> 1 & 63 == 33 else { return nil }
        // A 3 after two zeros is an emulation prevention byte.
        var (payload, zeros): ([UInt8], Int) = ([], 0)
        for byte in bytes[range].dropFirst(2).prefix(Self.headBytes) {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            payload.append(byte)
        }
        return payload.withUnsafeBytes { ImageBytes(bytes: $0).sizeOfParameterSet }
    }

    private var sizeOfParameterSet: ImageSize? {
        var bits = ImageBits(bytes: self, position: 4)
        guard let layers = bits.next(3) else { return nil }
        bits.skip(1 + 96)
        // The profile and level of each sub-layer: 88 and 8 bits, if present.
        let present = (0..<layers).map { _ in (bits.next(1) == 1 ? 88 : 0) + (bits.next(1) == 1 ? 8 : 0) }
        if layers > 0 { bits.skip(2 * (8 - Int(layers))) }
        bits.skip(present.reduce(0, +))
        _ = bits.golomb()
        if bits.golomb() == 3 { bits.skip(1) }
        return size(bits.golomb(), bits.golomb())
    }
}

/// A reader of an image's bits, from the highest to the lowest of each byte.
private struct ImageBits {
    let bytes: ImageBytes
    var position: Int

    mutating func skip(_ count: Int) { position += count }

    /// Reads an integer of at most 32 bits, or returns `nil` beyond the end.
    mutating func next(_ count: Int) -> UInt32? {
        var number: UInt32 = 0
        for _ in 0..<count {
            guard let byte = bytes.byte(position / 8) else { return nil }
            number = number << 1 | (byte >> UInt32(7 - position % 8) & 1)
            position += 1
        }
        return number
    }

    /// Reads an Exp-Golomb code (ITU-T H.265, 9.2).
    mutating func golomb() -> UInt32? {
        var zeros = 0
        // Decoders also stop there. Otherwise a file of zeros would be read completely, bit by bit.
        while zeros < 32, let bit = next(1), bit == 0 { zeros += 1 }
        guard zeros < 32, let rest = next(zeros) else { return nil }
        return (1 << UInt32(zeros)) - 1 + rest
    }
}
