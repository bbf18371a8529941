/// JPEG XL files.
extension ImageBytes {
    /// The size and orientation, from the codestream or its beginning in boxes.
    var jpegXL: (size: ImageSize, orientation: ImageHeader.Orientation)? {
        guard has("JXL ", at: 4) else { return codestream }
        // The codestream may be split into boxes anywhere, so its beginning is reassembled.
        var head: [UInt8] = []
        forEachBox(in: 0..<count) { type, content in
            // The boxes are jxlc and jxlp; a jxlp box begins with an index.
            guard type == 0x6A78_6C63 || type == 0x6A78_6C70, head.count < 16 else { return }
            let content = content.dropFirst(type == 0x6A78_6C70 ? 4 : 0)
            for place in content.prefix(16) { head.append(bytes[place]) }
        }
        return head.withUnsafeBytes { ImageBytes(bytes: $0).codestream }
    }

    /// The headers at the beginning of a codestream, whose bits are read from lowest to highest.
    private var codestream: (size: ImageSize, orientation: ImageHeader.Orientation)? {
        guard big(0, 2) == 0xFF0A else { return nil }
        var bits = CodestreamBits(bytes: self)
        guard let size = bits.size() else { return nil }
        return (size, bits.orientation())
    }
}

/// A reader of the first bits of a JPEG XL codestream.
private struct CodestreamBits {
    let bytes: ImageBytes
    /// The number of the next bit, behind the signature.
    private var position = 16

    init(bytes: ImageBytes) {
        self.bytes = bytes
    }

    /// Reads an integer, or returns `nil` beyond the end.
    private mutating func next(_ count: Int) -> UInt32? {
        var number: UInt32 = 0
        for index in 0..<count {
            guard let byte = bytes.byte(position / 8) else { return nil }
            number |= (byte >> UInt32(position % 8) & 1) << UInt32(index)
            position += 1
        }
        return number
    }

    private mutating func side(isSmall: Bool) -> UInt32? {
        if isSmall { return next(5).map { ($0 + 1) * 8 } }
        guard let choice = next(2) else { return nil }
        let width = choice == 0 ? 9 : choice == 1 ? 13 : choice == 2 ? 18 : 30
        return next(width).map { $0 + 1 }
    }

    /// Reads the size header.
    mutating func size() -> ImageSize? {
        guard let small = next(1), let height = side(isSmall: small == 1), let ratio = next(3) else { return nil }
        let (over, under): (UInt64, UInt64)
        switch ratio {
        case 1: (over, under) = (1, 1)
        case 2: (over, under) = (12, 10)
        case 3: (over, under) = (4, 3)
        case 4: (over, under) = (3, 2)
        case 5: (over, under) = (16, 9)
        case 6: (over, under) = (5, 4)
        case 7: (over, under) = (2, 1)
        default: return side(isSmall: small == 1).map { ($0, height) }
        }
        return (UInt32(clamping: UInt64(height) * over / under), height)
    }

    /// Reads the orientation at the beginning of the image metadata, which follow the size header.
    mutating func orientation() -> ImageHeader.Orientation {
        // The metadata aren't all default, and have extra fields.
        guard next(1) == 0, next(1) == 1, let value = next(3) else { return .up }
        return ImageHeader.Orientation(rawValue: Int(value) + 1) ?? .up
    }
}
