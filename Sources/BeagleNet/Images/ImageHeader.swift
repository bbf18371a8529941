#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What an image claims to be, read from its first bytes without decoding it: a file of 70 bytes may claim 2,147,483,647 pixels
/// a side, and whoever decodes it makes room for them.
///
/// ```swift
/// let header = ImageHeader(of: try await client.image("/img/logo.png").data)
/// ```
///
/// Read are PNG (PNG 3, 11.2.1; also Apple's variant), JPEG (ITU-T T.81, B.2.2), GIF (GIF89a, 18 and 20; the screen, grown by
/// frames that reach beyond it), WebP (RFC 9649, 2.5 to 2.7), BMP and ICO (of Windows; an icon is as large as its largest
/// image), AVIF and HEIC (`ispe`, ISO/IEC 23008-12, 6.5.3, and `tkhd`, ISO/IEC 14496-12, 8.3.2; the largest of them, or what
/// a grid or the coded pictures take where that is more), TIFF (TIFF 6.0, 2, also with 64-bit places; its first image) and JPEG XL
/// (ISO/IEC 18181-1).
public struct ImageHeader: Sendable, Hashable {
    /// What the image is.
    public let format: ImageFormat
    /// Pixels from left to right, as claimed: 0 is possible. Before any rotation that the image asks for.
    public let width: Int
    /// Pixels from top to bottom, as claimed: 0 is possible, and of JPEG means that it is told later.
    public let height: Int

    /// Describes an image of this size.
    public init(format: ImageFormat, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }

    /// Reads what stands before the pixels.
    ///
    /// Nothing is trusted: what leads beyond the bytes is passed over, and it takes a time in proportion to the bytes at most.
    ///
    /// - Parameter data: the image, or its beginning. 64 KiB are enough, but for a JPEG with long profiles or thumbnails before
    ///   its frame, and for icons and TIFF, which may have their sizes anywhere.
    /// - Returns: nil where the format is unknown (`ImageFormat`), has no pixels as SVG, or tells its size behind these bytes.
    public init?(of data: Data) {
        guard let header = data.withUnsafeBytes({ ImageHeader(of: ImageBytes(bytes: $0)) }) else { return nil }
        self = header
    }

    init?(of bytes: ImageBytes) {
        guard let format = ImageFormat(of: bytes), let size = bytes.size(of: format) else { return nil }
        self.init(format: format, width: Int(clamping: size.width), height: Int(clamping: size.height))
    }

    /// Width times height; `Int.max` where that is more.
    public var pixels: Int {
        let (product, isTooLarge) = width.multipliedReportingOverflow(by: height)
        return isTooLarge ? .max : product
    }
}

/// A width and a height, as they stand in a header.
typealias ImageSize = (width: UInt32, height: UInt32)

/// Returns the size of more pixels, the first of two alike.
func larger(_ one: ImageSize?, _ other: ImageSize?) -> ImageSize? {
    guard let one, let other else { return one ?? other }
    let isLarger = UInt64(one.width) * UInt64(one.height) < UInt64(other.width) * UInt64(other.height)
    return isLarger ? other : one
}

