import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A character encoding other than UTF-8, as `Content-Type` names it.
///
/// The system's converter (`iconv`) reads and writes it.
struct Charset: Sendable, Hashable {
    /// The names under which the converter may know the encoding, in order of preference.
    private let codecs: [String]

    /// Reads the `charset` parameter of a `Content-Type`; returns `nil` if it is missing or names UTF-8.
    init?(contentType: String) {
        let utf8 = contentType.utf8
        // Most types have no parameter, or this one.
        guard utf8.contains(UInt8(ascii: "=")), !contentType.hasSuffix("charset=utf-8"),
            let label = MediaType(contentType)?.parameters["charset"]
        else { return nil }
        self.init(label: label)
    }

    /// Creates an encoding from its label; returns `nil` for UTF-8 and for labels that aren't safe to convert.
    ///
    /// - Parameter label: a name of the encoding from the WHATWG Encoding standard. Other names are passed to the
    ///   converter unchanged.
    init?(label: String) {
        let label = label.lowercased()
        // The converter may interpret other characters as an instruction.
        let isName = label.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || "-_.:".utf8.contains(byte)
        }
        guard isName, !label.isEmpty, label.utf8.count <= 40, !Self.utf8Labels.contains(label) else { return nil }
        // Browsers refuse these encodings, and glibc before 2.40 overflows its buffer (CVE-2024-2961).
        guard !label.contains("2022-cn"), !label.contains("2022cn") else { return nil }
        codecs = (Self.codecs[label].map { [$0] } ?? []) + [label]
    }

    private static let utf8Labels: Set = ["utf-8", "utf8", "unicode-1-1-utf-8", "x-unicode20utf8"]
    private static let western = "CP1252"

    /// The converter's names for labels that stand for a superset of the encoding that they name.
    /// Source: https://encoding.spec.whatwg.org/#names-and-labels
    private static let codecs: [String: String] = [
        "ascii": western, "us-ascii": western, "iso-8859-1": western, "iso8859-1": western, "iso_8859-1": western,
        "latin1": western, "l1": western, "windows-1252": western, "cp1252": western, "x-cp1252": western,
        "iso-8859-9": "CP1254", "iso8859-9": "CP1254", "latin5": "CP1254", "iso-8859-11": "CP874", "tis-620": "CP874",
        "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932", "x-sjis": "CP932", "ms_kanji": "CP932",
        "windows-31j": "CP932", "euc-jp": "EUC-JP-MS", "x-euc-jp": "EUC-JP-MS", "euc-kr": "CP949", "korean": "CP949",
        "ks_c_5601-1987": "CP949", "gbk": "GB18030", "x-gbk": "GB18030", "gb2312": "GB18030", "chinese": "GB18030",
        "gb_2312-80": "GB18030", "big5": "BIG5-HKSCS", "cn-big5": "BIG5-HKSCS", "x-x-big5": "BIG5-HKSCS",
        "utf-16": "UTF-16LE", "utf-16le": "UTF-16LE", "utf-16be": "UTF-16BE",
    ]

    /// The byte order mark of UTF-8.
    static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private var isWestern: Bool { codecs[0] == Self.western }

    /// The byte order mark with which a text may begin; empty if the encoding has none.
    var byteOrderMark: [UInt8] {
        switch codecs[0] {
        case "UTF-16LE": [0xFF, 0xFE]
        case "UTF-16BE": [0xFE, 0xFF]
        default: []
        }
    }

    /// Whether ASCII text has the same bytes in this encoding as in UTF-8; also for an encoding that the system doesn't
    /// know.
    var extendsASCII: Bool {
        if isWestern { return true }
        let ascii = Array(UInt8(ascii: " ")...UInt8(ascii: "~"))
        return converted(ascii, toText: false).map { $0 == ascii } ?? true
    }

    /// Encodes a text; returns `nil` if the encoding lacks one of its characters, or if the system doesn't know the
    /// encoding.
    func encoded(_ text: String) -> Data? {
        guard isWestern else { return converted(Array(text.utf8), toText: false).map { Data($0) } }
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            // A byte that the encoding leaves undefined stands for the character of the same number.
            if let byte = UInt8(exactly: scalar.value) {
                bytes.append(byte)
            } else if let byte = Self.westernBytes[scalar] {
                bytes.append(byte)
            } else {
                return nil
            }
        }
        return Data(bytes)
    }

    /// Decodes bytes to text without a byte order mark; returns `nil` if they aren't valid, or if the system doesn't
    /// know the encoding.
    func text(of data: Data) -> String? {
        if isWestern {
            var text = String.UnicodeScalarView()
            for byte in data { text.append(Self.westernScalars[byte] ?? Unicode.Scalar(byte)) }
            return String(text)
        }
        var (charset, bytes) = (self, Array(data))
        if codecs.last == "utf-16", bytes.starts(with: [0xFE, 0xFF]), let other = Charset(label: "utf-16be") {
            charset = other
        }
        if !charset.byteOrderMark.isEmpty, bytes.starts(with: charset.byteOrderMark) { bytes.removeFirst(2) }
        return charset.converted(bytes, toText: true).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The characters for the bytes 0x80 to 0x9F, in which windows-1252 and ISO 8859-1 differ.
    private static let westernScalars: [UInt8: Unicode.Scalar] = {
        guard let charset = Charset(label: "windows-1252") else { return [:] }
        var scalars: [UInt8: Unicode.Scalar] = [:]
        for byte in UInt8(0x80)...0x9F {
            let text = charset.converted([byte], toText: true).flatMap { String(validating: $0, as: UTF8.self) }
            scalars[byte] = text?.unicodeScalars.first
        }
        return scalars
    }()
    private static let westernBytes = Dictionary(westernScalars.map { ($0.value, $0.key) }) { first, _ in first }
}

