import BeagleNetHTTP
import BeagleNetRequestBuilder

/// Fields of a form as `application/x-www-form-urlencoded`, and items of a query.
///
/// Some archives have values encoded and others as they were typed, so what is encoded already stays.
enum FormText {
    /// The body that such a form has; nil where the form was no such one, or had files.
    static func body(_ parameters: [LoggedParameter], mediaType: String) -> String? {
        guard MediaType(mediaType)?.essence != "multipart/form-data", parameters.allSatisfy({ $0.fileName == nil })
        else {
            return nil
        }
        return parameters.map { pair($0.name, $0.value) }.joined(separator: "&")
    }

    static func pair(_ name: String, _ value: String?) -> String { "\(encoded(name))=\(encoded(value ?? ""))" }

    /// The item of one whose name and value are as they were typed, whatever they look like.
    static func literalPair(_ name: String, _ value: String) -> String {
        "\(encoded(name, isLiteral: true))=\(encoded(value, isLiteral: true))"
    }

    /// Fields as they were typed; those of an archive that has any encoded are taken to be encoded all.
    static func decoded(_ fields: [LoggedParameter]) -> [LoggedParameter] {
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
    /// Whether it begins with a percent sign and two hexadecimal digits.
    fileprivate var isEscape: Bool {
        guard first == UInt8(ascii: "%") else { return false }
        let digits = dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }
    }
}