extension ImageBytes {
    fileprivate func size(of format: ImageFormat) -> ImageSize? {
        switch format {
        case .png: png
        case .jpeg: jpeg
        case .gif: gif
        case .webp: webp
        case .bmp: bitmap(at: 14)
        case .ico: icon(isSure: true)
        // Some decoders take it for the icon that its first bytes tell of.
        case .avif, .heic: larger(heif, [0x0000_0100, 0x0000_0200].contains(big(0, 4)) ? icon(isSure: false) : nil)
        case .tiff: tiff
        case .jpegXL: jpegXL
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

    /// - Parameter seen: where chunks begin that were passed over already: what is behind them is known. nil where it is
    ///   the only image.
    private func png(at place: Int, _ seen: inout [Bool]?) -> ImageSize? {
        var chunk = place + 8
        // Xcode puts one of its own before the one that is to be the first, and decoders pass over others.
        while let length = big(chunk, 4), !has("IHDR", at: chunk + 4) {
            let length = Int(clamping: length)
            if seen?.isEmpty == true { seen = Array(repeating: false, count: count) }
            guard seen?[chunk] != true, length <= count - chunk - 12 else { return nil }
            seen?[chunk] = true
            chunk += length + 12
        }
        return size(big(chunk + 8, 4), big(chunk + 12, 4))
    }

    private var jpeg: ImageSize? {
        var place = 2
        while true {
            // Decoders look for the next marker behind bytes that belong to none, and ones of fill (T.81, B.1.1.2).
            while let byte = byte(place), byte != 0xFF { place += 1 }
            while byte(place) == 0xFF { place += 1 }
            guard let marker = byte(place) else { return nil }
            place += 1
            switch marker {
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return size(big(place + 5, 2), big(place + 3, 2))
            case 0, 1, 0xD0...0xD8: break
            // The pixels come, or the end, without a frame.
            case 0xD9, 0xDA: return nil
            default:
                guard let length = big(place, 2) else { return nil }
                // It counts its own two bytes; where it is less, they belong to no marker.
                place += Int(length)
            }
        }
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

    /// The header behind that of the file, whose first number tells which of two it is.
    private func bitmap(at place: Int) -> ImageSize? {
        if little(place, 4) == 12 { return size(little(place + 4, 2), little(place + 6, 2)) }
        guard let width = little(place + 4, 4), let height = little(place + 8, 4) else { return nil }
        // A height below zero is that of rows from top to bottom.
        return (Int32(bitPattern: width).magnitude, Int32(bitPattern: height).magnitude)
    }

    /// - Parameter isSure: whether it is one: else nothing counts but what begins as an image.
    private func icon(isSure: Bool) -> ImageSize? {
        var largest: ImageSize?
        var seen: [Bool]? = []
        for index in 0..<Int(little(4, 2) ?? 0) {
            let entry = 6 + 16 * index
            guard let width = byte(entry), let height = byte(entry + 1), let offset = little(entry + 12, 4) else {
                break
            }
            if isSure { largest = larger(largest, (width == 0 ? 256 : width, height == 0 ? 256 : height)) }
            // Decoders go by the image itself.
            let place = Int(clamping: offset)
            guard place < count else { continue }
            if big(place, 4) == 0x8950_4E47 {
                largest = larger(largest, png(at: place, &seen))
            } else if isSure || (12...256).contains(little(place, 4) ?? 0), let image = bitmap(at: place) {
                // It has a mask of the same size below it.
                largest = larger(largest, (image.width, image.height / 2))
            }
        }
        return largest
    }

    private var tiff: ImageSize? {
        let isLittle = has("II", at: 0)
        func number(_ place: Int, _ size: Int) -> UInt32? { isLittle ? little(place, size) : big(place, size) }
        /// One of 64 bits; the highest of 32 stands for what is more.
        func long(_ place: Int) -> UInt32? {
            guard place < count, let high = number(place + (isLittle ? 4 : 0), 4),
                let low = number(place + (isLittle ? 0 : 4), 4)
            else { return nil }
            return high > 0 ? .max : low
        }
        // With places of 64 bits, an entry and what counts them are longer.
        let isBig = number(2, 2) == 43
        guard let offset = isBig ? long(8) : number(4, 4) else { return nil }
        let directory = Int(clamping: offset)
        guard directory < count, let entries = isBig ? long(directory) : number(directory, 2) else { return nil }
        var (width, height): (UInt32?, UInt32?)
        for index in 0..<Int(clamping: entries) {
            let entry = directory + (isBig ? 8 + 20 * index : 2 + 12 * index)
            guard let tag = number(entry, 2), let type = number(entry + 2, 2) else { break }
            guard tag == 256 || tag == 257 else { continue }
            let place = entry + (isBig ? 12 : 8)
            let value: UInt32? =
                switch type {
                // Those with a sign as well: decoders want none below zero.
                case 1, 6: byte(place)
                case 3, 8: number(place, 2)
                case 4, 9: number(place, 4)
                // 64 bits lie elsewhere where an entry has no room for them.
                case 16, 17: isBig ? long(place) : number(place, 4).flatMap { long(Int(clamping: $0)) }
                default: nil
                }
            // Decoders go by the first of several, some by the last.
            if tag == 256 { width = [width, value].compactMap(\.self).max() }
            if tag == 257 { height = [height, value].compactMap(\.self).max() }
        }
        return size(width, height)
    }

    /// The size of the screen, grown by each frame that reaches beyond it: decoders make room for all of it.
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
            // Blocks of bytes follow, and an empty one ends them.
            while let length = byte(place), length > 0 { place += 1 + Int(length) }
            place += 1
        }
        return screen
    }

    /// The bytes of a table of colors, of which flags tell.
    private func colors(_ flags: UInt32) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

    private var jpegXL: ImageSize? {
        guard has("JXL ", at: 4) else { return codestream }
        // The codestream may be cut into boxes anywhere: its beginning is put together.
        var head: [UInt8] = []
        forEachBox(in: 0..<count) { type, content in
            // jxlc, and jxlp, in which a number comes before.
            guard type == 0x6A78_6C63 || type == 0x6A78_6C70, head.count < 16 else { return }
            let content = content.dropFirst(type == 0x6A78_6C70 ? 4 : 0)
            for place in content.prefix(16) { head.append(bytes[place]) }
        }
        return head.withUnsafeBytes { ImageBytes(bytes: $0).codestream }
    }

    /// A codestream of JPEG XL begins with its size, in bits of which the lowest comes first.
    private var codestream: ImageSize? {
        guard big(0, 2) == 0xFF0A else { return nil }
        var bit = 0
        func bits(_ count: Int) -> UInt32? {
            var number: UInt32 = 0
            for index in 0..<count {
                guard let byte = byte(2 + bit / 8) else { return nil }
                number |= (byte >> UInt32(bit % 8) & 1) << UInt32(index)
                bit += 1
            }
            return number
        }
        func side(isSmall: Bool) -> UInt32? {
            if isSmall { return bits(5).map { ($0 + 1) * 8 } }
            guard let choice = bits(2) else { return nil }
            let width = choice == 0 ? 9 : choice == 1 ? 13 : choice == 2 ? 18 : 30
            return bits(width).map { $0 + 1 }
        }
        guard let small = bits(1), let height = side(isSmall: small == 1), let ratio = bits(3) else { return nil }
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
}
