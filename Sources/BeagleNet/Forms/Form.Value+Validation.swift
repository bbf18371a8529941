extension Form.Value {
    /// The values of a list, also of a nested one, or else this value.
    var elements: [Form.Value] {
        if case .list(let values) = self { return values.flatMap(\.elements) }
        return [self]
    }

    /// The value as the user sees it, or `nil` if it is a file or a list.
    var shownText: String? {
        switch self {
        case .empty: ""
        case .text(let text): text
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .list, .file: nil
        }
    }

    /// The number, also of a text that is a floating-point number in HTML, or `nil` if the value isn't a finite number.
    var finiteNumber: Double? {
        switch self {
        case .integer(let value): return Double(value)
        case .number(let value): return value.isFinite ? value : nil
        case .text(let text):
            guard Self.isNumber(text), let value = Double(text), value.isFinite else { return nil }
            return value
        case .empty, .bool, .list, .file: return nil
        }
    }

    /// Returns whether a text is a valid floating-point number (HTML Standard, 2.3.4.3): no plus sign, no hexadecimal
    /// digits, no space, and a digit after the point.
    private static func isNumber(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        func skip(_ byte: UInt8...) -> Bool {
            guard let first = rest.first, byte.contains(first) else { return false }
            rest.removeFirst()
            return true
        }
        func skipDigits() -> Bool {
            let count = rest.prefix { $0 &- 0x30 < 10 }.count
            rest.removeFirst(count)
            return count > 0
        }
        _ = skip(UInt8(ascii: "-"))
        let hasDigits = skipDigits()
        if skip(UInt8(ascii: ".")) { guard skipDigits() else { return false } } else if !hasDigits { return false }
        if skip(UInt8(ascii: "e"), UInt8(ascii: "E")) {
            _ = skip(UInt8(ascii: "-"), UInt8(ascii: "+"))
            guard skipDigits() else { return false }
        }
        return rest.isEmpty
    }
}
