import BeagleNetHTTP

/// Short texts that were looked at and had nothing secret: requests of an app mostly say the same. Used by the writer of a
/// log alone.
final class HarmlessTexts {
    /// As what a text was looked at.
    enum Sort {
        case url, text, field
    }

    private struct Text {
        let sort: Sort
        /// The field's, where it is the value of one.
        let name: String
        let value: String

        func isThis(_ sort: Sort, _ name: String, _ value: String) -> Bool {
            // Those are equal, too, that are written with other bytes; of ASCII no others with as many.
            self.sort == sort && self.value.utf8.count == value.utf8.count && self.name.utf8.count == name.utf8.count
                && self.value == value && self.name == name
        }
    }

    private static let count = 256
    /// Longer ones hardly come twice.
    private static let maxBytes = 256

    private var redactor = Redactor()
    private var texts = [Text?](repeating: nil, count: count)

    /// What is secret is told by this one from now on.
    func use(_ redactor: Redactor) {
        if redactor == self.redactor { return }
        self.redactor = redactor
        texts = Array(repeating: nil, count: Self.count)
    }

    /// Whether this text is one that was noted.
    func contain(_ value: String, _ sort: Sort, name: String = "") -> Bool {
        let place = place(of: name, value)
        return texts[place]?.isThis(sort, name, value) == true || texts[place + 1]?.isThis(sort, name, value) == true
    }

    /// Notes one. What was in its place is behind it then: two that have the same would take turns at every message.
    func insert(_ value: String, _ sort: Sort, name: String = "") {
        guard name.utf8.count + value.utf8.count <= Self.maxBytes,
            [name, value].allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } })
        else { return }
        let place = place(of: name, value)
        texts[place + 1] = texts[place]
        texts[place] = Text(sort: sort, name: name, value: value)
    }

    /// The first of two places, by lengths and a few bytes: that two share it costs no more than a look.
    private func place(of name: String, _ value: String) -> Int {
        (ends(of: name) &* 31 &+ ends(of: value)) & (Self.count / 2 - 1) &* 2
    }

    private func ends(of text: String) -> Int {
        let ends = text.utf8.withContiguousStorageIfAvailable { bytes in
            Int(bytes.first ?? 0) &+ Int(bytes.last ?? 0) &* 3 &+ bytes.count &* 17
        }
        return ends ?? text.utf8.count
    }
}
