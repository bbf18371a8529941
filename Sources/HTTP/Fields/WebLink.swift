/// A link in a `Link` field (RFC 8288, 3).
package struct WebLink: Sendable, Hashable {
    /// The URL or relative reference.
    package let target: String
    /// The parameters by their lowercase names, without quotes. One without a value is empty, and the first of a name
    /// counts (3.3).
    package let parameters: [String: String]

    /// Reads the links of a field. A malformed link ends the list.
    package static func parsing(_ field: String) -> [WebLink] {
        var reader = FieldReader(field)
        var links: [WebLink] = []
        while true {
            reader.skipSpace(and: ",")
            guard let link = WebLink(&reader) else { return links }
            links.append(link)
        }
    }

    private init?(_ reader: inout FieldReader) {
        guard reader.skip("<") else { return nil }
        target = reader.text(until: ">")
        guard reader.skip(">") else { return nil }
        var parameters: [String: String] = [:]
        reader.skipSpace()
        while reader.skip(";") {
            reader.skipSpace()
            let name = reader.token().lowercased()
            reader.skipSpace()
            guard let value = reader.skip("=") ? reader.parameterValue() : "" else { return nil }
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
            reader.skipSpace()
        }
        guard reader.next == nil || reader.next == UInt8(ascii: ",") else { return nil }
        self.parameters = parameters
    }

    /// Whether the link names an image that the response needs, and that can be loaded without knowledge of the screen's
    /// size. Links of another context (3.2) and those for a medium don't count.
    package var isImagePreload: Bool {
        let relations = (parameters["rel"] ?? "").lowercased().split(separator: " ")
        return relations.contains("preload") && parameters["as"]?.lowercased() == "image"
            && parameters["anchor"] == nil && parameters["media"] == nil
    }
}

extension FieldReader {
    fileprivate mutating func text(until ends: String) -> String {
        var text: [UInt8] = []
        skip { byte in
            if ends.utf8.contains(byte) { return false }
            text.append(byte)
            return true
        }
        return String(opaque: text)
    }

    /// Reads a quoted string, or the bytes before the next delimiter: servers send `type=image/png` without quotes.
    fileprivate mutating func parameterValue() -> String? {
        skipSpace()
        return next == UInt8(ascii: "\"") ? value() : text(until: ";, \t")
    }
}
