import BeagleNetHTTP

/// What stands in a recording for a secret, and matches any.
enum Placeholder {
    /// Whether a value is what was recorded, each placeholder of which stands for any text.
    static func matches(_ recorded: String, _ value: String) -> Bool {
        if recorded.utf8.elementsEqual(value.utf8) { return true }
        let parts = recorded.split(separator: Redactor.placeholder, omittingEmptySubsequences: false).enumerated()
            .map { $0 == 0 ? Array($1.utf8)[...] : withoutDigest(Array($1.utf8)[...]) }
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return false }
        var rest = Array(value.utf8)[...]
        guard rest.count >= first.count + last.count, rest.starts(with: first),
            rest.suffix(last.count).elementsEqual(last)
        else { return false }
        rest = rest.dropFirst(first.count).dropLast(last.count)
        // What is found first leaves the most for what follows.
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    /// The text without the `:h:` and twelve digits that a keyed digest has behind the word.
    private static func withoutDigest(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        text.starts(with: ":h:".utf8) ? text.dropFirst(15) : text
    }
}
