import BeagleNet

extension FuzzTarget {
    /// The size of an image is that of its format, and further bytes change it only in formats with several images.
    static func fuzzImage(_ bytes: UnsafeRawBufferPointer) {
        let data = Data(bytes)
        guard let header = ImageHeader(of: data) else { return }
        precondition(header.width >= 0 && header.height >= 0 && header.pixels >= 0, "a size below zero")
        let (sides, shown) = ([header.width, header.height], [header.displayWidth, header.displayHeight])
        precondition(shown == sides || shown == sides.reversed(), "other sides when shown")
        precondition(ImageHeader.Format(of: data) == header.format, "two formats of one image")
        // In these formats truncated boxes end at the end of the bytes.
        if [.avif, .heic].contains(header.format) { return }
        guard let longer = ImageHeader(of: data + Data(repeating: 0xFF, count: 32)) else {
            preconditionFailure("no size with more bytes")
        }
        // The orientation may follow the size.
        precondition([.up, longer.orientation].contains(header.orientation), "another orientation with more bytes")
        if [.gif, .ico, .tiff].contains(header.format) {
            precondition(longer.pixels >= header.pixels, "a smaller size with more bytes")
        } else {
            precondition(longer.width == header.width && longer.height == header.height, "another size with more bytes")
        }
    }
}
