import BeagleNetHTTP

/// A text in which expressions `@{...}` are evaluated.
///
/// The grammar is that of Beagle: a binding such as `user.photos[0].url`, a literal, or an operation such as
/// `concat(base, '/a')`. What only looks like an expression is text, and so is one whose `@` follows a backslash.
struct ScreenExpression {
    /// The maximum nesting of operations.
    private static let maxDepth = 32

    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// Whether a text contains an expression.
    static func occurs(in text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return false }
        var expression = ScreenExpression(text)
        var scope = EmptyScope()
        return expression.evaluate(in: &scope).hasExpression
    }

    /// Returns a text without an expression as the framework uses it, without the escapes.
    static func unescaped(_ text: String) -> String {
        var expression = ScreenExpression(text)
        var scope = EmptyScope()
        return expression.evaluate(in: &scope).value.text ?? text
    }

    /// Evaluates all expressions.
    ///
    /// - Returns: The value of a text that is one expression, or else the text with the values in it.
    mutating func evaluate(
        in scope: inout some ExpressionScope
    ) -> (value: ScreenValue, hasExpression: Bool) {
        var (text, hasExpression, isKnown) = ([UInt8](), false, true)
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\"), let escaped = escapedByte {
                text.append(escaped)
                index += 2
                continue
            }
            let start = index
            if byte == UInt8(ascii: "@"), let value = expression(in: &scope) {
                hasExpression = true
                if start == 0, index == bytes.count { return (value, true) }
                if let part = value.text { text += part.utf8 } else { isKnown = false }
                continue
            }
            text.append(byte)
            index = start + 1
        }
        return (isKnown ? .text(String(decoding: text, as: UTF8.self)) : .unknown, hasExpression)
    }

    /// The byte after a backslash that is an escape: of itself, or of the `@` of an expression.
    private var escapedByte: UInt8? {
        guard index + 1 < bytes.count else { return nil }
        let next = bytes[index + 1]
        let isMark = next == UInt8(ascii: "@") && index + 2 < bytes.count && bytes[index + 2] == UInt8(ascii: "{")
        return next == UInt8(ascii: "\\") || isMark ? next : nil
    }

    /// Reads `@{value}`, or returns `nil` if the text isn't one.
    private mutating func expression(in scope: inout some ExpressionScope) -> ScreenValue? {
        index += 1
        guard skip("{"), let value = value(0, &scope), skip("}") else { return nil }
        return value
    }

    private mutating func value(_ depth: Int, _ scope: inout some ExpressionScope) -> ScreenValue? {
        guard depth <= Self.maxDepth else { return nil }
        skipSpaces()
        defer { skipSpaces() }
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "'"): return text()
        case let byte where byte == UInt8(ascii: "-") || byte.isDigit: return number()
        default: break
        }
        let word = word()
        guard !word.isEmpty else { return nil }
        if index < bytes.count, bytes[index] == UInt8(ascii: "(") { return operation(word, depth, &scope) }
        guard let path = path() else { return nil }
        guard path.isEmpty else { return scope.value(of: word, at: path) }
        switch String(decoding: word, as: UTF8.self) {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: return scope.value(of: word, at: path)
        }
    }

    private mutating func operation(
        _ name: ArraySlice<UInt8>,
        _ depth: Int,
        _ scope: inout some ExpressionScope
    ) -> ScreenValue? {
        var arguments: [ScreenValue] = []
        index += 1
        skipSpaces()
        if !skip(")") {
            repeat {
                guard let argument = value(depth + 1, &scope) else { return nil }
                arguments.append(argument)
            } while skip(",")
            guard skip(")") else { return nil }
        }
        return ScreenOperation.evaluate(String(decoding: name, as: UTF8.self), arguments, in: &scope)
    }

    // MARK: - Words

    private mutating func path() -> [ExpressionStep]? {
        var path: [ExpressionStep] = []
        while index < bytes.count {
            if skip(".") {
                let name = word()
                guard !name.isEmpty else { return nil }
                path.append(.name(name))
            } else if skip("[") {
                let digits = bytes[index...].prefix(while: \.isDigit)
                guard let place = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
                index += digits.count
                guard skip("]") else { return nil }
                path.append(.index(place))
            } else {
                break
            }
        }
        return path
    }

    private mutating func number() -> ScreenValue? {
        let start = index
        if bytes[index] == UInt8(ascii: "-") { index += 1 }
        index += bytes[index...].prefix { $0.isDigit || $0 == UInt8(ascii: ".") }.count
        return Double(String(decoding: bytes[start..<index], as: UTF8.self)).map { .number($0) }
    }

    /// Reads `'text'`, in which a backslash escapes the next character.
    private mutating func text() -> ScreenValue? {
        var text: [UInt8] = []
        index += 1
        while index < bytes.count {
            var byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "'") { return .text(String(decoding: text, as: UTF8.self)) }
            if byte == UInt8(ascii: "\\"), index < bytes.count {
                byte = bytes[index]
                index += 1
            }
            text.append(byte)
        }
        return nil
    }

    private mutating func word() -> ArraySlice<UInt8> {
        let word = bytes[index...].prefix(while: \.isWord)
        index += word.count
        return word
    }

    private mutating func skipSpaces() {
        while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    }

    private mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: mark) else { return false }
        index += 1
        return true
    }
}

/// A scope without contexts.
private struct EmptyScope: ExpressionScope {
    func value(of context: ArraySlice<UInt8>, at path: [ExpressionStep]) -> ScreenValue { .unknown }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self &- 0x30 < 10 }

    fileprivate var isWord: Bool {
        self >= 0x80 || isDigit || asciiLowercased &- 0x61 < 26 || self == UInt8(ascii: "_")
            || self == UInt8(ascii: "-")
    }
}
