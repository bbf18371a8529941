#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The format and size that an image declares, read from its first bytes without decoding it.
///
/// A file of 70 bytes may declare 2,147,483,647 pixels a side, and a decoder allocates memory for them.
///
/// ```swift
/// let header = ImageHeader(of: try await client.image("/img/logo.png").data)
/// ```
///
/// Supported formats:
///
/// - PNG (PNG 3, 11.2.1), including Apple's variant.
/// - JPEG (ITU-T T.81, B.2.2).
/// - GIF (GIF89a, 18 and 20): the screen, enlarged by frames that extend beyond it.
/// - WebP (RFC 9649, 2.5 to 2.7).
/// - BMP and ICO of Windows: an icon has the size of its largest image.
/// - AVIF and HEIC: the largest size in `ispe` (ISO/IEC 23008-12, 6.5.3) and `tkhd` (ISO/IEC 14496-12, 8.3.2), or that
///   of a grid or the coded pictures if it is larger.
/// - TIFF (TIFF 6.0, 2), including BigTIFF with 64-bit offsets: the first image.
/// - JPEG XL (ISO/IEC 18181-1).
///
/// The orientation is read from the EXIF data of JPEG, PNG (before the pixels) and WebP, tag 274 of TIFF (TIFF 6.0, 8),
/// `irot` and `imir` of the primary image in AVIF and HEIC, and the metadata of JPEG XL. In other formats it is `.up`.
public struct ImageHeader: Sendable, Hashable {
    /// The format of the image.
    public let format: Format
    /// The declared width in pixels, before the image is turned to its orientation; it can be 0.
    public let width: Int
    /// The declared height in pixels; it can be 0, which in a JPEG means that the height is defined later.
    public let height: Int
    /// The orientation in which the image is shown; `.up` if the bytes declare no valid one.
    ///
    /// It may follow the size, so the beginning of an image may not contain it yet. In a WebP it is at the end of the
    /// file; Chromium ignores it there.
    public let orientation: Orientation

    /// Creates a header with this size.
    public init(format: Format, width: Int, height: Int, orientation: Orientation = .up) {
        self.format = format
        self.width = width
        self.height = height
        self.orientation = orientation
    }

    /// Reads the header of an image.
    ///
    /// The bytes aren't trusted: an offset beyond their end is ignored, and the time is at most proportional to their
    /// number.
    ///
    /// - Parameter data: The image, or its beginning. 64 KiB are enough, except for a JPEG with long profiles or
    ///   thumbnails before its frame, and for icons and TIFF, whose sizes may be anywhere.
    /// - Returns: The header, or `nil` if the format is unknown (`ImageHeader.Format`), has no pixels, such as SVG, or
    ///   declares its size after these bytes.
    public init?(of data: Data) {
        guard let header = data.withUnsafeBytes({ ImageHeader(of: ImageBytes(bytes: $0)) }) else { return nil }
        self = header
    }

    init?(of bytes: ImageBytes) {
        guard let format = Format(of: bytes), let size = bytes.size(of: format) else { return nil }
        self.init(
            format: format,
            width: Int(clamping: size.width),
            height: Int(clamping: size.height),
            orientation: bytes.orientation(of: format)
        )
    }

    /// The width of the shown image in pixels: the declared height if the orientation includes a quarter turn.
    public var displayWidth: Int { orientation.swapsSides ? height : width }

    /// The height of the shown image in pixels: the declared width if the orientation includes a quarter turn.
    public var displayHeight: Int { orientation.swapsSides ? width : height }

    /// Width times height, or `Int.max` if that overflows.
    public var pixels: Int {
        let (product, isTooLarge) = width.multipliedReportingOverflow(by: height)
        return isTooLarge ? .max : product
    }
}

/// A width and a height, as declared in a header.
typealias ImageSize = (width: UInt32, height: UInt32)

/// Returns the size with more pixels, or the first of two equal ones.
func larger(_ one: ImageSize?, _ other: ImageSize?) -> ImageSize? {
    guard let one, let other else { return one ?? other }
    let isLarger = UInt64(one.width) * UInt64(one.height) < UInt64(other.width) * UInt64(other.height)
    return isLarger ? other : one
}

extension ImageBytes {
    fileprivate func size(of format: ImageHeader.Format) -> ImageSize? {
        switch format {
        case .png: png
        case .jpeg: jpeg
        case .gif: gif
        case .webp: webp
        case .bmp: bitmap(at: 14)
        case .ico: icon(isIcon: true)
        // Some decoders treat the file as the icon that its first bytes announce.
        case .avif, .heic: larger(heif, [0x0000_0100, 0x0000_0200].contains(big(0, 4)) ? icon(isIcon: false) : nil)
        case .tiff: TIFFDirectory(of: self).size
        case .jpegXL: jpegXL?.size
        default: nil
        }
    }

