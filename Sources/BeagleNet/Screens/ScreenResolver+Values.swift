import BeagleNetHTTP

/// The value of a reference's text.
enum ResolvedText: Equatable {
    /// The text has no expression.
    case literal
    case text(String)
    /// The expression's value is null or empty.
    case none
    case unknown
}

extension ScreenResolver {
    /// Returns the value of a URL.
    mutating func value(of url: JSONSpan, _ record: ScreenRecord) -> ResolvedText {
        guard record.kind != .unknown, url.mayHaveExpression(in: bytes) else { return .literal }
        guard record.isPlain else { return text(of: url) }
        return ScreenExpression.occurs(in: url.text(in: bytes)) ? .unknown : .literal
    }

    /// Returns the value of a text that may have expressions.
    mutating func text(of span: JSONSpan) -> ResolvedText {
        guard span.mayHaveExpression(in: bytes) else { return .literal }
        var expression = ScreenExpression(span.text(in: bytes))
        let (value, hasExpression) = expression.evaluate(in: &self)
        guard hasExpression else { return .literal }
        switch value {
        case .text(""), .null: return .none
        case .text(let text): return ScreenExpression.occurs(in: text) ? .unknown : .text(text)
        case .number, .integer: return value.text.map { .text($0) } ?? .unknown
        case .container(let place): return imageURL(at: place)
        case .json(let path):
            guard path["_beagleImagePath_"]?.string?.lowercased() == "remote" else { return .none }
            return url(path["url"].map(ScreenValue.init) ?? .null)
        case .bool, .unknown: return .unknown
        }
    }

    /// Returns the URL of a remote image's path.
    private mutating func imageURL(at place: Int) -> ResolvedText {
        guard case .text(let form) = member("_beagleImagePath_", at: place), form.lowercased() == "remote" else {
            return .none
        }
        return url(member("url", at: place))
    }

    private func url(_ value: ScreenValue) -> ResolvedText {
        guard case .text(let url) = value, !url.isEmpty else { return .none }
        return ScreenExpression.occurs(in: url) ? .unknown : .text(url)
    }

    private mutating func member(_ name: String, at place: Int) -> ScreenValue {
        let found = read(from: place) { cursor throws(JSONFault) in try cursor.moveToMember(name.utf8) }
        return found.flatMap(\.self).map { value(at: $0) } ?? .null
    }

    /// Evaluates the string at a position.
    mutating func evaluate(stringAt place: Int) -> ScreenValue {
        guard case .text(let text) = value(at: place), text.utf8.contains(UInt8(ascii: "@")) else { return .unknown }
        var expression = ScreenExpression(text)
        return expression.evaluate(in: &self).value
    }

    /// Returns the value at a position.
    mutating func value(at place: Int) -> ScreenValue {
        let value = read(from: place) { cursor throws(JSONFault) -> ScreenValue in
            switch cursor.peek() {
            case UInt8(ascii: "\""): .text(try cursor.string().text(in: cursor.bytes))
            case UInt8(ascii: "{"), UInt8(ascii: "["): .container(cursor.index)
            case UInt8(ascii: "t"): .bool(true)
            case UInt8(ascii: "f"): .bool(false)
            case UInt8(ascii: "n"): .null
            default: ScreenValue.number(try cursor.scalar().text(in: cursor.bytes)) ?? .unknown
            }
        }
        if case .text? = value { stringsOfExpression.append(place) }
        return value ?? .unknown
    }

    /// Reads the document from a position, and takes the bytes from the budget.
    ///
    /// - Returns: `nil` if the budget is spent. The walk has checked the document, so that there is no other error.
    mutating func read<R>(from place: Int, _ body: (inout JSONCursor) throws(JSONFault) -> R) -> R? {
        guard budget > 0 else { return nil }
        var cursor = JSONCursor(bytes, at: place)
        defer { budget -= cursor.index - place + 8 }
        do throws(JSONFault) { return try body(&cursor) } catch { return nil }
    }
}

extension ScreenResolver: ExpressionScope {
    /// The maximum size of an object or array that an operation reads, in bytes.
    private static let maxContainer = 1 << 20

    var isNimbus: Bool { findings.isNimbus }

    mutating func json(at place: Int) -> JSONValue? {
        let span = read(from: place) { cursor throws(JSONFault) in try cursor.skipValue() }
        guard let span, span.count <= Self.maxContainer else { return nil }
        // A tree takes longer than a walk.
        budget -= 8 * span.count
        operands.insert(contentsOf: place..<place + span.count)
        // The walk has checked the text, but it may be nested too deep for a tree.
        do throws(NetworkError) { return try JSONValue(parsing: Data(span.written(in: bytes))) } catch { return nil }
    }

    mutating func value(of context: ArraySlice<UInt8>, at path: [ExpressionStep]) -> ScreenValue {
        var place = bindings.count - 1
        while place >= 0, !bindings[place].name.utf8.elementsEqual(context) { place -= 1 }
        budget -= 4 * (bindings.count - place)
        guard place >= 0 else { return .unknown }
        switch bindings[place].value {
        case .item:
            usedItem = true
            return .unknown
        case .index(let index): return path.isEmpty ? .number(Double(index)) : .unknown
        case .json(let element):
            let value = element.value(at: path.map(ContextPath.Step.init))
            if let text = value.string ?? value["url"]?.string {
                budget -= text.utf8.count
                resultsOfExpression.append(text)
            }
            return ScreenValue(value)
        case .document(let start):
            let isInitial = time == .render || time == .template || time == .initial
            if !isInitial, changedContexts.contains(bindings[place].name) { return .unknown }
            return value(from: start, path)
        }
    }

    private mutating func value(from start: Int, _ path: [ExpressionStep]) -> ScreenValue {
        var place = start
        for step in path {
            let found = read(from: place) { cursor throws(JSONFault) -> Int? in
                switch step {
                case .name(let name): try cursor.moveToMember(name)
                case .index(let index): try cursor.moveToElement(index)
                }
            }
            guard let found else { return .unknown }
            guard let next = found else { return .null }
            place = next
        }
        return value(at: place)
    }
}

extension JSONSpan {
    /// Whether a string may have an expression, or the escape of one.
    func mayHaveExpression(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        hasEscapes || written(in: bytes).contains(UInt8(ascii: "@"))
    }
}
