import BeagleNetHTTP

/// An entity tag (RFC 9110, 8.8.3).
package struct EntityTag: Sendable, Hashable {
    /// Whether a byte-for-byte identical body isn't guaranteed.
    package let isWeak: Bool
    /// The tag between its quotes.
    package let opaque: String

    /// Reads `"abc"` or `W/"abc"`; `nil` if the text is neither.
    package init?(_ text: String) {
        let rest = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        guard rest.utf8.count >= 2, rest.first == "\"", rest.last == "\"" else { return nil }
        let tag = rest.dropFirst().dropLast()
        guard !tag.contains("\"") else { return nil }
        isWeak = rest.startIndex != text.startIndex
        opaque = String(tag)
    }

    /// The tags of a list such as `If-None-Match`. Elements that aren't tags are left out.
    package static func list(_ text: String) -> [EntityTag] {
        var tags: [EntityTag] = []
        var rest = text[...]
        while let quote = rest.firstIndex(of: "\"") {
            guard let end = rest[rest.index(after: quote)...].firstIndex(of: "\"") else { break }
            let isWeak = rest[..<quote].hasSuffix("W/")
            tags.append(EntityTag(isWeak: isWeak, opaque: String(rest[rest.index(after: quote)..<end])))
            rest = rest[rest.index(after: end)...]
        }
        return tags
    }

    private init(isWeak: Bool, opaque: String) {
        self.isWeak = isWeak
        self.opaque = opaque
    }

    /// Whether both tags name the same content, if perhaps not the same bytes (weak comparison, RFC 9110, 8.8.3.2).
    package func matches(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// Whether both tags name the same bytes (strong comparison).
    package func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && self == other }

    /// The tag as a field has it.
    package var text: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }
}
