import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The text of a body in an archive, from which the original bytes are reconstructed.
///
/// HAR 1.2 stores text in UTF-8 regardless of the body's encoding, so the text has to be encoded again. Some recorders
/// write one character for each byte of a body that isn't text (Firefox), or of every body (mitmproxy). Others replace
/// the bytes that they cannot decode, so those are lost (Chromium). The number of bytes that the message announced
/// tells these cases apart.
struct ArchivedText {
    let text: String
    /// The encoding of the body; `nil` for UTF-8, or if the encoding isn't stated.
    let charset: Charset?
    let mediaType: String
    /// The number of bytes in `Content-Length`; `nil` if the field is missing, or if it counts content-coded bytes.
    let announcedLength: Int64?
    /// Other numbers in the archive that may be the size of the body, in bytes.
    let statedSizes: [Int64]
    /// Whether the recorder counted as many bytes as were announced.
    let isComplete: Bool
    /// Whether the body belongs to a request. Because it may be sent again, text without a known size counts as damaged
    /// if it has replacement characters.
    let isRequest: Bool

    /// The bytes, or the reason why they are unknown.
    var content: LogEntry.Body.Content {
        let plain = Data(text.utf8)
        let isASCII = plain.allSatisfy { $0 < 0x80 }
        if isASCII, charset?.extendsASCII != false { return .data(marked(plain)) }
        let encoded = charset?.encoded(text)
        let usual = encoded ?? plain
        if let announcedLength, usual.count == announcedLength { return .data(usual) }
        if let bytes = onePerCharacter, isCounted(bytes) || (isBinary && !isCounted(plain)) { return .data(bytes) }
        if let announcedLength, plain.count == announcedLength { return .data(plain) }
        if isDamaged(plain, isEncoded: charset == nil || encoded != nil) {
            return .omitted("the recorder replaced bytes that it could not decode")
        }
        return .data(marked(usual))
    }

    /// Returns the bytes with the byte order mark, which browsers leave out, if the announced size includes one.
    private func marked(_ bytes: Data) -> Data {
        let mark = charset.map(\.byteOrderMark) ?? Charset.utf8Mark
        let hasMark = isComplete && !mark.isEmpty && announcedLength == Int64(bytes.count + mark.count)
        return hasMark ? Data(mark) + bytes : bytes
    }

    /// The bytes if each character stands for one; `nil` if a character doesn't fit into a byte.
    private var onePerCharacter: Data? {
        var bytes = Data(capacity: text.utf8.count)
        for scalar in text.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private func isCounted(_ bytes: Data) -> Bool {
        announcedLength == Int64(bytes.count) || (announcedLength == nil && statedSizes.contains(Int64(bytes.count)))
    }

    private var isBinary: Bool {
        MediaType(mediaType)?.essence == "application/octet-stream" || Redactor.isBinary(contentType: mediaType)
    }

    /// Returns whether the text has replacement characters in place of other bytes.
    private func isDamaged(_ plain: Data, isEncoded: Bool) -> Bool {
        guard plain.firstRange(of: Data("\u{FFFD}".utf8)) != nil else { return false }
        if announcedLength != nil || !isEncoded { return true }
        return statedSizes.isEmpty ? isRequest : !statedSizes.contains(Int64(plain.count))
    }
}
