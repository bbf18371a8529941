import BeagleNet

extension FuzzTarget {
    /// A size is that of the format, and what comes behind it changes it only where an image may have several.
    static func fuzzImage(_ bytes: UnsafeRawBufferPointer) {
        let data = Data(bytes)
        guard let header = ImageHeader(of: data) else { return }
        precondition(header.width >= 0 && header.height >= 0 && header.pixels >= 0, "a size below zero")
        precondition(ImageFormat(of: data) == header.format, "two formats of one image")
        if [.ico, .avif, .heic, .tiff].contains(header.format) { return }
        precondition(ImageHeader(of: data + Data(repeating: 0xFF, count: 32)) == header, "another size with more bytes")
    }
}
