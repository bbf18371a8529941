import BeagleNetHTTP

/// Short texts that were looked at and had nothing secret: requests of an app mostly say the same. Used by the writer of a
/// log alone.
final class HarmlessTexts {
    /// As what a text was looked at.
    enum Sort: Equatable {
        case url, text
        /// The value of the field of this name.
        case field(String)

        fileprivate var name: String {
            switch self {
            case .url: "url"
            case .text: "text"
            case .field(let name): name
            }
        }
    }

    private struct Text: Equatable {
        let sort: Sort
        let value: String
        /// Those are equal, too, that are written with other bytes; of ASCII no others with as many.
        let byteCount: Int

        init(_ sort: Sort, _ value: String) {
            self.sort = sort
            self.value = value
            byteCount = sort.name.utf8.count + value.utf8.count
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
    func contain(_ value: String, _ sort: Sort) -> Bool {
        let (text, place) = (Text(sort, value), place(of: sort.name, value))
        return texts[place] == text || texts[place ^ 1] == text
    }

    /// Notes one. What was in its place is beside it then: two that have the same would take turns at every message.
    func insert(_ value: String, _ sort: Sort) {
        guard sort.name.utf8.count + value.utf8.count <= Self.maxBytes,
            [sort.name, value].allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } })
        else { return }
        let place = place(of: sort.name, value)
        texts[place ^ 1] = texts[place]
        texts[place] = Text(sort, value)
    }

    /// By lengths and a few bytes: that two share a place costs no more than a look.
    private func place(of name: String, _ value: String) -> Int {
        let ends = Int(name.utf8.first ?? 0) &+ Int(name.utf8.last ?? 0) &* 7 &+ Int(value.utf8.last ?? 0) &* 3
        return (ends &+ name.utf8.count &* 31 &+ value.utf8.count &* 17) & (Self.count - 1)
    }
}