extension Charset {
    #if canImport(Glibc) || canImport(Musl)
        /// Converts text from or to UTF-8; returns `nil` if the bytes aren't valid, or if the system has no such
        /// converter.
        private func converted(_ bytes: [UInt8], toText: Bool) -> [UInt8]? {
            for codec in codecs {
                guard let converter = toText ? iconv_open("UTF-8", codec) : iconv_open(codec, "UTF-8"),
                    Int(bitPattern: converter) != -1
                else { continue }
                defer { iconv_close(converter) }
                return Self.run(converter, bytes)
            }
            return nil
        }

        private static func run(_ converter: iconv_t, _ bytes: [UInt8]) -> [UInt8]? {
            var input = bytes.map { CChar(bitPattern: $0) }
            var room = [CChar](repeating: 0, count: 4096)
            var output: [UInt8] = []
            // The pointers are valid only during this call, which is enough because iconv doesn't store them.
            return input.withUnsafeMutableBufferPointer { input in
                var (next, left) = (input.baseAddress, input.count)
                // A final call without input makes the converter write its closing state (ISO-2022-JP).
                var isLast = left == 0
                while true {
                    let (result, code, count) = room.withUnsafeMutableBufferPointer { room in
                        var (end, space) = (room.baseAddress, room.count)
                        let result =
                            isLast
                            ? iconv(converter, nil, nil, &end, &space) : iconv(converter, &next, &left, &end, &space)
                        return (result, errno, room.count - space)
                    }
                    output += room[..<count].lazy.map { UInt8(bitPattern: $0) }
                    if result == -1 {
                        guard code == E2BIG else { return nil }
                    } else if isLast {
                        return output
                    } else {
                        isLast = true
                    }
                }
            }
        }
    #else
        /// Converts text from or to UTF-8; returns `nil` if the bytes aren't valid, or if the system has no such
        /// converter.
        private func converted(_ bytes: [UInt8], toText: Bool) -> [UInt8]? {
            for codec in codecs {
                let known = CFStringConvertIANACharSetNameToEncoding(codec as CFString)
                guard known != kCFStringEncodingInvalidId else { continue }
                let encoding = String.Encoding(rawValue: CFStringConvertEncodingToNSStringEncoding(known))
                let text = toText ? String(bytes: bytes, encoding: encoding) : String(bytes: bytes, encoding: .utf8)
                return text?.data(using: toText ? .utf8 : encoding).map { Array($0) }
            }
            return nil
        }
    #endif
}

extension Charset {
    /// Returns the original bytes of a file in which a recorder stored text as UTF-8.
    ///
    /// - Returns: `nil` if the recorder stored the bytes unchanged, as Playwright does if it cannot decode them.
    func bytes(ofFile data: Data) -> Data? {
        let mayBeText = extendsASCII ? data.contains { $0 >= 0x80 } : !data.contains { $0 == 0 || $0 == 0x1B }
        guard mayBeText, let text = String(validating: data, as: UTF8.self) else { return nil }
        return encoded(text)
    }
}

extension Charset? {
    /// Encodes a text; uses UTF-8 if there is no encoding, or if it lacks a character.
    func bytes(of text: String) -> Data { self?.encoded(text) ?? Data(text.utf8) }
}

// MARK: - Messages

extension Charset {
    /// Reads the encoding of a message's body from its fields, or else from the media type that an archive states
    /// beside the body.
    init?(_ fields: [LogEntry.Field], mediaType: String) {
        let stated = fields.first { $0.isCalled("content-type") }?.value ?? ""
        if let charset = Charset(contentType: stated) {
            self = charset
        } else if stated != mediaType, MediaType(stated)?.parameters["charset"] == nil,
            let charset = Charset(contentType: mediaType)
        {
            self = charset
        } else {
            return nil
        }
    }
}

extension LogEntry.Request {
    /// The encoding of the body; `nil` for UTF-8, or if the encoding isn't stated.
    var charset: Charset? { body.flatMap { Charset(fields, mediaType: $0.mediaType) } }
}

extension LogEntry.Response {
    /// The encoding of the body; `nil` for UTF-8, or if the encoding isn't stated.
    var charset: Charset? { Charset(fields, mediaType: body.mediaType) }
}

extension Data {
    /// Converts text in an encoding to UTF-8 without a byte order mark; returns bytes that aren't valid text in it
    /// unchanged.
    func utf8(from charset: Charset?) -> Data {
        let text = charset?.text(of: self).map { Data($0.utf8) } ?? self
        return text.starts(with: Charset.utf8Mark) ? Data(text.dropFirst(Charset.utf8Mark.count)) : text
    }
}
