import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct CharsetTests {
    /// Label, text, and its bytes in that encoding.
    private static let encodings: [(label: String, text: String, bytes: [UInt8])] = [
        ("iso-8859-1", "café", [0x63, 0x61, 0x66, 0xE9]), ("ISO-8859-1", "é", [0xE9]),
        // Browsers decode ISO 8859-1 and ASCII as windows-1252.
        ("iso-8859-1", "€", [0x80]), ("us-ascii", "é", [0xE9]), ("windows-1252", "€é", [0x80, 0xE9]),
        // Python decodes these ISO 8859-1 bytes as the control characters with the same codes.
        ("latin1", "\u{81}\u{9D}", [0x81, 0x9D]),
        ("iso-8859-2", "ł", [0xB3]), ("iso-8859-15", "€", [0xA4]), ("windows-1251", "Да", [0xC4, 0xE0]),
        ("koi8-r", "Да", [0xE4, 0xC1]), ("shift_jis", "日本", [0x93, 0xFA, 0x96, 0x7B]), ("x-sjis", "①", [0x87, 0x40]),
        ("shift_jis", "\\~", [0x5C, 0x7E]), ("euc-jp", "日", [0xC6, 0xFC]), ("euc-jp", "～", [0xA1, 0xC1]),
        ("iso-2022-jp", "日a", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42, 0x61]),
        ("iso-2022-jp", "日", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42]),
        ("gbk", "中", [0xD6, 0xD0]), ("gb2312", "中", [0xD6, 0xD0]), ("gb18030", "😀", [0x94, 0x39, 0xFC, 0x36]),
        ("big5", "中", [0xA4, 0xA4]), ("euc-kr", "한", [0xC7, 0xD1]), ("utf-16", "aé", [0x61, 0, 0xE9, 0]),
        ("utf-16le", "😀", [0x3D, 0xD8, 0, 0xDE]), ("utf-16be", "aé", [0, 0x61, 0, 0xE9]), ("big5", "", []),
    ]

    @Test(arguments: encodings)
    func textIsConvertedBothWays(_ label: String, _ text: String, _ bytes: [UInt8]) throws {
        let charset = try #require(Charset(contentType: "text/plain; charset=\"\(label)\""))
        #expect(charset.encoded(text) == Data(bytes))
        #expect(charset.text(of: Data(bytes)) == text)
    }

    /// One label of each name that the converter receives.
    @Test(arguments: [
        "866", "l2", "l3", "l4", "cyrillic", "arabic", "greek", "hebrew", "l6", "iso-8859-13", "iso-8859-14", "l9",
        "iso-8859-16", "koi", "koi8-ru", "mac", "dos-874", "x-cp1250", "x-cp1251", "x-cp1253", "l5", "x-cp1255",
        "x-cp1256", "x-cp1257", "x-cp1258", "x-mac-ukrainian",
    ])
    func converterKnowsTheEncoding(_ label: String) throws {
        #expect(try #require(Charset(label: label)).encoded("a") == Data("a".utf8))
    }

    @Test func longTextIsConvertedCompletely() throws {
        let charset = try #require(Charset(label: "shift_jis"))
        let text = String(repeating: "日本語 and more. ", count: 10_000)
        let bytes = try #require(charset.encoded(text))
        #expect(charset.text(of: bytes) == text)
    }

    private static let byteOrderMarkDeterminesTheByteOrderArguments: [([UInt8], String)] = [
        ([0xFF, 0xFE, 0x61, 0], "a"), ([0xFE, 0xFF, 0, 0x61], "a"), ([0x61, 0], "a"),
    ]

    @Test(arguments: Self.byteOrderMarkDeterminesTheByteOrderArguments)
    func byteOrderMarkDeterminesTheByteOrder(_ bytes: [UInt8], _ text: String) throws {
        #expect(try #require(Charset(label: "utf-16")).text(of: Data(bytes)) == text)
    }

    private static let utf8AndUnsupportedCharsetsAreIgnoredArguments: [String] = [
        "text/plain", "text/plain; charset=utf-8", "text/plain; charset=UTF-8", "text/plain;charset=\"utf8\"", "",
        "a=b",
        "text/plain; charset=", "text/plain; charset=utf-16//IGNORE", "text/plain; charset=ISO-2022-CN-EXT",
        "text/plain; charset=csISO2022CN", "text/plain; charset=iso-2022-kr", "text/plain; charset=utf-7",
        "text/plain; charset=ibm037", "text/plain; charset=ucs4", "text/plain; charset=no-such-encoding",
    ]

    @Test(arguments: Self.utf8AndUnsupportedCharsetsAreIgnoredArguments)
    func utf8AndUnsupportedCharsetsAreIgnored(_ type: String) {
        #expect(Charset(contentType: type) == nil)
    }

    private static let extendsASCIIArguments: [(label: String, isTrue: Bool)] = [
        ("iso-8859-1", true), ("shift_jis", true), ("euc-kr", true), ("gb18030", true),
        ("utf-16", false), ("ucs-2", false), ("utf-16be", false),
    ]

    @Test(arguments: Self.extendsASCIIArguments)
    func extendsASCIIFollowsFromTheConversion(_ label: String, _ isTrue: Bool) throws {
        #expect(try #require(Charset(label: label)).extendsASCII == isTrue)
    }

    @Test func unsupportedTextIsNotConverted() throws {
        #expect(try #require(Charset(label: "iso-8859-1")).encoded("日") == nil)
        #expect(try #require(Charset(label: "shift_jis")).encoded("한") == nil)
        #expect(try #require(Charset(label: "shift_jis")).text(of: Data([0x93])) == nil)
    }

    @Test func contentTypeFieldTakesPrecedenceOverTheMediaType() {
        let fields = [LogEntry.Field("content-type", "text/plain; charset=koi8-r")]
        #expect(Charset(fields, mediaType: "text/plain; charset=big5") == Charset(label: "koi8-r"))
        #expect(Charset([], mediaType: "text/plain; charset=big5") == Charset(label: "big5"))
        #expect(Charset([LogEntry.Field("Content-Type", "text/html")], mediaType: "text/html; charset=big5") != nil)
        #expect(Charset([LogEntry.Field("Content-Type", "a/b; charset=utf-8")], mediaType: "a/b; charset=big5") == nil)
    }
}
