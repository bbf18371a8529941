/// A parser for the text of an `Recording.Filter`.
struct FilterParser {
    /// A syntax error.
    struct Fault: Error, Hashable {
        /// The column in characters, starting at 1.
        let column: Int
        let reason: String
        var advice: String?
    }

    private enum Operation: String, CaseIterable {
        // In the order in which they are tried: longer ones first.
        case equal = "==", unequal = "!=", greaterOrEqual = ">=", lessOrEqual = "<=", greater = ">", less = "<"
        case like = "~"
    }

    /// The maximum depth of nested parentheses and `!`.
    private static let depthLimit = 64

    private let text: [Unicode.Scalar]
    private var place = 0
    private var depth = 0

    static func condition(in text: String) throws(Fault) -> Condition {
        var parser = FilterParser(text: Array(text.unicodeScalars))
        let condition = try parser.alternatives()
        if let next = parser.next {
            throw parser.fault(next == ")" ? "unexpected ')'" : "expected '&&', '||' or the end")
        }
        return condition
    }

    private init(text: [Unicode.Scalar]) {
        self.text = text
    }

    // MARK: - Terms

    private mutating func alternatives() throws(Fault) -> Condition {
        var conditions = [try conjunction()]
        while take("||") || take("|") { conditions.append(try conjunction()) }
        return conditions.count == 1 ? conditions[0] : .any(conditions)
    }

    private mutating func conjunction() throws(Fault) -> Condition {
        var conditions = [try term()]
        while true {
            let isJoined = take("&&") || take("&")
            guard isJoined || next.map({ $0 != ")" && $0 != "|" }) ?? false else { break }
            conditions.append(try term())
        }
        return conditions.count == 1 ? conditions[0] : .all(conditions)
    }

