/// What a body is, as `Content-Type` says it: `text/event-stream; charset=utf-8` (RFC 9110, 8.3.1).
public struct MediaType: Sendable, Hashable {
    /// Type and subtype without parameters, in lower case: `text/event-stream`.
    public let essence: String
    /// The parameters by their names in lower case; of two with the same name the first. Quotes are taken off.
    public let parameters: [String: String]

    /// Reads the value of a `Content-Type` field; nil where it names no type. A parameter without a value is passed over.
    public init?(_ text: String) {
        var rest = text.unicodeScalars[...]
        let essence = rest.take { $0 != ";" }.trimmed.lowercased()
        guard
            essence.split(separator: "/", omittingEmptySubsequences: false).map({ HTTPField.Name(String($0)) != nil })
                == [true, true]
        else { return nil }
        var parameters: [String: String] = [:]
        while rest.popFirst() != nil {
            let name = rest.take { $0 != ";" && $0 != "=" }.trimmed.lowercased()
            guard rest.first == "=" else { continue }
            rest.removeFirst()
            _ = rest.take { $0.isBlank }
            let value = rest.first == "\"" ? rest.takeQuoted() : rest.take { $0 != ";" }.trimmed
            _ = rest.take { $0 != ";" }
            if parameters[name] == nil { parameters[name] = value }
        }
        self.essence = essence
        self.parameters = parameters
    }
}

// Among scalars: a combining character after a mark makes one `Character` of the two.
extension Substring.UnicodeScalarView {
    fileprivate mutating func take(while isWanted: (Unicode.Scalar) -> Bool) -> Substring.UnicodeScalarView {
        let taken = prefix(while: isWanted)
        self = self[taken.endIndex...]
        return taken
    }

    /// Takes a quoted string, whose backslashes make the next character plain (RFC 9110, 5.6.4).
    fileprivate mutating func takeQuoted() -> String {
        removeFirst()
        var text = String.UnicodeScalarView()
        while let scalar = popFirst(), scalar != "\"" {
            text.append(scalar == "\\" ? popFirst() ?? scalar : scalar)
        }
        return String(text)
    }

    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return ""
        }
        return String(self[first...last])
    }
}

extension Unicode.Scalar {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}
