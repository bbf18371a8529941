/// JPEG files.
extension ImageBytes {
    /// The size in the frame header (ITU-T T.81, B.2.2).
    var jpeg: ImageSize? {
        let frame = jpegSegment { marker, _ in
            switch marker {
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: true
            default: false
            }
        }
        guard let frame else { return nil }
        return size(big(frame + 5, 2), big(frame + 3, 2))
    }

    /// The orientation in the first EXIF segment, also if that is behind the frame header, as browsers read it.
    var jpegOrientation: ImageHeader.Orientation {
        let exif = jpegSegment { marker, place in marker == 0xE1 && has("Exif\0", at: place + 2) }
        guard let exif, let length = big(exif, 2) else { return .up }
        // Another zero follows, which isn't checked: some writers use another byte.
        return exifOrientation(at: exif + 8, length: Int(length) - 8)
    }

    /// Returns the offset of the length of the first segment before the pixels that meets a condition.
    private func jpegSegment(where matches: (_ marker: UInt32, _ place: Int) -> Bool) -> Int? {
        var place = 2
        while true {
            // Decoders search for the next marker after stray bytes and fill bytes (T.81, B.1.1.2).
            while let byte = byte(place), byte != 0xFF { place += 1 }
            while byte(place) == 0xFF { place += 1 }
            guard let marker = byte(place) else { return nil }
            place += 1
            switch marker {
            case 0, 1, 0xD0...0xD8: break
            // The pixels or the end of the image.
            case 0xD9, 0xDA: return nil
            default:
                if matches(marker, place) { return place }
                guard let length = big(place, 2) else { return nil }
                // The length includes its own two bytes; if it is less, they are stray bytes.
                place += Int(length)
            }
        }
    }
}
