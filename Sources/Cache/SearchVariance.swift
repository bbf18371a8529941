package import BeagleNetHTTP

/// The parts of a query that don't change a response: the value of `No-Vary-Search` (an IETF draft of the HTTP working
/// group).
package struct SearchVariance: Sendable, Hashable {
    /// Whether the order of parameters of different names doesn't matter.
    private var ignoresOrder = false
    /// Whether all parameters are ignored except for `names`; otherwise only `names` are.
    private var ignoresOthers = false
    private var names: Set<String> = []

    /// Reads `key-order`, `params`, `params=("a" "b")` and `except=("c")`.
    ///
    /// - Returns: `nil` if the field is missing, malformed or excludes nothing, so that the whole query counts.
    package init?(_ fields: HTTPFields) {
        guard let text = fields[.noVarySearch] else { return nil }
        var exceptions: Set<String>?
        var reader = FieldReader(text)
        while true {
            reader.skipSpace(and: ",")
            guard reader.next != nil else { break }
            let key = reader.token()
            var list: Set<String>?
            var isTrue = true
            if reader.skip("=") {
                if reader.skip("?") {
                    isTrue = reader.token() == "1"
                } else if let strings = reader.innerList() {
                    list = strings
                } else {
                    return nil
                }
            }
            reader.skipSpace()
            guard reader.next == nil || reader.next == UInt8(ascii: ",") else { return nil }
            switch key {
            case "key-order" where list == nil: ignoresOrder = isTrue
            case "params":
                if let list { names = list } else { ignoresOthers = isTrue }
            case "except":
                guard let list else { return nil }
                exceptions = list
            default: return nil
            }
        }
        if let exceptions {
            guard ignoresOthers else { return nil }
            names = exceptions
        }
        if !ignoresOrder, !ignoresOthers, names.isEmpty { return nil }
    }

    /// A target with only those parts of its query that change the response.
    package func significantPart(of target: String) -> String {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
        var items = target[mark...].dropFirst().split(separator: "&").map { item in
            (name: Self.name(of: item), item: item)
        }
        items.removeAll { names.contains($0.name) != ignoresOthers }
        if ignoresOrder {
            // Stable, since the order of values of one name counts.
            items = items.enumerated().sorted {
                ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
            }.map(\.element)
        }
        return target[..<mark] + (items.isEmpty ? "" : "?" + items.map(\.item).joined(separator: "&"))
    }

    private static func name(of item: Substring) -> String {
        let name = item.prefix { $0 != "=" }
        let spaced = name.replacing("+", with: " ")
        return PercentEncoding.decode(spaced[...]) ?? String(name)
    }
}

extension FieldReader {
    /// Returns the strings of an inner list (RFC 9651, 3.1.1), or `nil` if the text isn't one.
    fileprivate mutating func innerList() -> Set<String>? {
        guard skip("(") else { return nil }
        var strings: Set<String> = []
        while true {
            skipSpace()
            if skip(")") { return strings }
            guard next == UInt8(ascii: "\""), let text = value() else { return nil }
            strings.insert(text)
        }
    }
}
