import BeagleNet

extension FuzzTarget {
    /// The size of an image is that of its format, and further bytes change it only in formats with several images.
    static func fuzzImage(_ bytes: UnsafeRawBufferPointer) {
        let data = Data(bytes)
        guard let header = ImageHeader(of: data) else { return }
        precondition(header.width >= 0 && header.height >= 0 && header.pixels >= 0, "a size below zero")
        precondition(ImageFormat(of: data) == header.format, "two formats of one image")
        // In these formats truncated boxes end at the end of the bytes.
        if [.avif, .heic].contains(header.format) { return }
        let longer = ImageHeader(of: data + Data(repeating: 0xFF, count: 32))
        if [.gif, .ico, .tiff].contains(header.format) {
            precondition(longer.map { $0.pixels >= header.pixels } == true, "a smaller size with more bytes")
        } else {
            precondition(longer == header, "another size with more bytes")
        }
    }
}
