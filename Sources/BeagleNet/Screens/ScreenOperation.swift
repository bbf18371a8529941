import BeagleNetHTTP

/// The operations of Beagle's expressions.
///
/// The result of an operation whose arguments have other types or an index out of range is unknown.
enum ScreenOperation {
    /// Returns the result of an operation, or `.unknown` if the operation or an argument is.
    static func evaluate(
        _ name: String,
        _ arguments: [ScreenValue],
        in scope: inout some ExpressionScope
    ) -> ScreenValue {
        if name == "condition" { return condition(arguments) }
        if arguments.contains(.unknown) { return .unknown }
        return logic(name, arguments) ?? comparison(name, arguments) ?? text(name, arguments, scope.isNimbus)
            ?? number(name, arguments) ?? collection(name, arguments, &scope) ?? .unknown
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
        // A container may have to be read first.
        if name == "eq", arguments[0] == arguments[1], arguments[0].json != nil { return .bool(true) }
        guard let left = arguments[0].number, let right = arguments[1].number else { return nil }
        switch name {
        case "eq": return .bool(left == right)
        case "gt": return .bool(left > right)
        case "gte": return .bool(left >= right)
        case "lt": return .bool(left < right)
        case "lte": return .bool(left <= right)
        default: return nil
        }
    }

    private static func text(_ name: String, _ arguments: [ScreenValue], _ isNimbus: Bool) -> ScreenValue? {
        if name == "substr" { return substring(arguments, isNimbus) }
        let texts = arguments.compactMap(\.text)
        guard texts.count == arguments.count, let first = texts.first else { return nil }
        switch name {
        case "concat": return .text(texts.joined())
        case "uppercase" where texts.count == 1: return .text(first.uppercased())
        case "lowercase" where texts.count == 1: return .text(first.lowercased())
        case "capitalize" where texts.count == 1: return .text(first.prefix(1).uppercased() + first.dropFirst())
        case "length" where texts.count == 1: return .number(Double(first.count))
        case "string" where texts.count == 1 && arguments[0] != .null: return .text(first)
        default: return nil
        }
    }

    /// Returns a part of a text. The third argument is its length, or in Nimbus its end.
    private static func substring(_ arguments: [ScreenValue], _ isNimbus: Bool) -> ScreenValue? {
        guard (2...3).contains(arguments.count), case .text(let text) = arguments[0],
            let start = arguments[1].index, start < text.count
        else { return nil }
        guard arguments.count == 3 else { return .text(String(text.dropFirst(start))) }
        guard let last = arguments[2].index else { return nil }
        let (end, overflow) = isNimbus ? (last, false) : start.addingReportingOverflow(last)
        guard !overflow, (start...text.count).contains(end) else { return nil }
        return .text(String(text.prefix(end).dropFirst(start)))
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
        case "int" where rest.isEmpty: return integer(arguments[0])
        case "double" where rest.isEmpty: return .number(first)
        default: return nil
        }
    }

    private static func integer(_ argument: ScreenValue) -> ScreenValue? {
        if case .integer = argument { return argument }
        if case .text(let text) = argument { return Int64(text).flatMap { ScreenValue.number("\($0)") } }
        return argument.number.map { .number($0.rounded(.towardZero)) }
    }

    // MARK: - Arrays and objects

    private static func collection(
        _ name: String,
        _ arguments: [ScreenValue],
        _ scope: inout some ExpressionScope
    ) -> ScreenValue? {
        guard collectionNames.contains(name) else { return nil }
        var values: [JSONValue] = []
        for argument in arguments {
            guard let value = scope.json(argument) else { return nil }
            values.append(value)
        }
        guard let first = values.first else { return nil }
        switch (name, values.count) {
        case ("eq", 2): return .bool(ScreenValue(first) == ScreenValue(values[1]))
        case ("isEmpty", 1): return first.count.map { .bool($0 == 0) }
        case ("length", 1): return first.count.map { .number(Double($0)) }
        case ("contains", 2): return contains(first, values[1])
        case ("union", _), ("concat", _): return union(values)
        default:
            return first.array.flatMap { change($0, name, arguments.dropFirst(), values.dropFirst(), scope.isNimbus) }
        }
    }

    private static let collectionNames: Set = [
        "eq", "isEmpty", "length", "contains", "union", "concat", "insert", "remove", "removeIndex",
    ]

    private static func contains(_ collection: JSONValue, _ value: JSONValue) -> ScreenValue? {
        if let text = collection.string, let part = value.string { return .bool(part.isEmpty || text.contains(part)) }
        return collection.array.map { .bool($0.contains { ScreenValue($0) == ScreenValue(value) }) }
    }

    private static func union(_ values: [JSONValue]) -> ScreenValue? {
        let arrays = values.compactMap(\.array)
        guard arrays.count == values.count, arrays.reduce(0, { $0 + $1.count }) <= maxElements else { return nil }
        return .json(.array(arrays.flatMap(\.self)))
    }

    /// The maximum number of elements of a result, so that operations in operations can't fill the memory.
    private static let maxElements = 100_000

    private static func change(
        _ elements: [JSONValue],
        _ name: String,
        _ arguments: ArraySlice<ScreenValue>,
        _ values: ArraySlice<JSONValue>,
        _ isNimbus: Bool
    ) -> ScreenValue? {
        var elements = elements
        switch (name, values.count) {
        case ("insert", 1): elements.append(values[1])
        case ("insert", 2):
            guard let index = arguments[2].index, index <= elements.count else { return nil }
            elements.insert(values[1], at: index)
        case ("remove", 1):
            let removed = ScreenValue(values[1])
            let first = elements.firstIndex { ScreenValue($0) == removed }
            if let first, isNimbus { elements.remove(at: first) }
            if !isNimbus { elements.removeAll { ScreenValue($0) == removed } }
        case ("removeIndex", 0), ("removeIndex", 1):
            let index = values.isEmpty ? elements.count - 1 : arguments[1].index
            guard let index, elements.indices.contains(index) else { return nil }
            elements.remove(at: index)
        default: return nil
        }
        return .json(.array(elements))
    }
}

extension ExpressionScope {
    /// Returns a value as JSON, which may have to be read from the document.
    fileprivate mutating func json(_ value: ScreenValue) -> JSONValue? {
        if case .container(let place) = value { return json(at: place) }
        return value.json
    }
}

extension ScreenValue {
    /// The number as an index, or `nil` if it isn't one.
    fileprivate var index: Int? {
        guard case .number(let number) = self, let index = Int(exactly: number), index >= 0 else { return nil }
        return index
    }
}

extension JSONValue {
    /// The number of elements or members, or `nil` if this is neither an array nor an object.
    fileprivate var count: Int? { array?.count ?? object?.count }
}
