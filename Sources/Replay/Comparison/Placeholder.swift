import BeagleNetHTTP

/// A namespace for matching recorded values with placeholders for secrets.
enum Placeholder {
    /// Returns whether a value matches a recorded one, in which each placeholder stands for any text.
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
        // The earliest match leaves the most text for the remaining parts.
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    /// Returns the text without the `:h:` and twelve digits of a keyed digest, which may follow a placeholder.
    private static func withoutDigest(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        text.starts(with: ":h:".utf8) ? text.dropFirst(15) : text
    }
}
