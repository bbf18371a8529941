import Foundation
import Testing
import TestClients

@testable import BeagleNet

/// The expected orientations are those with which Chromium 156 shows the same metadata, except for WebP, whose
/// orientation Chromium ignores.
@Suite(.timeLimit(.minutes(5))) struct ImageOrientationTests {
    private static func orientation(_ image: Data) -> ImageHeader.Orientation? { ImageHeader(of: image)?.orientation }

    /// Applies an orientation to a picture of two pixels by three.
    private static func shown(_ rows: [String], _ orientation: ImageHeader.Orientation) -> [String] {
        let columns = rows[0].indices.map { column in String(rows.map { $0[column] }) }
        // The sides of the shown picture to which the first row and the first column belong (TIFF 6.0, 8).
        return switch orientation {
        case .up: rows
        case .upMirrored: rows.map { String($0.reversed()) }
        case .down: rows.reversed().map { String($0.reversed()) }
        case .downMirrored: rows.reversed()
        case .leftMirrored: columns
        case .right: columns.map { String($0.reversed()) }
        case .rightMirrored: columns.reversed().map { String($0.reversed()) }
        case .left: columns.reversed()
        }
    }

    @Test(arguments: ImageHeader.Orientation.allCases, ImageHeader.Orientation.allCases)
    func orientationsAreComposed(first: ImageHeader.Orientation, next: ImageHeader.Orientation) {
        let rows = ["ab", "cd", "ef"]
        #expect(Self.shown(rows, first.followed(by: next)) == Self.shown(Self.shown(rows, first), next))
    }

    @Test(arguments: ImageHeader.Orientation.allCases) func sidesAreSwappedByQuarterTurns(
        orientation: ImageHeader.Orientation
    ) {
        let header = ImageHeader(format: .jpeg, width: 40, height: 30, orientation: orientation)
        let isSwapped = Self.shown(["ab", "cd", "ef"], orientation).count == 2
        #expect((header.width, header.height) == (40, 30))
        #expect((header.displayWidth, header.displayHeight) == (isSwapped ? (30, 40) : (40, 30)))
        #expect(header.pixels == 1200)
    }

    // MARK: - EXIF and TIFF

    @Test(arguments: ImageSamples.OrientedFormat.allCases, ImageSamples.ByteOrder.allCases)
    func orientationIsReadInBothByteOrders(format: ImageSamples.OrientedFormat, order: ImageSamples.ByteOrder) {
        for orientation in ImageHeader.Orientation.allCases {
            let image = ImageSamples.oriented(format, orientation.rawValue, order)
            let header = ImageHeader(format: format.format, width: 37, height: 23, orientation: orientation)
            #expect(ImageHeader(of: image) == header)
            #expect(ImageHeader(of: (Data("GIF".utf8) + image).dropFirst(3)) == header)
            for count in image.indices {
                guard let part = ImageHeader(of: image.prefix(count)) else { continue }
                #expect((part.width, part.height) == (37, 23))
                #expect([.up, orientation].contains(part.orientation), "\(count)")
            }
        }
        for value in [0, 9, 255, 256, 0x0600, 0xFFFF] {
            let header = ImageHeader(format: format.format, width: 37, height: 23)
            #expect(ImageHeader(of: ImageSamples.oriented(format, value, order)) == header)
        }
    }

    private static func field(_ value: Int, type: Int = 3, count: Int = 1) -> Data {
        ImageSamples.field(274, value, .big, type: type, count: count)
    }

    private static let exifIsCheckedArguments: [(Data, ImageHeader.Orientation)] = [
        (ImageSamples.tiff(field(6)), .right),
        // The first of several fields that is valid; other fields are skipped.
        (ImageSamples.tiff(field(6), field(8)), .right), (ImageSamples.tiff(field(9), field(8)), .left),
        (ImageSamples.tiff(ImageSamples.field(271, 3, .big), field(6)), .right),
        // Another type or number of values.
        (ImageSamples.tiff(field(6, type: 4)), .up), (ImageSamples.tiff(field(6 << 24, type: 1)), .up),
        (ImageSamples.tiff(field(6 << 16, type: 8)), .up), (ImageSamples.tiff(field(6, count: 0)), .up),
        (ImageSamples.tiff(field(6, count: 2)), .up),
        // No data; neither byte order; the wrong number; no field.
        (Data(), .up), (Data("XX".utf8) + ImageSamples.tiff(field(6)).dropFirst(2), .up),
        (Data("MM\0\0".utf8) + ImageSamples.tiff(field(6)).dropFirst(4), .up),
        (Data("II\0*".utf8) + ImageSamples.tiff(field(6)).dropFirst(4), .up), (ImageSamples.tiff(), .up),
        // More fields than there is data for; one that is cut off.
        (Data("MM\0*\0\0\0\u{8}".utf8) + Data([0xFF, 0xFF]) + field(6), .right),
        (Data("MM\0*\0\0\0\u{8}\0\u{1}".utf8) + field(6).prefix(9), .up),
        // The directory is further on, beyond the end, or within the header.
        (Data("MM\0*\0\0\0\u{A}\0\0\0\u{1}".utf8) + field(6), .right),
        (Data("MM\0*".utf8) + Data(repeating: 0xFF, count: 4) + Data([0, 1]) + field(6), .up),
        (Data("MM\0*\0\0\0\0\0\u{1}".utf8) + field(6), .up),
    ]

    @Test(arguments: Self.exifIsCheckedArguments) func exifIsChecked(exif: Data, orientation: ImageHeader.Orientation) {
        #expect(Self.orientation(ImageSamples.jpeg(ImageSamples.exifSegment(exif))) == orientation)
        #expect(Self.orientation(ImageSamples.png(chunks: ImageSamples.chunk("eXIf", exif))) == orientation)
        #expect(Self.orientation(ImageSamples.webp(ImageSamples.riffChunk("EXIF", exif))) == orientation)
    }

    /// The data of a field may not come from the bytes behind its segment.
    @Test func exifEndsWithItsSegment() {
        let exif = ImageSamples.tiff(Self.field(6))
        let head = exif.prefix(18)
        #expect(Self.orientation(ImageSamples.jpeg(ImageSamples.exifSegment(head) + exif.dropFirst(18))) == .up)
        let chunk = ImageSamples.chunk("eXIf", head).dropLast(4) + exif.dropFirst(18)
        #expect(Self.orientation(ImageSamples.png(chunks: chunk)) == .up)
        #expect(Self.orientation(ImageSamples.webp(ImageSamples.riffChunk("EXIF", head) + exif.dropFirst(18))) == .up)
    }

    // MARK: - JPEG, PNG, WebP

    private static func exif(_ value: Int) -> Data { ImageSamples.exifSegment(ImageSamples.tiff(field(value))) }

    private static let firstEXIFSegmentCountsArguments: [(Data, ImageHeader.Orientation)] = [
        (exif(6) + exif(8), .right), (exif(1) + exif(8), .up), (exif(9) + exif(8), .up),
        (ImageSamples.exifSegment(Data()) + exif(8), .up),
        // XMP data; another marker; the name ends with another byte.
        (Data([0xFF, 0xE1, 0, 8]) + Data("http:/".utf8) + exif(8), .left),
        (ImageSamples.exifSegment(ImageSamples.tiff(field(6)), 0xE0), .up),
        (Data(exif(6).prefix(9)) + Data([0xFF]) + exif(6).dropFirst(10), .right),
        // Segments that are too short for the name.
        (Data([0xFF, 0xE1, 0, 2]) + exif(6), .right), (Data([0xFF, 0xE1, 0, 7]) + Data("Exif\0".utf8) + exif(6), .up),
    ]

    @Test(arguments: Self.firstEXIFSegmentCountsArguments)
    func firstEXIFSegmentCounts(segments: Data, orientation: ImageHeader.Orientation) {
        let header = ImageHeader(format: .jpeg, width: 37, height: 23, orientation: orientation)
        #expect(ImageHeader(of: ImageSamples.jpeg(segments)) == header)
    }

    @Test func exifSegmentMayFollowTheFrameButNotThePixels() {
        let frame = ImageSamples.jpeg(Data()) + Data(count: 10)
        let pixels = Data([0xFF, 0xDA, 0, 2])
        #expect(Self.orientation(frame + Self.exif(6)) == .right)
        #expect(Self.orientation(ImageSamples.jpeg(Self.exif(1)) + Data(count: 10) + Self.exif(6)) == .up)
        #expect(Self.orientation(frame + pixels + Self.exif(6)) == .up)
        #expect(Self.orientation(frame + Data([0xFF, 0xD9]) + Self.exif(6)) == .up)
    }

    @Test func exifChunkOfAPNGIsBeforeThePixels() {
        func exif(_ value: Int) -> Data { ImageSamples.chunk("eXIf", ImageSamples.tiff(Self.field(value))) }
        let pixels = ImageSamples.chunk("IDAT", Data(count: 20))
        let other = ImageSamples.chunk("gAMA", Data(count: 4))
        #expect(Self.orientation(ImageSamples.png(chunks: other + exif(6) + pixels)) == .right)
        #expect(Self.orientation(ImageSamples.png(chunks: other + pixels + exif(6))) == .up)
        #expect(Self.orientation(ImageSamples.png(chunks: exif(6) + exif(8))) == .right)
        for length: [UInt8] in [[0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0, 0, 0xFF, 0xFF]] {
            #expect(Self.orientation(ImageSamples.png(chunks: Data(length) + other.dropFirst(4) + exif(6))) == .up)
        }
    }

    @Test func exifChunkOfAWebPMayBeAnywhereInTheExtendedFormat() {
        let exif = ImageSamples.riffChunk("EXIF", ImageSamples.tiff(Self.field(6)))
        let named = ImageSamples.riffChunk("EXIF", Data("Exif\0\0".utf8) + ImageSamples.tiff(Self.field(6)))
        let pixels = ImageSamples.riffChunk("VP8L", Data(count: 7))
        #expect(Self.orientation(ImageSamples.webp(pixels + exif)) == .right)
        #expect(Self.orientation(ImageSamples.webp(exif + pixels)) == .right)
        #expect(Self.orientation(ImageSamples.webp(pixels + named)) == .right)
        // Behind the end of the file's content; behind a chunk that is longer than the file.
        #expect(Self.orientation(ImageSamples.webp(pixels) + exif) == .up)
        for length: [UInt8] in [[0xFF, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0x7F], [0xFF, 0xFF, 0, 0]] {
            #expect(Self.orientation(ImageSamples.webp(pixels.prefix(4) + Data(length) + exif)) == .up)
        }
        let simple = Data("RIFF".utf8) + ImageSamples.ByteOrder.little.bytes(200, 4) + Data("WEBP".utf8)
        let lossless = ImageSamples.riffChunk("VP8L", Data([0x2F, 0x24, 0x80, 5, 0, 0]))
        #expect(ImageHeader(of: simple + lossless + exif) == ImageHeader(format: .webp, width: 37, height: 23))
    }

    // MARK: - JPEG XL

    /// 64 x 32, with the metadata up to the first frame.
    private static func codestream(_ orientation: ImageHeader.Orientation) -> Data {
        Data([0xFF, 0x0A, 0xC7, UInt8(5 + 8 * (orientation.rawValue - 1)), 0x90, 0x13])
    }

    @Test(arguments: ImageHeader.Orientation.allCases) func jpegXLHasItsOrientationInItsMetadata(
        orientation: ImageHeader.Orientation
    ) {
        let codestream = Self.codestream(orientation)
        let header = ImageHeader(format: .jpegXL, width: 64, height: 32, orientation: orientation)
        #expect(ImageHeader(of: codestream) == header)
        #expect(Self.orientation(codestream.prefix(3)) == nil)
        let head = ImageSamples.box("JXL ", Data([0x0D, 0x0A, 0x87, 0x0A]))
        let parts = [codestream.prefix(3), codestream.dropFirst(3)].map {
            ImageSamples.box("jxlp", Data(count: 4) + $0)
        }
        #expect(ImageHeader(of: head + parts.joined()) == header)
    }

    @Test func jpegXLMetadataMayBeDefault() {
        // Everything is default, or there are no extra fields, or the bits are missing.
        #expect(Self.orientation(Data([0xFF, 0x0A, 0xC7, 0x3F])) == .up)
        #expect(Self.orientation(Data([0xFF, 0x0A, 0xC7, 0x39])) == .up)
        #expect(Self.orientation(Data([0xFF, 0x0A, 0xBA, 0x5D, 0x1B])) == .up)
    }
}