    private mutating func term() throws(Fault) -> Condition {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw fault("nested deeper than \(Self.depthLimit) levels") }
        if take("!") { return .not(try term()) }
        if take("(") {
            let condition = try alternatives()
            guard take(")") else { throw fault("expected ')'") }
            return condition
        }
        return take("~") ? try shortTest() : try test()
    }

    // MARK: - Tests

    private mutating func test() throws(Fault) -> Condition {
        let field = try field()
        skipBlanks()
        guard let operation = Operation.allCases.first(where: { take($0.rawValue) }) else { return .has(field) }
        if field.isNumber { return try numberTest(field, operation) }
        let value = try value()
        switch operation {
        case .like: return .matches(field, Glob(value, isAnywhere: field == .body))
        case .equal: return .equals(field, field == .kind ? Self.kind(value) : value)
        case .unequal: return .not(.equals(field, field == .kind ? Self.kind(value) : value))
        case .greater, .greaterOrEqual, .less, .lessOrEqual:
            throw fault("text can be compared only with '==', '!=' and '~'")
        }
    }

    private mutating func numberTest(_ field: FilterField, _ operation: Operation) throws(Fault) -> Condition {
        let comparison: Condition.Comparison
        switch operation {
        case .equal, .unequal: comparison = .equal
        case .greater: comparison = .greater
        case .greaterOrEqual: comparison = .greaterOrEqual
        case .less: comparison = .less
        case .lessOrEqual: comparison = .lessOrEqual
        case .like: throw fault("numbers can be compared only with '==', '!=', '>', '>=', '<' and '<='")
        }
        skipBlanks()
        let start = place
        let word = try value().lowercased()
        var condition = Condition.compares(field, comparison, 0)
        if field == .status, comparison == .equal, let hundred = Self.hundred(word) {
            condition = .status(hundred: hundred)
        } else if let number = Self.number(word, of: field) {
            condition = .compares(field, comparison, number)
        } else {
            throw Fault(column: start + 1, reason: Self.wanted(field))
        }
        return operation == .unequal ? .not(condition) : condition
    }

    /// Parses one of mitmproxy's single-letter filters.
    private mutating func shortTest() throws(Fault) -> Condition {
        let start = place
        let letter = word { $0.properties.isAlphabetic }
        switch letter {
        case "e": return .has(.error)
        case "c": return try numberTest(.status, .equal)
        case "u": return .matches(.url, Glob(try value()))
        case "d": return .matches(.host, Glob(try value()))
        case "m": return .matches(.method, Glob(try value()))
        case "t": return .matches(.header("Content-Type"), Glob(try value()))
        case "b": return .matches(.body, Glob(try value(), isAnywhere: true))
        default: throw Fault(column: start + 1, reason: "expected ~u, ~d, ~m, ~c, ~t, ~b or ~e")
        }
    }

    private mutating func field() throws(Fault) -> FilterField {
        skipBlanks()
        let start = place
        let name = word { $0.properties.isAlphabetic }
        if name == "header" {
            guard take("(") else { throw fault("expected '(' and a header name") }
            let header = word { $0 != ")" && $0 != " " }
            guard !header.isEmpty, take(")") else { throw fault("expected a header name and ')'") }
            return .header(header)
        }
        if let field = Self.fields[name] { return field }
        throw Fault(
            column: start + 1,
            reason: name.isEmpty ? "expected a field" : "'\(name)' is not a field",
            advice: "use one of \(Self.fields.keys.sorted().joined(separator: ", ")) and header(Name)"
        )
    }

    // MARK: - Values

    private mutating func value() throws(Fault) -> String {
        skipBlanks()
        if let quote = next, quote == "\"" || quote == "'" { return try quoted(quote) }
        let word = word { !" \t\n\r\"'()&|".unicodeScalars.contains($0) }
        guard !word.isEmpty else { throw fault("expected a value, in quotes if it is empty") }
        return word
    }

    private mutating func quoted(_ quote: Unicode.Scalar) throws(Fault) -> String {
        let start = place
        place += 1
        var value = String.UnicodeScalarView()
        while place < text.count, text[place] != quote {
            // Other escapes belong to the pattern.
            let isEscape = text[place] == "\\" && place + 1 < text.count && text[place + 1] == quote
            if isEscape { place += 1 }
            value.append(text[place])
            place += 1
        }
        guard place < text.count else { throw Fault(column: start + 1, reason: "this quote is not closed") }
        place += 1
        return String(value)
    }

    private static let fields: [String: FilterField] = [
        "type": .kind, "kind": .kind, "method": .method, "host": .host, "path": .path, "url": .url, "status": .status,
        "time": .time, "size": .size, "error": .error, "operation": .operation, "id": .id, "body": .body,
    ]

    /// Returns the kind of operation for a request type.
    private static func kind(_ name: String) -> String {
        switch name.lowercased() {
        case "fetchcomponent": "component"
        case "fetchimage": "image"
        case "submitform": "form"
        case "rawrequest": "raw"
        default: name
        }
    }

    private static func hundred(_ word: String) -> Int? {
        word.utf8.count == 3 && word.hasSuffix("xx") ? Int(word.prefix(1)) : nil
    }

    private static func number(_ word: String, of field: FilterField) -> Double? {
        let digits = word.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = Double(digits), let factor = factors(field)[String(word[digits.endIndex...])] else {
            return nil
        }
        return number * factor
    }

    private static func factors(_ field: FilterField) -> [String: Double] {
        let (kilo, mega, giga) = (1024.0, 1024.0 * 1024, 1024.0 * 1024 * 1024)
        return switch field {
        case .time: ["": 1, "us": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3, "m": 60e3]
        case .size: ["": 1, "b": 1, "k": kilo, "kb": kilo, "m": mega, "mb": mega, "g": giga, "gb": giga]
        default: ["": 1]
        }
    }

    private static func wanted(_ field: FilterField) -> String {
        switch field {
        case .time: "expected a time, such as 500ms or 1.5s"
        case .size: "expected a size, such as 500, 10k or 2M"
        default: "expected a status, such as 404, or 4xx with '==' and '!='"
        }
    }

    // MARK: - Characters

    private func fault(_ reason: String) -> Fault { Fault(column: place + 1, reason: reason) }

    private var next: Unicode.Scalar? {
        text[place...].first { !$0.properties.isWhitespace }
    }

    private mutating func skipBlanks() {
        while place < text.count, text[place].properties.isWhitespace { place += 1 }
    }

    private mutating func take(_ mark: String) -> Bool {
        skipBlanks()
        let mark = Array(mark.unicodeScalars)
        guard text[place...].starts(with: mark) else { return false }
        place += mark.count
        return true
    }

    private mutating func word(_ isPart: (Unicode.Scalar) -> Bool) -> String {
        var word = String.UnicodeScalarView()
        word.append(contentsOf: text[place...].prefix(while: isPart))
        place += word.count
        return String(word)
    }
}
