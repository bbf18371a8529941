import BeagleNetHTTP

/// A cache of short texts that contain no secrets, since most requests of an app repeat the same texts.
///
/// Used only by the log's writer.
final class CleanTextCache {
    /// The kind of text that was checked.
    enum Kind {
        case url, text, field
    }

    private struct Text {
        let kind: Kind
        /// The field's name, if the text is the value of a field.
        let name: String
        let value: String

        func matches(_ kind: Kind, _ name: String, _ value: String) -> Bool {
            // `==` also accepts canonically equivalent text. Only ASCII is cached, so equal text of the same length has
            // the same bytes.
            self.kind == kind && self.value.utf8.count == value.utf8.count && self.name.utf8.count == name.utf8.count
                && self.value == value && self.name == name
        }
    }

    private static let count = 256
    /// Longer texts rarely repeat.
    private static let maxBytes = 256

    private var redactor = Redactor()
    private var texts = [Text?](repeating: nil, count: count)

    /// Sets the redactor; a different one clears the cache.
    func use(_ redactor: Redactor) {
        if redactor == self.redactor { return }
        self.redactor = redactor
        texts = Array(repeating: nil, count: Self.count)
    }

    /// Returns whether the cache contains a text.
    func contains(_ value: String, _ kind: Kind, name: String = "") -> Bool {
        let slot = slot(of: name, value)
        return texts[slot]?.matches(kind, name, value) == true || texts[slot + 1]?.matches(kind, name, value) == true
    }

    /// Adds a text. The previous text in its place moves to the place behind it, so that two texts with the same place
    /// don't evict each other.
    func insert(_ value: String, _ kind: Kind, name: String = "") {
        guard name.utf8.count + value.utf8.count <= Self.maxBytes,
            [name, value].allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } })
        else { return }
        let slot = slot(of: name, value)
        texts[slot + 1] = texts[slot]
        texts[slot] = Text(kind: kind, name: name, value: value)
    }

    /// Returns the first of a text's two places, computed from lengths and a few bytes. A collision costs only a
    /// comparison.
    private func slot(of name: String, _ value: String) -> Int {
        (ends(of: name) &* 31 &+ ends(of: value)) & (Self.count / 2 - 1) &* 2
    }

    private func ends(of text: String) -> Int {
        let ends = text.utf8.withContiguousStorageIfAvailable { bytes in
            Int(bytes.first ?? 0) &+ Int(bytes.last ?? 0) &* 3 &+ bytes.count &* 17
        }
        return ends ?? text.utf8.count
    }
}
