import Foundation
import Testing
import TestClients

@testable import BeagleNet

struct ImageFormatTests {
    @Test(arguments: ImageSamples.written + ImageSamples.scattered)
    func formatIsDetectedFromTheBytes(sample: ImageSamples.Sample) {
        #expect(ImageHeader.Format(of: sample.data) == sample.header.format)
        #expect(ImageHeader.Format(of: sample.data.prefix(32)) == sample.header.format)
    }

    private static let svgIsTextWithAnSVGRootArguments: [(String, Bool)] = [
        ("<svg xmlns='http://www.w3.org/2000/svg'/>", true),
        ("\u{FEFF}<?xml version='1.0'?>\n<!-- a > b --> <svg>", true),
        ("<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'svg11.dtd' [<!ENTITY a 'b'>]><svg>", true),
        ("<!DOCTYPE html><html><body><svg></svg></body></html>", false), ("<!-- <svg>", false), ("<?xml <svg", false),
        ("   ", false), ("svg", false), ("<!--" + String(repeating: " ", count: 5000) + "--><svg>", false),
    ]

    @Test(arguments: Self.svgIsTextWithAnSVGRootArguments) func svgIsTextWithAnSVGRoot(
        text: String,
        _ isOne: Bool
    ) {
        #expect(ImageHeader.Format(of: Data(text.utf8)) == (isOne ? .svg : nil))
        #expect(ImageHeader(of: Data(text.utf8)) == nil)
    }

    private static let otherBytesHaveNoFormatArguments: [String] = [
        "", "G", "GIF88a", "BM is no bitmap, but the beginning of a text", "RIFF\0\0\0\0WAVEfmt ", "\0\0\u{1}\0\0\0",
        "{\"a\":1}", "<!doctype html>", "\u{89}PNG", "\0\0\0\u{18}ftypmp42\0\0\0\0mp42isom", "%PDF-1.7", "II*",
        "PK\u{3}\u{4}",
    ]

    @Test(arguments: Self.otherBytesHaveNoFormatArguments) func otherBytesHaveNoFormat(text: String) {
        #expect(ImageHeader.Format(of: Data(text.utf8)) == nil)
    }

    private static let brandsDistinguishAVIFFromHEICArguments: [(String, String, ImageHeader.Format)] = [
        ("avif", "mif1", ImageHeader.Format.avif), ("avis", "msf1", .avif), ("mif1", "avif", .avif),
        ("mif1", "heic", .heic),
        ("heix", "mif1", .heic), ("mif1", "miafavif", .avif), ("msf1", "hevc", .heic), ("mif1", "miaf", .heic),
    ]

    @Test(arguments: Self.brandsDistinguishAVIFFromHEICArguments) func brandsDistinguishAVIFFromHEIC(
        major: String,
        _ compatible: String,
        _ format: ImageHeader.Format
    ) {
        #expect(ImageHeader.Format(of: ImageSamples.box("ftyp", Data("\(major)\0\0\0\0\(compatible)".utf8))) == format)
    }

    /// Its length looks like the first bytes of an icon or a cursor.
    @Test(arguments: [256, 512]) func longBrandBoxIsNotAnIcon(size: Int) {
        let brands = ImageSamples.box("ftyp", Data("avif\0\0\0\0".utf8) + Data(count: size - 16))
        #expect(ImageHeader.Format(of: brands) == .avif)
        let extent = ImageSamples.avif(ImageSamples.extent(37, 23)).dropFirst(24)
        #expect(ImageHeader(of: brands + extent) == ImageHeader(format: .avif, width: 37, height: 23))
        // A box of this type without any of the brands.
        let other = ImageSamples.box("ftyp", Data("none\0\0\0\0".utf8) + Data(count: size - 16))
        #expect(ImageHeader.Format(of: other) == .ico)
    }

    @Test func jpegIsDetectedByItsFirstMarker() {
        #expect(ImageHeader.Format(of: Data([0xFF, 0xD8, 0, 0xFF])) == .jpeg)
        #expect(ImageHeader.Format(of: Data([0xFF, 0xD9, 0xFF, 0xD8])) == nil)
    }

    @Test func formatIsDescribedByItsMediaType() {
        #expect(ImageHeader.Format.svg.description == "image/svg+xml")
        #expect(ImageHeader.Format(rawValue: "image/png") == .png)
    }
}
