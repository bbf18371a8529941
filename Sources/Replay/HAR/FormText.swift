import BeagleNetHTTP
import BeagleNetRequestBuilder

/// An encoder for form fields as `application/x-www-form-urlencoded`, and for query items.
///
/// Some archives contain encoded values, others plain ones, so existing percent-encoding is preserved.
enum FormText {
    /// Returns the body of a form; `nil` if the form has another media type, or files.
    static func body(_ parameters: [LogEntry.Parameter], mediaType: String) -> String? {
        guard MediaType(mediaType)?.essence != "multipart/form-data", parameters.allSatisfy({ $0.fileName == nil })
        else {
            return nil
        }
        return parameters.map { pair($0.name, $0.value) }.joined(separator: "&")
    }

    static func pair(_ name: String, _ value: String?) -> String { "\(encoded(name))=\(encoded(value ?? ""))" }

    /// Encodes a name and a value literally, even if they look percent-encoded.
    static func literalPair(_ name: String, _ value: String) -> String {
        "\(encoded(name, isLiteral: true))=\(encoded(value, isLiteral: true))"
    }

    /// Decodes fields. If any field of an archive is percent-encoded, all of them are assumed to be.
    static func decoded(_ fields: [LogEntry.Parameter]) -> [LogEntry.Parameter] {
        let texts = fields.flatMap { [$0.name, $0.value ?? ""] }
        guard texts.contains(where: { SecretNames.decoded($0[...]) != $0 }) else { return fields }
        return fields.map { field in
            var field = field
            guard let item = QueryItems.items(pair(field.name, field.value)[...]).first else { return field }
            field.name = item.name
            field.value = field.value == nil ? nil : item.value
            return field
        }
    }

    private static func encoded(_ text: String, isLiteral: Bool = false) -> String {
        let bytes = Array(text.utf8)
        var encoded: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let stays = byte.isUnreserved || "+:".utf8.contains(byte) || bytes[index...].isEscape
            if isLiteral ? byte.isUnreserved : stays {
                encoded.append(byte)
            } else {
                encoded += (byte < 0x10 ? "%0" : "%").utf8
                encoded += String(byte, radix: 16, uppercase: true).utf8
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension ArraySlice<UInt8> {
    /// Whether the bytes begin with a percent sign and two hexadecimal digits.
    fileprivate var isEscape: Bool {
        guard first == UInt8(ascii: "%") else { return false }
        let digits = dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }
    }
}
