import BeagleNetHTTP

/// A binding such as `@{context.value}`, which a screen evaluates before its request is made.
enum Expression {
    /// Whether a text still holds a binding, with its braces as they are or percent-encoded.
    static func occurs(in text: String) -> Bool {
        // Nearly always there is none, and a look at bytes side by side is quick.
        if text.utf8.withContiguousStorageIfAvailable({ $0.firstPlace(of: UInt8(ascii: "@")) == nil }) == true {
            return false
        }
        var rest = text.utf8[...]
        while let at = rest.firstIndex(of: UInt8(ascii: "@")) {
            rest = rest[rest.index(after: at)...]
            if begins(rest, with: "{", "%7b") && ends(rest) { return true }
        }
        return false
    }

    private static func ends(_ text: some Collection<UInt8>) -> Bool {
        text.indices.contains { begins(text[$0...], with: "}", "%7d") }
    }

    private static func begins(_ text: some Collection<UInt8>, with brace: String, _ escape: String) -> Bool {
        text.starts(with: brace.utf8)
            || text.prefix(3).map { $0 == UInt8(ascii: "B") || $0 == UInt8(ascii: "D") ? $0 | 0x20 : $0 }
                .elementsEqual(escape.utf8)
    }
}
