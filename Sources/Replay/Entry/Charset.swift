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
    /// The label, in lower case.
    let label: String
    /// The converter's name for the encoding, or for a superset of it.
    private let codec: String

    /// Reads the `charset` parameter of a `Content-Type`; returns `nil` if it is missing or names UTF-8.
    init?(contentType: String) {
        let utf8 = contentType.utf8
        // Most types have no parameter, or this one.
        guard utf8.contains(UInt8(ascii: "=")), !contentType.hasSuffix("charset=utf-8"),
            let label = MediaType(contentType)?.parameters["charset"]
        else { return nil }
        self.init(label: label)
    }

    /// Creates an encoding from its label; returns `nil` for UTF-8 and for labels that browsers don't accept.
    ///
    /// - Parameter label: A label of the WHATWG Encoding standard. The converter never receives other names: they may
    ///   contain instructions, or load a rare encoding, such as ISO-2022-CN in glibc before 2.40 (CVE-2024-2961).
    init?(label: String) {
        let label = label.lowercased()
        guard let codec = Self.codecs[label] else { return nil }
        (self.label, self.codec) = (label, codec)
    }

    private static let western = "CP1252"

    /// The converter's names for the encodings of labels, or for their supersets.
    /// Source: https://encoding.spec.whatwg.org/#names-and-labels
    private static let codecs: [String: String] = {
        let table: [(codec: String, labels: String)] = [
            ("IBM866", "866 cp866 csibm866 ibm866"),
            ("ISO-8859-2", "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
            ("ISO-8859-3", "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
            ("ISO-8859-4", "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
            (
                "ISO-8859-5",
                "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
            ),
            (
                "ISO-8859-6",
                "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
                    + "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
            ),
            (
                "ISO-8859-7",
                "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 "
                    + "iso_8859-7 iso_8859-7:1987 sun_eu_greek"
            ),
            (
                "ISO-8859-8",
                "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
                    + "iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical"
            ),
            ("ISO-8859-10", "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
            ("ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"),
            ("ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"),
            ("ISO-8859-15", "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"),
            ("ISO-8859-16", "iso-8859-16"),
            ("KOI8-R", "cskoi8r koi koi8 koi8-r koi8_r"),
            ("KOI8-U", "koi8-ru koi8-u"),
            ("MACINTOSH", "csmacintosh mac macintosh x-mac-roman"),
            ("CP874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"),
            ("CP1250", "cp1250 windows-1250 x-cp1250"),
            ("CP1251", "cp1251 windows-1251 x-cp1251"),
            (
                western,
                "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
                    + "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"
            ),
            ("CP1253", "cp1253 windows-1253 x-cp1253"),
            (
                "CP1254",
                "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
                    + "windows-1254 x-cp1254"
            ),
            ("CP1255", "cp1255 windows-1255 x-cp1255"),
            ("CP1256", "cp1256 windows-1256 x-cp1256"),
            ("CP1257", "cp1257 windows-1257 x-cp1257"),
            ("CP1258", "cp1258 windows-1258 x-cp1258"),
            ("MAC-CYRILLIC", "x-mac-cyrillic x-mac-ukrainian"),
            ("GB18030", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030"),
            ("BIG5-HKSCS", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
            ("EUC-JP-MS", "cseucpkdfmtjapanese euc-jp x-euc-jp"),
            ("ISO-2022-JP", "csiso2022jp iso-2022-jp"),
            ("CP932", "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"),
            (
                "CP949",
                "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
                    + "windows-949"
            ),
            ("UTF-16BE", "unicodefffe utf-16be"),
            ("UTF-16LE", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le"),
        ]
        let labels = table.flatMap { row in row.labels.split(separator: " ").map { (String($0), row.codec) } }
        return Dictionary(labels) { first, _ in first }
    }()

    /// The byte order mark of UTF-8.
    static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private var isWestern: Bool { codec == Self.western }

    /// The byte order mark with which a text may begin; empty if the encoding has none.
    var byteOrderMark: [UInt8] {
        switch codec {
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
        if label == "utf-16", bytes.starts(with: [0xFE, 0xFF]), let other = Charset(label: "utf-16be") {
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
            for codec in [codec, label] {
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
            for codec in [codec, label] {
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