    func size(_ width: UInt32?, _ height: UInt32?) -> ImageSize? {
        guard let width, let height else { return nil }
        return (width, height)
    }

    private var png: ImageSize? {
        var seen: [Bool]?
        return png(at: 0, &seen)
    }

    /// Returns the size of a PNG image.
    ///
    /// - Parameter seen: The offsets of chunks that were already skipped, so that no chunk is followed twice, or `nil`
    ///   if this is the only image.
    private func png(at place: Int, _ seen: inout [Bool]?) -> ImageSize? {
        var chunk = place + 8
        // Xcode writes a chunk of its own before IHDR, which should be first, and decoders skip other chunks.
        while let length = big(chunk, 4), !has("IHDR", at: chunk + 4) {
            let length = Int(clamping: length)
            if seen?.isEmpty == true { seen = Array(repeating: false, count: count) }
            guard seen?[chunk] != true, length <= count - chunk - 12 else { return nil }
            seen?[chunk] = true
            chunk += length + 12
        }
        return size(big(chunk + 8, 4), big(chunk + 12, 4))
    }

    private var webp: ImageSize? {
        if has("VP8 ", at: 12) {
            guard big(23, 3) == 0x9D012A, let width = little(26, 2), let height = little(28, 2) else { return nil }
            return (width & 0x3FFF, height & 0x3FFF)
        }
        if has("VP8L", at: 12) {
            guard byte(20) == 0x2F, let bits = little(21, 4) else { return nil }
            return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        }
        guard has("VP8X", at: 12), let width = little(24, 3), let height = little(27, 3) else { return nil }
        return (width + 1, height + 1)
    }

    /// Returns the size in the header that follows the file header; its first number says which of two formats it is.
    private func bitmap(at place: Int) -> ImageSize? {
        if little(place, 4) == 12 { return size(little(place + 4, 2), little(place + 6, 2)) }
        guard let width = little(place + 4, 4), let height = little(place + 8, 4) else { return nil }
        // A negative height means that rows are stored from top to bottom.
        return (Int32(bitPattern: width).magnitude, Int32(bitPattern: height).magnitude)
    }

    /// Returns the size of the largest image in an icon.
    ///
    /// - Parameter isIcon: Whether the file is an icon. Otherwise only entries that begin as an image count.
    private func icon(isIcon: Bool) -> ImageSize? {
        var largest: ImageSize?
        var seen: [Bool]? = []
        for index in 0..<Int(little(4, 2) ?? 0) {
            let entry = 6 + 16 * index
            guard let width = byte(entry), let height = byte(entry + 1), let offset = little(entry + 12, 4) else {
                break
            }
            if isIcon { largest = larger(largest, (width == 0 ? 256 : width, height == 0 ? 256 : height)) }
            // Decoders use the size of the image itself.
            let place = Int(clamping: offset)
            guard place < count else { continue }
            if big(place, 4) == 0x8950_4E47 {
                largest = larger(largest, png(at: place, &seen))
            } else if isIcon || (12...256).contains(little(place, 4) ?? 0), let image = bitmap(at: place) {
                // The height includes a mask of the same size.
                largest = larger(largest, (image.width, image.height / 2))
            }
        }
        return largest
    }

    /// The size of the screen, enlarged by each frame that extends beyond it, because decoders allocate all of it.
    private var gif: ImageSize? {
        guard var screen = size(little(6, 2), little(8, 2)) else { return nil }
        guard let flags = byte(10) else { return screen }
        var place = 13 + colors(flags)
        while let kind = byte(place) {
            switch kind {
            case 0x21: place += 2
            case 0x2C:
                guard let left = little(place + 1, 2), let top = little(place + 3, 2),
                    let width = little(place + 5, 2), let height = little(place + 7, 2), let flags = byte(place + 9)
                else { return screen }
                screen = (max(screen.width, left + width), max(screen.height, top + height))
                place += 11 + colors(flags)
            default: return screen
            }
            // Blocks of bytes follow, ended by an empty block.
            while let length = byte(place), length > 0 { place += 1 + Int(length) }
            place += 1
        }
        return screen
    }

    /// Returns the size of a color table in bytes, from its flags.
    private func colors(_ flags: UInt32) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
}
