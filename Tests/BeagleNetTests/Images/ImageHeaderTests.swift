import Foundation
import Testing

@testable import BeagleNet

@Suite(.timeLimit(.minutes(1))) struct ImageHeaderTests {
    @Test(arguments: ImageSamples.written) func aSizeIsReadAsSoonAsItIsThere(sample: ImageSamples.Sample) {
        #expect(ImageHeader(of: sample.data) == sample.header)
        #expect(ImageHeader(of: sample.data + Data(repeating: 0xFF, count: 100)) == sample.header)
        for count in sample.data.indices { #expect(ImageHeader(of: sample.data.prefix(count)) == nil, "\(count)") }
    }

    @Test(arguments: ImageSamples.scattered) func whatHasSeveralSizesIsReadAsFarAsItGoes(sample: ImageSamples.Sample) {
        #expect(ImageHeader(of: sample.data) == sample.header)
        for count in sample.data.indices {
            let header = ImageHeader(of: sample.data.prefix(count))
            #expect(header.map { $0.pixels <= sample.header.pixels } ?? true, "\(count)")
        }
    }

    /// A slice's first index is not 0.
    @Test(arguments: ImageSamples.written) func aSliceIsReadFromItsOwnBeginning(sample: ImageSamples.Sample) {
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

    @Test func thePNGOfXcodeHasAChunkBefore() {
        let png = ImageSamples.png(37, 23)
        let chunk = Data([0, 0, 0, 4]) + Data("CgBI".utf8) + Data([0x50, 0, 0x20, 2, 0x2B, 0xD5, 0xB3, 0x7F])
        let header = ImageHeader(of: png.prefix(8) + chunk + png.dropFirst(8))
        #expect(header == ImageHeader(format: .png, width: 37, height: 23))
    }

    @Test(
        arguments: [
            // BITMAPCOREHEADER; a height of -23; the lowest height that there is.
            ([12, 0, 0, 0, 37, 0, 23, 0], 37, 23), ([40, 0, 0, 0, 37, 0, 0, 0, 0xE9, 0xFF, 0xFF, 0xFF], 37, 23),
            ([124, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x80], 1, 2_147_483_648),
        ] as [([UInt8], Int, Int)]
    ) func aBitmapHasTwoKindsOfHeader(header: [UInt8], _ width: Int, _ height: Int) {
        let bitmap = Data("BM".utf8) + Data(count: 12) + Data(header)
        #expect(ImageHeader(of: bitmap) == ImageHeader(format: .bmp, width: width, height: height))
        for count in bitmap.indices { #expect(ImageHeader(of: bitmap.prefix(count)) == nil) }
    }

    @Test func theLargestOfWebP() {
        let canvas = Data("RIFF\0\0\0\0WEBPVP8X\u{A}\0\0\0\0\0\0\0".utf8) + Data(repeating: 0xFF, count: 6)
        #expect(ImageHeader(of: canvas) == ImageHeader(format: .webp, width: 16_777_216, height: 16_777_216))
        let lossless = Data("RIFF\0\0\0\0WEBPVP8L\0\0\0\0\u{2F}".utf8) + Data(repeating: 0xFF, count: 4)
        #expect(ImageHeader(of: lossless) == ImageHeader(format: .webp, width: 16_384, height: 16_384))
    }

    @Test func aTIFFMayHaveItsHighestBytesFirst() {
        let head = Data([0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 2])
        let entries = Data([1, 0, 0, 3, 0, 0, 0, 1, 0, 37, 0, 0, 1, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 23])
        #expect(ImageHeader(of: head + entries) == ImageHeader(format: .tiff, width: 37, height: 23))
        #expect(ImageHeader(of: head + entries.dropLast()) == nil)
        #expect(ImageHeader(of: Data([0x4D, 0x4D, 0, 42, 0xFF, 0xFF, 0xFF, 0xFF]) + entries) == nil)
        #expect(ImageHeader(of: Data([0x4D, 0x4D, 0, 43, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8])) == nil)
    }

    /// The width as a ratio of the height; as libjxl writes it, too.
    @Test(arguments: zip(1...7, [240, 288, 320, 360, 426, 300, 480])) func aJPEGXLMayHaveARatio(
        ratio: Int,
        _ width: Int
    ) {
        let bits = 1 | 29 << 1 | ratio << 6
        let header = ImageHeader(of: Data([0xFF, 0x0A, UInt8(bits & 0xFF), UInt8(bits >> 8)]))
        #expect(header == ImageHeader(format: .jpegXL, width: width, height: 240))
    }

    // MARK: - JPEG

    private static let segment = Data([0xFF, 0xE1, 0, 6, 0xFF, 0xC0, 0xFF, 0xD9])

    /// What a decoder passes over does not hide a frame. Segments that look like frames are none.
    @Test(arguments: [
        Data(), segment, Data([0xFF, 0xFF, 0xFF]) + segment, segment + Data([1, 2, 3]) + segment,
        Data([0xFF, 0xD0, 0xFF, 1]),
        Data([0xFF, 0xC4, 0, 4, 0xFF, 0xC0]), Data([0xFF, 0xE0, 0, 0]), Data([0xFF, 0xE0, 0, 1]),
        Data([0xFF, 0xE0, 0, 2]),
        Data((0..<2000).flatMap { _ in segment }), Data(repeating: 0xFF, count: 60_000),
        Data((0..<15_000).flatMap { _ in [0xFF, 0xE0, 0, 0] }),
    ]) func aFrameIsFoundBehindOtherSegments(segments: Data) {
        let jpeg = ImageSamples.jpeg(segments)
        #expect(ImageHeader(of: jpeg) == ImageHeader(format: .jpeg, width: 37, height: 23))
        #expect(ImageHeader(of: jpeg.dropLast()) == nil)
    }

    @Test(
        arguments: [
            // The pixels or the end come first; a segment leads beyond the end.
            [0xFF, 0xDA, 0, 2], [0xFF, 0xD9], [0xFF, 0xE0, 0xFF, 0xFF],
        ] as [[UInt8]]
    ) func withoutAFrameThereIsNoSize(segments: [UInt8]) {
        #expect(ImageHeader(of: ImageSamples.jpeg(Data(segments))) == nil)
    }

    // MARK: - Icons, AVIF

    /// Decoders go by what is inside.
    @Test func anIconIsAsLargeAsTheImageInIt() {
        let entry = Data([16, 16, 0, 0, 1, 0, 32, 0, 70, 0, 0, 0, 22, 0, 0, 0])
        let icon = Data([0, 0, 1, 0, 1, 0]) + entry + ImageSamples.png(2_147_483_647, 2)
        #expect(ImageHeader(of: icon) == ImageHeader(format: .ico, width: 2_147_483_647, height: 2))
        let astray = Data([0, 0, 1, 0, 0xFF, 0xFF]) + entry.prefix(12) + Data(repeating: 0xFF, count: 4)
        #expect(ImageHeader(of: astray) == ImageHeader(format: .ico, width: 16, height: 16))
    }

    @Test func theLargestExtentCounts() {
        let properties = ImageSamples.extent(8, 8) + ImageSamples.extent(37, 23) + ImageSamples.extent(255, 1)
        let header = ImageHeader(format: .avif, width: 37, height: 23)
        #expect(ImageHeader(of: ImageSamples.avif(properties)) == header)
        // To the end of what it is in; beyond that; shorter than its own head.
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
            // What follows the box that it is in might be taken for the rest of its head.
            #expect(ImageHeader(of: image + Data([0, 0, 0, 32, 0, 0, 0, 32])) == nil)
        }
    }

    // MARK: - Anything

    /// Beginnings of each format, with random bytes changed and random bytes behind.
    @Test(arguments: ImageSamples.written + ImageSamples.scattered) func randomBytesAreSurvived(
        sample: ImageSamples.Sample
    ) {
        var random = SplitMix(state: UInt64(sample.data.count))
        for _ in 0..<500 {
            var bytes = [UInt8](sample.data)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = [0, 0xFF, .random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
            for _ in 0..<Int.random(in: 0...64, using: &random) { bytes.append(.random(in: 0...255, using: &random)) }
            guard let header = ImageHeader(of: Data(bytes)) else { continue }
            #expect(header.width >= 0 && header.height >= 0 && header.pixels >= 0)
            #expect(ImageFormat(of: Data(bytes)) == header.format)
        }
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
