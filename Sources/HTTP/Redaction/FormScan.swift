/// A scan of the items of a query or form: percent-encoded `name=value`.
struct FormScan {
    private struct Item {
        let range: Range<Int>
        let equals: Int
        let meaning: SecretNames.Value
    }

    private let redactor: Redactor
    private let bytes: [UInt8]
    private let depth: Int
    private let sign: String
    private var items: [Item] = []
    /// The replacements, in order.
    private(set) var edits: [RedactionEdit] = []
    /// The number of items kept.
    private(set) var keptCount: Int
    /// Whether an item was found that makes a `state` next to it an OAuth secret.
    private(set) var hasSignIn: Bool

    init(
        _ redactor: Redactor,
        _ bytes: [UInt8],
        depth: Int,
        sign: String,
        keptCount: Int = 0,
        hasSignIn: Bool = false
    ) {
        self.redactor = redactor
        self.bytes = bytes
        self.depth = depth
        self.sign = sign
        self.keptCount = keptCount
        self.hasSignIn = hasSignIn
    }

    /// Returns the meaning of an item's name.
    static func meaning(_ redactor: Redactor, _ item: ArraySlice<UInt8>) -> SecretNames.Value {
        redactor.meaning(ofEncoded: item.prefix { $0 != UInt8(ascii: "=") })
    }

    /// Adds an item, without its separators.
    mutating func add(_ range: Range<Int>) {
        let equals = bytes[range].firstIndex(of: UInt8(ascii: "=")) ?? range.upperBound
        let meaning = redactor.meaning(ofEncoded: bytes[range.lowerBound..<equals])
        if meaning.contains(.signIn), equals + 1 < range.upperBound { hasSignIn = true }
        items.append(Item(range: range, equals: equals, meaning: meaning))
    }

    /// Decides about all items.
    mutating func finish() {
        for item in items { decide(item) }
        items = []
    }

    private mutating func decide(_ item: Item) {
        let value = min(item.equals + 1, item.range.upperBound)..<item.range.upperBound
        guard isSecret(item, value) else {
            keptCount += 1
            scanName(of: item)
            guard value.count >= 3 else { return }
            let isDocument = item.meaning.contains(.document)
            return edits += redactor.encodedTextEdits(
                bytes,
                value,
                rules: .values,
                depth: depth + 1,
                isDocument: isDocument
            ).map { RedactionEdit($0.range, $0.text, "\(path(item)):\($0.path)") }
        }
        guard let text = replacement(for: value) else { return keptCount += 1 }
        guard redactor.dropsItems else {
            keptCount += 1
            return edits.append(RedactionEdit(value, text, path(item)))
        }
        let range = item.range
        let dropped =
            keptCount > 0
            ? range.lowerBound - 1..<range.upperBound
            : range.lowerBound..<min(range.upperBound + 1, bytes.count)
        edits.append(RedactionEdit(dropped, "", path(item)))
    }

    /// Searches an item's name for secrets. A query may be just a token, and a document may be declared as a form by
    /// mistake.
    private mutating func scanName(of item: Item) {
        let name = item.range.lowerBound..<item.equals
        guard name.count >= TokenPrefix.minCount || !bytes[name].allSatisfy(\.isWord) else { return }
        edits += redactor.encodedTextEdits(bytes, name, rules: .values, depth: depth + 1)
            .map { RedactionEdit($0.range, $0.text, sign + $0.path) }
    }

    private func isSecret(_ item: Item, _ value: Range<Int>) -> Bool {
        if value.isEmpty { return false }
        if item.meaning.isSecret { return true }
        if item.meaning.contains(.key) { return value.count >= Redactor.minKeyLength }
        return item.meaning.contains(.state) && hasSignIn
    }

    private func replacement(for value: Range<Int>) -> String? {
        guard bytes[value].contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return redactor.replacement(for: bytes[value])
        }
        return redactor.replacement(for: DecodedText(bytes, value, .percent).bytes[...])
    }

    private func path(_ item: Item) -> String {
        let name = DecodedText(bytes, item.range.lowerBound..<item.equals, .percent).bytes
        return sign + String(decoding: redactor.redactedName(name[...], rules: .values, depth: depth), as: UTF8.self)
    }
}
