import BeagleNetHTTP

/// A JSON pointer (RFC 6901), such as `/children/0/text`.
struct JSONPointer: Sendable, Hashable {
    /// The names and indexes on the way, without escapes.
    let tokens: [String]

    init(tokens: [String]) {
        self.tokens = tokens
    }

    /// Reads a pointer; `nil` if it is malformed.
    init?(_ text: String) {
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.unicodeScalars.first == "/" else { return nil }
        var tokens: [String] = []
        // By scalars: a character may consist of a separator and a mark that combines with it.
        let parts = text.unicodeScalars.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for part in parts {
            var token = ""
            var rest = part[...]
            while let scalar = rest.popFirst() {
                guard scalar == "~" else {
                    token.unicodeScalars.append(scalar)
                    continue
                }
                switch rest.popFirst() {
                case "0": token.append("~")
                case "1": token.append("/")
                default: return nil
                }
            }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    /// A name or index as a part of a pointer's text (RFC 6901, 3).
    static func escaped(_ token: String) -> String {
        var text = ""
        for scalar in token.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Whether a place is this one or inside of it.
    func contains(_ other: JSONPointer) -> Bool { other.tokens.starts(with: tokens) }
}

extension JSONValue {
    /// The value at a place, or `nil` if there is no such place.
    func value(at pointer: JSONPointer) -> JSONValue? {
        var value = self
        for token in pointer.tokens {
            switch value {
            case .object(let members):
                guard let member = members[token] else { return nil }
                value = member
            case .array(let elements):
                guard let index = Self.index(token, below: elements.count) else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }

    /// Changes the object or array that has the last token of a place.
    ///
    /// - Returns: Whether there is one, and `change` accepted it.
    mutating func changeContainer(
        of tokens: ArraySlice<String>,
        _ change: (inout JSONValue, _ last: String) -> Bool
    ) -> Bool {
        guard let token = tokens.first else { return false }
        if tokens.count == 1 { return change(&self, token) }
        switch self {
        case .object(var members):
            guard var member = members.removeValue(forKey: token) else { return false }
            guard member.changeContainer(of: tokens.dropFirst(), change) else { return false }
            members[token] = member
            self = .object(members)
        case .array(var elements):
            guard let index = Self.index(token, below: elements.count) else { return false }
            var element = elements[index]
            guard element.changeContainer(of: tokens.dropFirst(), change) else { return false }
            elements[index] = element
            self = .array(elements)
        default: return false
        }
        return true
    }

    /// The index that a token names: digits without a leading zero (RFC 6901, 4).
    static func index(_ token: String, below count: Int) -> Int? {
        guard let index = Int(digits: token[...]), index < count, token == "\(index)" else { return nil }
        return index
    }
}
