/// The orientation of AVIF and HEIC files.
extension ImageBytes {
    /// The rotations and mirrorings of the primary item (ISO/IEC 23008-12, 6.5.10 and 6.5.12), in the order of its
    /// properties.
    ///
    /// Decoders apply these and ignore an orientation in EXIF data.
    var heifOrientation: ImageHeader.Orientation {
        // meta, pitm, iprp, ipco, ipma
        guard let meta = firstBox(0x6D65_7461), meta.count > 4, case let boxes = meta.part(4..<meta.count),
            let primary = boxes.firstBox(0x7069_746D), let properties = boxes.firstBox(0x6970_7270),
            let container = properties.firstBox(0x6970_636F), let associations = properties.firstBox(0x6970_6D61),
            let item = primary.big(4, primary.byte(0) == 0 ? 2 : 4)
        else { return .up }
        let transformations = container.transformations
        return associations.properties(of: item).reduce(.up) { orientation, property in
            orientation.followed(by: transformations[property] ?? .up)
        }
    }

    /// The rotations and mirrorings in an `ipco` box, by their numbers, which begin with 1.
    private var transformations: [UInt32: ImageHeader.Orientation] {
        var transformations: [UInt32: ImageHeader.Orientation] = [:]
        var number: UInt32 = 0
        forEachBox(in: 0..<count) { type, content in
            // An association has at most 15 bits for the number.
            guard number < 0x7FFF else { return }
            number += 1
            guard !content.isEmpty, let value = byte(content.lowerBound) else { return }
            switch type {
            // irot: counterclockwise quarter turns. The other bits are reserved.
            case 0x6972_6F74: transformations[number] = ImageHeader.Orientation(quarterTurns: -Int(value & 3))
            // imir: 0 exchanges top and bottom, 1 left and right.
            case 0x696D_6972: transformations[number] = value & 1 == 0 ? .downMirrored : .upMirrored
            default: break
            }
        }
        return transformations
    }

    /// Returns the numbers of an item's properties from an `ipma` box, in their order (ISO/IEC 14496-12, 8.11.14).
    private func properties(of item: UInt32) -> [UInt32] {
        guard let version = byte(0), let flags = byte(3), let entries = big(4, 4) else { return [] }
        let idBytes = version == 0 ? 2 : 4
        let numberBytes = flags & 1 == 0 ? 1 : 2
        var place = 8
        for _ in 0..<entries {
            guard let id = big(place, idBytes), let properties = byte(place + idBytes) else { return [] }
            place += idBytes + 1
            if id == item {
                // The highest bit says whether the property is essential.
                let mask: UInt32 = numberBytes == 1 ? 0x7F : 0x7FFF
                return (0..<Int(properties)).compactMap { big(place + $0 * numberBytes, numberBytes).map { $0 & mask } }
            }
            place += Int(properties) * numberBytes
        }
        return []
    }

    /// Returns the content of the first box of a type.
    private func firstBox(_ type: UInt32) -> ImageBytes? {
        var first: Range<Int>?
        forEachBox(in: 0..<count) { found, content in
            if found == type, first == nil { first = content }
        }
        return first.map { part($0) }
    }
}
