#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageHeader {
    /// The format of an image, detected from its first bytes regardless of `Content-Type` and the URL's extension.
    ///
    /// More formats can be added with `init(rawValue:)`.
    public struct Format: RawRepresentable, Sendable, Hashable {
        /// The media type, such as `image/png`.
        public let rawValue: String

        /// Creates a format with a media type.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// PNG, animated or not.
        public static let png = Format(rawValue: "image/png")
        /// JPEG.
        public static let jpeg = Format(rawValue: "image/jpeg")
        /// GIF, animated or not.
        public static let gif = Format(rawValue: "image/gif")
        /// WebP in any of its three forms.
        public static let webp = Format(rawValue: "image/webp")
        /// BMP of Windows or OS/2.
        public static let bmp = Format(rawValue: "image/bmp")
        /// A Windows icon or cursor.
        public static let ico = Format(rawValue: "image/vnd.microsoft.icon")
        /// AVIF, a still image or a sequence.
        public static let avif = Format(rawValue: "image/avif")
        /// HEIC, or any other HEIF except AVIF.
        public static let heic = Format(rawValue: "image/heic")
        /// TIFF, including BigTIFF with 64-bit offsets.
        public static let tiff = Format(rawValue: "image/tiff")
        /// JPEG XL, as a bare codestream or in boxes.
        public static let jpegXL = Format(rawValue: "image/jxl")
        /// SVG in UTF-8, which is text and has no pixels.
        public static let svg = Format(rawValue: "image/svg+xml")

        /// Detects the format of an image.
        ///
        /// - Parameter data: The image, or its beginning. 32 bytes are enough, or 512 if it may be AVIF or HEIC, or 4
        ///   KiB for SVG. No more than these 4 KiB are read for SVG.
        /// - Returns: The format, or `nil` if it is unknown or there are too few bytes.
        public init?(of data: Data) {
            guard let format = data.withUnsafeBytes({ Format(of: ImageBytes(bytes: $0)) }) else { return nil }
            self = format
        }

        init?(of bytes: ImageBytes) {
            guard let first = bytes.big(0, 4) else { return nil }
            switch first {
            case 0x8950_4E47 where bytes.big(4, 4) == 0x0D0A_1A0A: self = .png
            // The fourth byte isn't checked, because decoders search for the next marker.
            case 0xFFD8_0000...0xFFD8_FFFF: self = .jpeg
            case _ where bytes.has("GIF87a", at: 0) || bytes.has("GIF89a", at: 0): self = .gif
            case _ where bytes.has("RIFF", at: 0) && bytes.has("WEBP", at: 8): self = .webp
            // Text may begin with these letters, but its fifteenth byte isn't such a size.
            case 0x424D_0000...0x424D_FFFF where (12...256).contains(bytes.little(14, 4) ?? 0): self = .bmp
            case 0x0000_0100, 0x0000_0200:
                // The length of a box may have this value.
                if let format = Self(ofBoxesOf: bytes) {
                    self = format
                    return
                }
                guard bytes.little(4, 2) ?? 0 > 0 else { return nil }
                self = .ico
            case 0x4949_2A00, 0x4D4D_002A, 0x4949_2B00, 0x4D4D_002B: self = .tiff
            case 0xFF0A_0000...0xFF0A_FFFF: self = .jpegXL
            case 12 where bytes.has("JXL ", at: 4): self = .jpegXL
            case _ where bytes.has("ftyp", at: 4):
                guard let format = Self(ofBoxesOf: bytes) else { return nil }
                self = format
            case _ where Self.isSVG(bytes): self = .svg
            default: return nil
            }
        }

        /// Creates a format from the brands in the `ftyp` box, which comes first.
        private init?(ofBoxesOf bytes: ImageBytes) {
            guard bytes.has("ftyp", at: 4) else { return nil }
            var format: Self?
            bytes.forEachBox(in: 0..<bytes.count) { type, content in
                if type == 0x6674_7970, format == nil { format = Self(ofBrandsOf: bytes, in: content) }  // ftyp
            }
            guard let format else { return nil }
            self = format
        }

        /// Creates a format from the major and compatible brands (ISO/IEC 14496-12, 4.3; 23008-12, 10.2; AV1 Image File
        /// Format, 6.3).
        ///
        /// A file with any AVIF brand is AVIF.
        private init?(ofBrandsOf bytes: ImageBytes, in content: Range<Int>) {
            var isHEIF = false
            var place = content.lowerBound
            while place < content.upperBound, let brand = bytes.big(place, 4) {
                switch brand {
                case 0x6176_6966, 0x6176_6973:  // avif, avis
                    self = .avif
                    return
                case 0x6865_6963, 0x6865_6978, 0x6865_7663, 0x6865_7678,  // heic, heix, hevc, hevx
                    0x6865_696D, 0x6865_6973, 0x6D69_6631, 0x6D73_6631:  // heim, heis, mif1, msf1
                    isHEIF = true
                default: break
                }
                // The version follows the major brand.
                place += place == content.lowerBound ? 8 : 4
            }
            guard isHEIF else { return nil }
            self = .heic
        }

        /// Returns whether the root element is `svg`, after the prolog that XML allows (XML 1.0, 2.8).
        private static func isSVG(_ bytes: ImageBytes) -> Bool {
            let bytes = ImageBytes(bytes: UnsafeRawBufferPointer(rebasing: bytes.bytes.prefix(4096)))
            var place = bytes.has("\u{FEFF}", at: 0) ? 3 : 0
            while let byte = bytes.byte(place) {
                if [9, 10, 13, 32].contains(byte) {
                    place += 1
                } else if bytes.has("<svg", at: place) || bytes.has("<!DOCTYPE svg", at: place) {
                    return true
                } else if bytes.has("<?", at: place) {
                    while place < bytes.count, !bytes.has("?>", at: place) { place += 1 }
                    place += 2
                } else if bytes.has("<!--", at: place) {
                    while place < bytes.count, !bytes.has("-->", at: place) { place += 1 }
                    place += 3
                } else {
                    return false
                }
            }
            return false
        }
    }
}

extension ImageHeader.Format: CustomStringConvertible {
    /// The media type.
    public var description: String { rawValue }
}
