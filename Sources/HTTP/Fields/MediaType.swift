/// The media type of a body, as in `Content-Type`: `text/event-stream; charset=utf-8` (RFC 9110, 8.3.1).
public struct MediaType: Sendable, Hashable {
    /// The type and subtype without parameters, in lower case: `text/event-stream`.
    public let essence: String
    /// The parameters, keyed by lowercase name and without quotes.
    ///
    /// The first parameter of a name wins.
    public let parameters: [String: String]

    /// Parses the value of a `Content-Type` field.
    ///
    /// Returns `nil` if it isn't a media type.
    ///
    /// A parameter without a value is ignored.
    public init?(_ text: String) {
        // Parse bytes, because a delimiter and a combining mark after it would be one `Character`.
        var rest = text.utf8[...]
        let type = rest.take { $0 != UInt8(ascii: ";") }.trimmed
        guard let slash = type.firstIndex(of: UInt8(ascii: "/")), type[..<slash].isToken,
            type[slash...].dropFirst().isToken
        else { return nil }
        var parameters: [String: String] = [:]
        while rest.popFirst() != nil {
            let name = Substring(rest.take { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }.trimmed).lowercased()
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest.removeFirst()
            _ = rest.take(while: \.isBlank)
            let value =
                rest.first == UInt8(ascii: "\"")
                ? rest.takeQuoted() : String(Substring(rest.take { $0 != UInt8(ascii: ";") }.trimmed))
            _ = rest.take { $0 != UInt8(ascii: ";") }
            if parameters[name] == nil { parameters[name] = value }
        }
        essence = Substring(type).lowercased()
        self.parameters = parameters
    }
}

extension Substring.UTF8View {
    fileprivate mutating func take(while isWanted: (UInt8) -> Bool) -> Substring.UTF8View {
        let taken = prefix(while: isWanted)
        self = self[taken.endIndex...]
        return taken
    }

    /// Reads a quoted string, in which a backslash escapes the next character (RFC 9110, 5.6.4).
    fileprivate mutating func takeQuoted() -> String {
        removeFirst()
        var text: [UInt8] = []
        while let byte = popFirst(), byte != UInt8(ascii: "\"") {
            text.append(byte == UInt8(ascii: "\\") ? popFirst() ?? byte : byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    fileprivate var trimmed: Substring.UTF8View {
        let start = drop(while: \.isBlank)
        guard let last = start.lastIndex(where: { !$0.isBlank }) else { return start }
        return start[...last]
    }

    fileprivate var isToken: Bool { !isEmpty && allSatisfy(FieldReader.isTokenByte) }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
