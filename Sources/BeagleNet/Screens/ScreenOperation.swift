/// The operations of expressions that need nothing but their arguments.
enum ScreenOperation {
    /// Returns the result of an operation, or `.unknown` if the operation or an argument is.
    static func evaluate(_ name: String, _ arguments: [ScreenValue]) -> ScreenValue {
        if name == "condition" { return condition(arguments) }
        if arguments.contains(.unknown) { return .unknown }
        return logic(name, arguments) ?? comparison(name, arguments) ?? text(name, arguments) ?? number(name, arguments)
            ?? .unknown
    }

    /// Only the argument that is chosen must be known.
    private static func condition(_ arguments: [ScreenValue]) -> ScreenValue {
        guard arguments.count == 3, let isTrue = arguments[0].bool else { return .unknown }
        return isTrue ? arguments[1] : arguments[2]
    }

    private static func logic(_ name: String, _ arguments: [ScreenValue]) -> ScreenValue? {
        switch name {
        case "not": arguments.count == 1 ? arguments[0].bool.map { .bool(!$0) } : nil
        case "and": bools(arguments).map { .bool($0.allSatisfy(\.self)) }
        case "or": bools(arguments).map { .bool($0.contains(true)) }
        case "isNull": arguments.count == 1 ? .bool(arguments[0] == .null) : nil
        case "isEmpty": isEmpty(arguments)
        default: nil
        }
    }

    private static func isEmpty(_ arguments: [ScreenValue]) -> ScreenValue? {
        guard arguments.count == 1 else { return nil }
        switch arguments[0] {
        case .null: return .bool(true)
        case .text(let text): return .bool(text.isEmpty)
        default: return nil
        }
    }

    private static func bools(_ arguments: [ScreenValue]) -> [Bool]? {
        let values = arguments.compactMap(\.bool)
        return values.count == arguments.count ? values : nil
    }

    private static func comparison(_ name: String, _ arguments: [ScreenValue]) -> ScreenValue? {
        guard arguments.count == 2 else { return nil }
        if name == "eq" {
            if case .container = arguments[0] { return nil }
            if case .container = arguments[1] { return nil }
            return .bool(arguments[0] == arguments[1])
        }
        guard arguments[0].isNumber, arguments[1].isNumber, let left = arguments[0].number,
            let right = arguments[1].number
        else { return nil }
        switch name {
        case "gt": return .bool(left > right)
        case "gte": return .bool(left >= right)
        case "lt": return .bool(left < right)
        case "lte": return .bool(left <= right)
        default: return nil
        }
    }

    private static func text(_ name: String, _ arguments: [ScreenValue]) -> ScreenValue? {
        let texts = arguments.compactMap(\.text)
        guard texts.count == arguments.count, let first = texts.first else { return nil }
        switch name {
        case "concat": return .text(texts.joined())
        case "uppercase" where texts.count == 1: return .text(first.uppercased())
        case "lowercase" where texts.count == 1: return .text(first.lowercased())
        case "capitalize" where texts.count == 1: return .text(first.prefix(1).uppercased() + first.dropFirst())
        case "length" where texts.count == 1: return .number(Double(first.count))
        default: return nil
        }
    }

    private static func number(_ name: String, _ arguments: [ScreenValue]) -> ScreenValue? {
        let numbers = arguments.compactMap(\.number)
        guard numbers.count == arguments.count, let first = numbers.first else { return nil }
        let rest = numbers.dropFirst()
        switch name {
        case "sum": return .number(numbers.reduce(0, +))
        case "subtract": return .number(rest.reduce(first, -))
        case "multiply": return .number(numbers.reduce(1, *))
        case "divide": return rest.contains(0) ? nil : .number(rest.reduce(first, /))
        default: return nil
        }
    }
}
