/// The orientation of images.
extension ImageBytes {
    /// Returns the orientation of an image, or `.up` if it is missing, invalid or beyond the end.
    func orientation(of format: ImageHeader.Format) -> ImageHeader.Orientation {
        switch format {
        case .jpeg: jpegOrientation
        case .png: pngOrientation
        case .webp: webpOrientation
        case .avif, .heic: heifOrientation
        case .tiff: TIFFDirectory(of: self).orientation
        case .jpegXL: jpegXL?.orientation ?? .up
        default: .up
        }
    }

    /// Returns the orientation in EXIF data (CIPA DC-008, 4.5), which is a TIFF file of its own.
    ///
    /// Data beyond the end is ignored.
    func exifOrientation(at place: Int, length: Int) -> ImageHeader.Orientation {
        guard place < count, length > 0 else { return .up }
        let exif = part(place..<place + min(length, count - place))
        guard exif.has("II*\0", at: 0) || exif.has("MM\0*", at: 0) else { return .up }
        return TIFFDirectory(of: exif).orientation
    }

    /// The orientation in the first `eXIf` chunk, if it is before the pixels, as browsers read it (PNG 3, 11.3.4.5).
    private var pngOrientation: ImageHeader.Orientation {
        var chunk = 8
        while let length = big(chunk, 4), !has("IDAT", at: chunk + 4) {
            let length = Int(clamping: length)
            if has("eXIf", at: chunk + 4) { return exifOrientation(at: chunk + 8, length: length) }
            guard length <= count - chunk - 12 else { return .up }
            chunk += length + 12
        }
        return .up
    }

    /// The orientation in the first `EXIF` chunk, which only the extended format has (RFC 9649, 2.7).
    private var webpOrientation: ImageHeader.Orientation {
        guard has("VP8X", at: 12), let size = little(4, 4) else { return .up }
        let end = min(Int(clamping: size), count - 8) + 8
        var chunk = 12
        while chunk < end, let length = little(chunk + 4, 4) {
            let length = Int(clamping: length)
            let content = chunk + 8
            if has("EXIF", at: chunk) {
                // Some writers begin the chunk as in a JPEG.
                let head = has("Exif\0\0", at: content) ? 6 : 0
                return exifOrientation(at: content + head, length: min(length, end - content) - head)
            }
            guard length < end - content else { return .up }
            // Chunks are padded to even sizes.
            chunk = content + length + length % 2
        }
        return .up
    }
}
