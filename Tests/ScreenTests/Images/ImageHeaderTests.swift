import BeagleNetTesting
import Foundation
import Testing
import TestClients

@testable import BeagleNet

@Suite(.timeLimit(.minutes(5))) struct ImageHeaderTests {
    @Test(arguments: ImageSamples.written) func sizeIsReadAsSoonAsItIsAvailable(sample: ImageSamples.Sample) {
        #expect(ImageHeader(of: sample.data) == sample.header)
        #expect(ImageHeader(of: sample.data + Data(repeating: 0xFF, count: 100)) == sample.header)
        for count in sample.data.indices { #expect(ImageHeader(of: sample.data.prefix(count)) == nil, "\(count)") }
    }

    @Test(arguments: ImageSamples.scattered) func prefixNeverReportsALargerSize(sample: ImageSamples.Sample) {
        #expect(ImageHeader(of: sample.data) == sample.header)
        for count in sample.data.indices {
            let header = ImageHeader(of: sample.data.prefix(count))
            #expect(header.map { $0.pixels <= sample.header.pixels } ?? true, "\(count)")
        }
    }

    /// A slice's first index is not 0.
    @Test(arguments: ImageSamples.written) func sliceIsReadFromItsStartIndex(sample: ImageSamples.Sample) {
        #expect(ImageHeader(of: (Data("GIF".utf8) + sample.data).dropFirst(3)) == sample.header)
    }

    @Test func pixelsAreCountedWithoutOverflow() {
        func pixels(_ width: Int, _ height: Int) -> Int {
            ImageHeader(format: .png, width: width, height: height).pixels
        }
        #expect(pixels(10_000, 10_000) == 100_000_000)
        #expect(pixels(0, 7) == 0)
        #expect(pixels(.max, 2) == .max)
        #expect(pixels(2_147_483_647, 2_147_483_647) == 4_611_686_014_132_420_609)
        #expect(ImageHeader(of: ImageSamples.png(2_147_483_647, 2_147_483_647))?.width == 2_147_483_647)
    }

    // MARK: - PNG, BMP, WebP, TIFF

    private static func chunk(_ type: String, _ size: UInt32, _ content: Data) -> Data {
        withUnsafeBytes(of: size.bigEndian) { Data($0) } + Data(type.utf8) + content + Data(count: 4)
    }

    private static let pngMayHaveChunksBeforeItsHeaderArguments: [Data] = [
        chunk("CgBI", 4, Data([0x50, 0, 0x20, 2])), chunk("teSt", 0, Data()),
        chunk("teSt", 8, Data([0, 0, 0, 13]) + Data("IHDR".utf8)),
        Data((0..<5000).flatMap { _ in chunk("teSt", 1, Data([1])) }),
    ]

    /// Xcode puts its own chunk before the header, and decoders skip others.
    @Test(arguments: Self.pngMayHaveChunksBeforeItsHeaderArguments) func pngMayHaveChunksBeforeItsHeader(chunks: Data) {
        let png = ImageSamples.png(37, 23)
        let image = png.prefix(8) + chunks + png.dropFirst(8)
        #expect(ImageHeader(of: image) == ImageHeader(format: .png, width: 37, height: 23))
        #expect(ImageHeader(of: image.prefix(8 + chunks.count + 15)) == nil)
        let entry = Data([16, 16, 0, 0, 1, 0, 32, 0, 70, 0, 0, 0, 22, 0, 0, 0])
        let icon = Data([0, 0, 1, 0, 1, 0]) + entry + image
        #expect(ImageHeader(of: icon) == ImageHeader(format: .ico, width: 37, height: 23))
    }

    @Test(arguments: [.max, .max - 11, 1 << 31, 63, 62] as [UInt32])
    func noHeaderFollowsAChunkBeyondTheEnd(size: UInt32) {
        let png = ImageSamples.png(37, 23)
        #expect(ImageHeader(of: png.prefix(8) + Self.chunk("teSt", size, Data()) + png.dropFirst(8)) == nil)
    }

    private static let bitmapHasTwoKindsOfHeaderArguments: [([UInt8], Int, Int)] = [
        // BITMAPCOREHEADER; a height of -23; the lowest possible height.
        ([12, 0, 0, 0, 37, 0, 23, 0], 37, 23), ([40, 0, 0, 0, 37, 0, 0, 0, 0xE9, 0xFF, 0xFF, 0xFF], 37, 23),
        ([124, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x80], 1, 2_147_483_648),
    ]

    @Test(arguments: Self.bitmapHasTwoKindsOfHeaderArguments) func bitmapHasTwoKindsOfHeader(
        header: [UInt8],
        _ width: Int,
        _ height: Int
    ) {
        let bitmap = Data("BM".utf8) + Data(count: 12) + Data(header)
        #expect(ImageHeader(of: bitmap) == ImageHeader(format: .bmp, width: width, height: height))
        for count in bitmap.indices { #expect(ImageHeader(of: bitmap.prefix(count)) == nil) }
    }

    @Test func largestWebPSizesAreRead() {
        let canvas = Data("RIFF\0\0\0\0WEBPVP8X\u{A}\0\0\0\0\0\0\0".utf8) + Data(repeating: 0xFF, count: 6)
        #expect(ImageHeader(of: canvas) == ImageHeader(format: .webp, width: 16_777_216, height: 16_777_216))
        let lossless = Data("RIFF\0\0\0\0WEBPVP8L\0\0\0\0\u{2F}".utf8) + Data(repeating: 0xFF, count: 4)
        #expect(ImageHeader(of: lossless) == ImageHeader(format: .webp, width: 16_384, height: 16_384))
    }

    @Test func bigEndianTIFFIsRead() {
        let head = Data([0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 2])
        let entries = Data([1, 0, 0, 3, 0, 0, 0, 1, 0, 37, 0, 0, 1, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 23])
        #expect(ImageHeader(of: head + entries) == ImageHeader(format: .tiff, width: 37, height: 23))
        #expect(ImageHeader(of: head + entries.dropLast()) == nil)
        #expect(ImageHeader(of: Data([0x4D, 0x4D, 0, 42, 0xFF, 0xFF, 0xFF, 0xFF]) + entries) == nil)
        #expect(ImageHeader(of: Data([0x4D, 0x4D, 0, 43, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8])) == nil)
    }

    /// Decoders use either the first or the last entry.
    @Test func largerOfRepeatedTIFFEntriesCounts() {
        func entry(_ tag: UInt8, _ value: UInt8) -> Data { Data([1, tag, 0, 3, 0, 0, 0, 1, 0, value, 0, 0]) }
        let head = Data([0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 4])
        let header = ImageHeader(format: .tiff, width: 37, height: 23)
        #expect(ImageHeader(of: head + entry(0, 37) + entry(1, 23) + entry(0, 1) + entry(1, 1)) == header)
        #expect(ImageHeader(of: head + entry(0, 1) + entry(1, 1) + entry(0, 37) + entry(1, 23)) == header)
    }

    private static let signedTIFFNumbersAreReadArguments: [(UInt8, [UInt8])] = [
        (6, [37, 0, 0, 0]), (8, [0, 37, 0, 0]), (9, [0, 0, 0, 37]),
    ]

    /// Decoders accept them if they aren't negative.
    @Test(arguments: Self.signedTIFFNumbersAreReadArguments)
    func signedTIFFNumbersAreRead(type: UInt8, _ value: [UInt8]) {
        func entry(_ tag: UInt8) -> Data { Data([1, tag, 0, type, 0, 0, 0, 1]) + Data(value) }
        let head = Data([0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 2])
        #expect(ImageHeader(of: head + entry(0) + entry(1)) == ImageHeader(format: .tiff, width: 37, height: 37))
    }

    @Test(arguments: [16, 17] as [UInt8]) func tiffMayHave64BitOffsetsAndNumbers(type: UInt8) {
        func long(_ number: UInt64) -> Data { withUnsafeBytes(of: number.littleEndian) { Data($0) } }
        func big(_ width: UInt64) -> Data {
            Data([0x49, 0x49, 43, 0, 8, 0, 0, 0]) + long(16) + long(2) + Data([0, 1, type, 0]) + long(1) + long(width)
                + Data([1, 1, 3, 0]) + long(1) + long(23)
        }
        #expect(ImageHeader(of: big(37)) == ImageHeader(format: .tiff, width: 37, height: 23))
        #expect(ImageHeader(of: big(1 << 40)) == ImageHeader(format: .tiff, width: Int(UInt32.max), height: 23))
        for count in big(37).indices.dropLast(6) { #expect(ImageHeader(of: big(37).prefix(count)) == nil) }
        // An entry that is too small for such a number holds its offset.
        let head = Data([0x49, 0x49, 42, 0, 8, 0, 0, 0, 2, 0])
        let entries = Data([0, 1, type, 0, 1, 0, 0, 0, 34, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 23, 0, 0, 0])
        let header = ImageHeader(format: .tiff, width: 65_536, height: 23)
        #expect(ImageHeader(of: head + entries + long(65_536)) == header)
        #expect(ImageHeader(of: head + entries) == nil)
    }

    /// Decoders allocate memory for the frames, regardless of the size of the screen.
    @Test(arguments: [0, 0x80]) func gifIsAsLargeAsItsLargestFrame(flags: UInt8) {
        let table = Data(repeating: 0x2C, count: flags == 0 ? 0 : 6)
        func image(_ width: UInt8) -> Data {
            Data([0x2C, 0, 0, 0, 0, width, 0, 23, 0, flags]) + table + Data([2, 3, 0x2C, 0x2C, 0x2C, 0])
        }
        let screen = Data("GIF89a".utf8) + Data([1, 0, 1, 0, flags, 0, 0]) + table
        let delay = Data([0x21, 0xF9, 4, 0x2C, 0x2C, 0x2C, 0x2C, 0])
        let gif = screen + image(1) + delay + image(37) + image(2)
        #expect(ImageHeader(of: gif + Data([0x3B])) == ImageHeader(format: .gif, width: 37, height: 23))
        #expect(ImageHeader(of: screen + Data([0x3B]) + image(37)) == ImageHeader(format: .gif, width: 1, height: 1))
        for count in screen.count..<gif.count { #expect(ImageHeader(of: gif.prefix(count)) != nil) }
    }

    private static let gifSizeIncludesFrameOffsetsArguments: [((Int, Int), (Int, Int), (Int, Int), (Int, Int))] = [
        // Screen size, frame offset, frame size, total size.
        ((1, 1), (3000, 2000), (1, 1), (3001, 2001)), ((16, 8), (5, 7), (20, 10), (25, 17)),
        ((60, 40), (10, 10), (30, 30), (60, 40)), ((0, 0), (5, 7), (20, 10), (25, 17)),
        ((10, 500), (0, 0), (40, 1), (40, 500)), ((1, 1), (65_535, 65_535), (65_535, 65_535), (131_070, 131_070)),
    ]

    /// A frame at 3000,2000 on a screen of 1 x 1: browsers allocate memory up to the frame's far corner.
    @Test(arguments: Self.gifSizeIncludesFrameOffsetsArguments)
    func gifSizeIncludesFrameOffsets(_ screen: (Int, Int), _ at: (Int, Int), _ of: (Int, Int), _ all: (Int, Int)) {
        func numbers(_ numbers: Int...) -> Data {
            numbers.reduce(Data()) { $0 + withUnsafeBytes(of: UInt16($1).littleEndian) { Data($0) } }
        }
        let small = Data([0x2C]) + numbers(0, 0, 0, 0) + Data([0, 2, 1, 0x44, 0])
        let frame = Data([0x2C]) + numbers(at.0, at.1, of.0, of.1) + Data([0, 2, 1, 0x44, 0])
        let head = Data("GIF89a".utf8) + numbers(screen.0, screen.1) + Data([0, 0, 0])
        let header = ImageHeader(format: .gif, width: all.0, height: all.1)
        #expect(ImageHeader(of: head + frame + Data([0x3B])) == header)
        #expect(ImageHeader(of: head + small + frame + small + Data([0x3B])) == header)
    }

    /// The width as a ratio of the height, as libjxl writes it too.
    @Test(arguments: zip(1...7, [240, 288, 320, 360, 426, 300, 480])) func jpegXLWidthMayBeARatio(
        ratio: Int,
        _ width: Int
    ) {
        let bits = 1 | 29 << 1 | ratio << 6
        let header = ImageHeader(of: Data([0xFF, 0x0A, UInt8(bits & 0xFF), UInt8(bits >> 8)]))
        #expect(header == ImageHeader(format: .jpegXL, width: width, height: 240))
    }

    // MARK: - JPEG

    private static let segment = Data([0xFF, 0xE1, 0, 6, 0xFF, 0xC0, 0xFF, 0xD9])

    private static let jpegFrameIsFoundAfterOtherSegmentsArguments: [Data] = [
        Data(), segment, Data([0xFF, 0xFF, 0xFF]) + segment, segment + Data([1, 2, 3]) + segment,
        Data([0xFF, 0xD0, 0xFF, 1]), Data([0]), Data([0xD8, 1, 2]), Data([0]) + segment,
        Data([0xFF, 0xC4, 0, 4, 0xFF, 0xC0]), Data([0xFF, 0xE0, 0, 0]), Data([0xFF, 0xE0, 0, 1]),
        Data([0xFF, 0xE0, 0, 2]),
        Data((0..<2000).flatMap { _ in segment }), Data(repeating: 0xFF, count: 60_000),
        Data((0..<15_000).flatMap { _ in [0xFF, 0xE0, 0, 0] }),
    ]

    /// Bytes that a decoder skips don't hide a frame. Bytes in a segment that look like a frame aren't one.
    @Test(arguments: Self.jpegFrameIsFoundAfterOtherSegmentsArguments) func jpegFrameIsFoundAfterOtherSegments(
        segments: Data
    ) {
        let jpeg = ImageSamples.jpeg(segments)
        #expect(ImageHeader(of: jpeg) == ImageHeader(format: .jpeg, width: 37, height: 23))
        #expect(ImageHeader(of: jpeg.dropLast()) == nil)
    }

    @Test(
        arguments: [
            // The pixels or the end come first; a segment extends beyond the end.
            [0xFF, 0xDA, 0, 2], [0xFF, 0xD9], [0xFF, 0xE0, 0xFF, 0xFF],
        ] as [[UInt8]]
    ) func jpegWithoutAFrameHasNoSize(segments: [UInt8]) {
        #expect(ImageHeader(of: ImageSamples.jpeg(Data(segments))) == nil)
    }

    // MARK: - Icons, AVIF

    /// Decoders use the size of the embedded image.
    @Test func iconIsAsLargeAsItsImage() {
        let entry = Data([16, 16, 0, 0, 1, 0, 32, 0, 70, 0, 0, 0, 22, 0, 0, 0])
        let icon = Data([0, 0, 1, 0, 1, 0]) + entry + ImageSamples.png(2_147_483_647, 2)
        #expect(ImageHeader(of: icon) == ImageHeader(format: .ico, width: 2_147_483_647, height: 2))
        let astray = Data([0, 0, 1, 0, 0xFF, 0xFF]) + entry.prefix(12) + Data(repeating: 0xFF, count: 4)
        #expect(ImageHeader(of: astray) == ImageHeader(format: .ico, width: 16, height: 16))
    }

    /// A chunk isn't read again for each image that it might belong to.
    @Test func iconImagesMayShareChunks() {
        let count = 65_535
        var icon = Data([0, 0, 1, 0, 0xFF, 0xFF])
        let images = icon.count + 16 * count
        for index in 0..<count {
            icon += [16, 16, 0, 0, 1, 0, 32, 0, 70, 0, 0, 0]
            withUnsafeBytes(of: UInt32(images + 12 * index).littleEndian) { icon += $0 }
        }
        for _ in 0..<count { icon += [0x89, 0x50, 0x4E, 0x47, 0, 0, 0, 0, 0, 0, 0, 0] }
        icon += Data(count: 8) + ImageSamples.png(37_000, 23).dropFirst(8)
        #expect(ImageHeader(of: icon) == ImageHeader(format: .ico, width: 37_000, height: 23))
    }

    /// A sequence parameter set of ITU-T H.265 or a sequence header of AV1, with these dimensions.
    private static func coded(_ codec: String, _ width: Int, _ height: Int) -> Data {
        var bits = ""
        func add(_ number: Int, _ count: Int) {
            let digits = String(number, radix: 2)
            bits += String(repeating: "0", count: count - digits.count) + digits
        }
        func golomb(_ number: Int) { add(number + 1, 2 * String(number + 1, radix: 2).count - 1) }
        if codec == "HEVC" {
            add(0, 8)
            for _ in 0..<12 { add(0b0000_0001, 8) }
            for number in [0, 1, width, height] { golomb(number) }
        } else {
            // A still picture with a reduced header; sides of 16 bits.
            add(0b000_1_1_00000, 10)
            for number in [15, 15] { add(number, 4) }
            for side in [width, height] { add(side - 1, 16) }
        }
        bits += String(repeating: "0", count: 16 - bits.count % 8)
        var bytes = Data()
        for index in 0..<bits.count / 8 {
            let start = bits.index(bits.startIndex, offsetBy: index * 8)
            bytes.append(UInt8(bits[start..<bits.index(start, offsetBy: 8)], radix: 2) ?? 0)
        }
        guard codec == "HEVC" else { return Data([0x12, 0, 0x0A, UInt8(bytes.count)]) + bytes }
        // A 3 is inserted after two zeros.
        var (unit, zeros) = (Data([0x42, 1]), 0)
        for byte in bytes {
            if zeros == 2, byte < 4 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }

    private static func big(_ number: Int, _ bytes: Int) -> Data {
        Data((0..<bytes).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    }

    private static func hevcConfiguration(_ width: Int, _ height: Int) -> Data {
        let unit = coded("HEVC", width, height)
        return ImageSamples.box("hvcC", Data(count: 22) + Data([1, 0xA1, 0, 1]) + big(unit.count, 2) + unit)
    }

    /// Decoders use these sizes, and ignore those of `ispe`.
    @Test(arguments: [true, false]) func itemSizeTakesPrecedenceOverTheClaimedSize(isInside: Bool) {
        let claim = ImageSamples.extent(8, 8)
        let header = ImageHeader(format: .heic, width: 1300, height: 700)
        let (grid, overlay) = (Data([0, 0, 1, 1]), Data(count: 10))
        let unit = Self.coded("HEVC", 1300, 700)
        // Another unit comes before it.
        let picture: Data = Self.big(3, 4) + Data([0x40, 1, 0]) + Self.big(unit.count, 4) + unit
        let cases: [(String, Data)] = [
            ("grid", grid + Self.big(1300, 2) + Self.big(700, 2)),
            ("grid", Data([0, 1, 1, 1]) + Self.big(1300, 4) + Self.big(700, 4)),
            ("iovl", overlay + Self.big(1300, 2) + Self.big(700, 2)),
            ("av01", Self.coded("AV1", 1300, 700)), ("hvc1", picture),
        ]
        for (type, content) in cases {
            let image = ImageSamples.item(type, content, isInside: isInside, claims: claim)
            #expect(ImageHeader(of: image) == header, "\(type)")
            for count in image.indices { _ = ImageHeader(of: image.prefix(count)) }
        }
        // An item that isn't an image is ignored.
        let other = ImageSamples.item("Exif", cases[0].1, isInside: isInside, claims: claim)
        #expect(ImageHeader(of: other) == ImageHeader(format: .heic, width: 8, height: 8))
    }

    @Test func codecConfigurationMayGiveALargerSize() {
        let claim = ImageSamples.extent(41, 31)
        let hevc = ImageSamples.avif(claim + Self.hevcConfiguration(512, 300))
        #expect(ImageHeader(of: hevc) == ImageHeader(format: .avif, width: 512, height: 300))
        let av1 = ImageSamples.box("av1C", Data(count: 4) + Self.coded("AV1", 512, 300))
        #expect(ImageHeader(of: ImageSamples.avif(claim + av1))?.width == 512)
        // Whole blocks are coded: a last block that is cropped doesn't make the image larger.
        let padded = ImageSamples.avif(claim + Self.hevcConfiguration(64, 64))
        #expect(ImageHeader(of: padded) == ImageHeader(format: .avif, width: 41, height: 31))
        let tooMuch = ImageSamples.avif(claim + Self.hevcConfiguration(65, 64))
        #expect(ImageHeader(of: tooMuch)?.width == 65)
        // A smaller size than the claimed one.
        let tile = ImageSamples.avif(ImageSamples.extent(255, 255) + Self.hevcConfiguration(64, 64))
        #expect(ImageHeader(of: tile)?.width == 255)
    }

    /// As in decoders, the header continues after a number that begins with 32 zeros (AV1, 4.10.3).
    @Test func variableLengthNumberEndsAfter32Zeros() {
        func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
        let timing = "1" + zeros(64) + "1" + zeros(32)
        let size = "1111" + "1111" + "0000000111111111" + "0000000100101011"
        let bits = Array(zeros(5) + timing + zeros(1 + 1 + 5 + 12 + 5) + size + zeros(16))
        let bytes = Data(
            (0..<bits.count / 8).map { UInt8(String(bits[$0 * 8..<$0 * 8 + 8]), radix: 2) ?? 0 }
        )
        let header = Data([0x0A, UInt8(bytes.count)]) + bytes
        let properties = ImageSamples.extent(41, 31) + ImageSamples.box("av1C", Data(count: 4) + header)
        let image = ImageSamples.avif(properties)
        #expect(ImageHeader(of: image) == ImageHeader(format: .avif, width: 512, height: 300))
    }

    @Test func sequenceIsAsLargeAsItsCodedPictures() {
        let entry = Data(count: 24) + Self.big(41, 2) + Self.big(31, 2) + Data(count: 50)
        func movie(_ coded: Data) -> Data {
            let samples = ImageSamples.box("stsd", Data(count: 8) + ImageSamples.box("hvc1", entry + coded))
            let media = ["stbl", "minf", "mdia"].reduce(samples) { ImageSamples.box($1, $0) }
            let track = ImageSamples.box("tkhd", Data(count: 76) + Data([0, 41, 0, 0, 0, 31, 0, 0]))
            return ImageSamples.box("ftyp", Data("hevc\0\0\0\0msf1".utf8))
                + ImageSamples.box("moov", ImageSamples.box("trak", track + media))
        }
        #expect(ImageHeader(of: movie(Data()))?.width == 41)
        #expect(ImageHeader(of: movie(Self.hevcConfiguration(512, 300)))?.width == 512)
    }

    @Test func largestExtentCounts() {
        let properties = ImageSamples.extent(8, 8) + ImageSamples.extent(37, 23) + ImageSamples.extent(255, 1)
        let header = ImageHeader(format: .avif, width: 37, height: 23)
        #expect(ImageHeader(of: ImageSamples.avif(properties)) == header)
        // A box up to the end of its container; beyond that; shorter than its own header.
        #expect(ImageHeader(of: ImageSamples.avif(properties, size: 0)) == header)
        #expect(ImageHeader(of: ImageSamples.avif(properties, size: .max)) == header)
        for size: UInt32 in 1...7 { #expect(ImageHeader(of: ImageSamples.avif(properties, size: size)) == nil) }
        let long = ImageSamples.box(
            "ispe",
            Data([0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 37, 0, 0, 0, 23]),
            size: 1
        )
        #expect(ImageHeader(of: ImageSamples.avif(long)) == header)
        for count in long.indices {
            let image = ImageSamples.avif(long.prefix(count))
            #expect(ImageHeader(of: image) == nil)
            // Bytes after the enclosing box could be mistaken for the rest of its header.
            #expect(ImageHeader(of: image + Data([0, 0, 0, 32, 0, 0, 0, 32])) == nil)
        }
    }

    /// A decoder that checks only the first bytes takes it for an icon.
    @Test func avifThatLooksLikeAnIconHasTheSizeOfTheIconsImage() {
        var brands = ImageSamples.box("ftyp", Data("avif\0\0\0\0".utf8) + Data(count: 240))
        brands.replaceSubrange(18..<22, with: [0, 1, 0, 0])
        let header = ImageHeader(format: .avif, width: 300, height: 200)
        #expect(ImageHeader(of: brands + ImageSamples.png(300, 200)) == header)
        #expect(ImageHeader(of: brands + Data([40, 0, 0, 0, 0x2C, 1, 0, 0, 0x90, 1, 0, 0])) == header)
    }

    /// A sequence may have no other images.
    @Test func sequenceIsAsLargeAsItsTracks() {
        let track = ImageSamples.box("tkhd", Data(count: 76) + Data([0, 37, 0, 0, 0, 23, 0, 0]))
        let movie = ImageSamples.box("moov", ImageSamples.box("trak", track))
        let brands = ImageSamples.box("ftyp", Data("avis\0\0\0\0avis".utf8))
        #expect(ImageHeader(of: brands + movie) == ImageHeader(format: .avif, width: 37, height: 23))
        #expect(ImageHeader(of: ImageSamples.avif(ImageSamples.extent(8, 8)) + movie)?.width == 37)
        #expect(ImageHeader(of: brands + movie.dropLast()) == nil)
    }

    @Test func brandBoxLengthMayHaveOtherForms() {
        let brands = Data("mif1\0\0\0\0avif".utf8)
        #expect(ImageHeader.Format(of: ImageSamples.box("ftyp", brands, size: 0)) == .avif)
        #expect(
            ImageHeader.Format(of: ImageSamples.box("ftyp", Data([0, 0, 0, 0, 0, 0, 0, 28]) + brands, size: 1)) == .avif
        )
        #expect(ImageHeader.Format(of: ImageSamples.box("ftyp", brands.prefix(8)) + brands.suffix(4)) == .heic)
    }

    @Test func splitCodestreamIsJoined() {
        let head = ImageSamples.box("JXL ", Data([0x0D, 0x0A, 0x87, 0x0A]))
        let bits = 1 | 29 << 1 | 1 << 6
        let parts = [[], [0xFF], [0x0A, UInt8(bits & 0xFF)], [UInt8(bits >> 8), 0]].enumerated().map { index, part in
            ImageSamples.box("jxlp", Data([0, 0, 0, UInt8(index)]) + Data(part))
        }
        let header = ImageHeader(format: .jpegXL, width: 240, height: 240)
        #expect(ImageHeader(of: head + parts.joined()) == header)
        #expect(ImageHeader(of: head + parts.dropLast().joined()) == nil)
    }

    // MARK: - Random input

    /// The beginning of each format, with random bytes changed and random bytes appended.
    @Test(arguments: ImageSamples.written + ImageSamples.scattered) func randomBytesDoNotCrash(
        sample: ImageSamples.Sample
    ) {
        var random = SeededGenerator(seed: UInt64(sample.data.count))
        for _ in 0..<500 {
            var bytes = [UInt8](sample.data)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = [0, 0xFF, .random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
            for _ in 0..<Int.random(in: 0...64, using: &random) { bytes.append(.random(in: 0...255, using: &random)) }
            guard let header = ImageHeader(of: Data(bytes)) else { continue }
            #expect(header.width >= 0 && header.height >= 0 && header.pixels >= 0)
            #expect(ImageHeader.Format(of: Data(bytes)) == header.format)
        }
    }
}
