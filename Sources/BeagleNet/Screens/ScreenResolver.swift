import BeagleNetHTTP

/// The values that replace expressions, and the elements that replace templates.
///
/// Expressions are evaluated with the contexts whose values the screen contains. The work is limited, so that a screen
/// can't make it much more than a few passes over the document.
struct ScreenResolver {
    /// A reference of the plan.
    struct Resolved: Sendable {
        let record: Int32
        /// The index of the URL's value, or -1 for a literal, -2 if it isn't known.
        var url: Int32
        /// The index of the method's value, or -1 for a literal, -2 if it isn't known.
        var method: Int32
        let time: NeedTime
        var obstacle: ScreenObstacle
    }

    /// A name that expressions may use.
    struct Binding {
        enum Value {
            /// The value at a position of the document.
            case document(Int)
            case index(Int)
            /// An element of an array that is the result of an operation.
            case json(JSONValue)
            /// An element of a list whose items aren't known.
            case item
        }

        let name: String
        let value: Value
        /// The first record after those that may use the name.
        let end: Int
    }

    /// The maximum nesting of lists whose templates are shown for each element.
    static let maxNesting = 8

    let bytes: UnsafeBufferPointer<UInt8>
    let findings: ScreenFindings
    let limit: Int
    var bindings: [Binding] = []
    var resolved: ContiguousArray<Resolved> = []
    var texts: [String] = []
    var omitted: Int
    /// The contexts that an action changes.
    let changedContexts: Set<String>
    /// The number of bytes that may still be read.
    var budget: Int
    /// The time of the record whose expressions are evaluated.
    var time = NeedTime.render
    /// The positions of the strings that the last expression used.
    var stringsOfExpression: [Int] = []
    /// The positions of the strings that are a part of a URL whose value is known.
    private var stringsOfURLs: Set<Int> = []
    /// The arrays and objects that operations have read.
    var operands = RangeSet<Int>()
    /// The strings that the last expression used of the result of an operation.
    var resultsOfExpression: [String] = []
    /// The strings of results that are a part of a URL whose value is known.
    private var resultsOfURLs: Set<String> = []
    /// Whether the last expression used the element of a list whose items aren't known.
    var usedItem = false
    /// The number of lists around the records whose templates are shown for each element.
    var nesting = 0
    /// Whether a record is in the plan without a value of its own for each element of a list.
    private var isListed: [Bool] = []

    init(_ findings: ScreenFindings, _ bytes: UnsafeBufferPointer<UInt8>, limit: Int) {
        self.bytes = bytes
        self.findings = findings
        self.limit = limit
        omitted = findings.omitted
        budget = 16 * bytes.count + 1 << 20
        let ids = findings.changedContexts.map { $0.text(in: bytes) }
        changedContexts = Set(ids.map { String($0.prefix { $0 != "." && $0 != "[" }) })
        resolved.reserveCapacity(findings.records.count)
    }

    mutating func run() {
        isListed = findings.lists.isEmpty ? [] : Array(repeating: false, count: findings.records.count)
        sweep(0..<findings.records.count, 0)
        guard !stringsOfURLs.isEmpty || !resultsOfURLs.isEmpty else { return }
        // An expression says what these URLs are for.
        resolved.removeAll { [bytes, findings, operands, stringsOfURLs, resultsOfURLs] reference in
            let record = findings.records[Int(reference.record)]
            guard record.kind == .unknown else { return false }
            let place = record.url.start - 1
            return stringsOfURLs.contains(place)
                || (operands.contains(place) && resultsOfURLs.contains(record.url.text(in: bytes)))
        }
    }

    /// Resolves records with the scopes that begin at this index.
    mutating func sweep(_ records: Range<Int>, _ firstScope: Int) {
        let outer = bindings.count
        var (record, scope) = (records.lowerBound, firstScope)
        while record < records.upperBound {
            while bindings.count > outer, bindings[bindings.count - 1].end <= record { bindings.removeLast() }
            if scope < findings.scopes.count, findings.scopes[scope].records.lowerBound <= record {
                (record, scope) = enter(scope, record)
                continue
            }
            if !findings.records[record].isDropped { resolve(record) }
            record += 1
        }
        bindings.removeLast(bindings.count - outer)
    }

    /// Enters a scope at a record, and returns the record and scope to go on with.
    private mutating func enter(_ scope: Int, _ record: Int) -> (Int, Int) {
        let end = findings.scopes[scope].records.upperBound
        switch findings.scopes[scope].content {
        case .context(let id, let value):
            if id.isPresent, value > 0 {
                bindings.append(Binding(name: id.text(in: bytes), value: .document(Int(value)), end: end))
            }
        case .template(let list, _, _):
            if nesting < Self.maxNesting, let rows = rows(of: Int(list)), !rows.isEmpty {
                return unfold(scope, list, rows)
            }
            bindings.append(Binding(name: itemName(list), value: .item, end: end))
            bindings.append(Binding(name: indexName(list), value: .item, end: end))
        }
        return (record, scope + 1)
    }

    private mutating func resolve(_ index: Int) {
        let record = findings.records[index]
        time = record.time
        usedItem = false
        budget -= 16
        stringsOfExpression.removeAll(keepingCapacity: true)
        resultsOfExpression.removeAll(keepingCapacity: true)
        var url = value(of: record.url, record)
        if case .text = url {
            stringsOfURLs.formUnion(stringsOfExpression)
            resultsOfURLs.formUnion(resultsOfExpression)
        }
        let parts = findings.parts(of: record)
        var method = parts.method.isPresent ? text(of: parts.method) : .literal
        if budget <= 0 { (url, method) = (url == .literal ? url : .unknown, method == .literal ? method : .unknown) }
        if nesting > 0 {
            // A reference that all elements share is listed once. An element without a URL isn't listed.
            if url == .none { return }
            if url == .unknown || (url == .literal && method == .literal) {
                if isListed[index] { return }
                isListed[index] = true
            }
        }
        if url == .none { url = .unknown }
        guard resolved.count < limit else { return omitted += 1 }
        let isUnfolded = record.time == .template && nesting > 0 && url != .unknown
        var result = Resolved(
            record: Int32(index),
            url: store(url),
            method: store(method),
            time: isUnfolded ? .render : record.time,
            obstacle: .none
        )
        result.obstacle = obstacle(of: record, parts, url, method)
        resolved.append(result)
    }

    private mutating func store(_ value: ResolvedText) -> Int32 {
        switch value {
        case .literal: return -1
        case .unknown, .none: return -2
        case .text(let text):
            texts.append(text)
            return Int32(texts.count - 1)
        }
    }
}
