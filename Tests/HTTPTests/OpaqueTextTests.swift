import Testing

@testable import BeagleNetHTTP

struct OpaqueTextTests {
    private static let textPreservesItsBytesArguments: [([UInt8], String)] = [
        ([], ""), (Array("abc".utf8), "abc"), (Array("café €😀".utf8), "café €😀"),
        ([0x61, 0xE9, 0x62], "a\u{10FFE9}b"), ([0xFF, 0x80], "\u{10FFFF}\u{10FF80}"), ([0xC3], "\u{10FFC3}"),
        // Surrogates and overlong forms aren't valid UTF-8.
        ([0xED, 0xA0, 0x80], "\u{10FFED}\u{10FFA0}\u{10FF80}"), ([0xC0, 0xAF], "\u{10FFC0}\u{10FFAF}"),
        // U+10FFE9 itself represents a byte.
        ([0xF4, 0x8F, 0xBF, 0xA9], "\u{10FFF4}\u{10FF8F}\u{10FFBF}\u{10FFA9}"),
    ]

    @Test(arguments: Self.textPreservesItsBytesArguments)
    func textPreservesItsBytes(_ bytes: [UInt8], _ text: String) {
        #expect(String(opaque: bytes) == text)
        #expect(text.opaqueBytes == bytes)
    }

    @Test func everyPairOfBytesRoundTrips() {
        for first in 0...255 as ClosedRange<UInt8> {
            for second in 0...255 as ClosedRange<UInt8> {
                let bytes = [0x78, first, second, 0xC3]
                #expect(String(opaque: bytes).opaqueBytes == bytes)
            }
        }
    }

    @Test(
        arguments: [
            (Array("/café".utf8), "/café"),
            (Array("/caf".utf8) + [0xE9] + Array("?q=é&r=".utf8) + [0xFC], "/caf%E9?q=é&r=%FC"),
        ] as [([UInt8], String)]
    )
    func opaqueBytesArePercentEncoded(_ bytes: [UInt8], _ text: String) {
        #expect(String(opaque: bytes).encodingOpaqueBytes == text)
    }

    @Test func fieldKeepsItsBytes() {
        let field = HTTPField(name: .eTag, value: [0x22, 0xE9, 0x22])
        let copy = HTTPField(name: .ifNoneMatch, opaqueValue: field.opaqueValue)
        #expect(copy.withUnsafeBytesOfValue { Array($0) } == [0x22, 0xE9, 0x22])
        #expect(HTTPField(name: .eTag, value: "\"a\"").opaqueValue == "\"a\"")
    }
}
