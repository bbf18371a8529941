import BeagleNetHTTP

extension ScreenResolver {
    /// Returns the name of a list's element in expressions.
    func itemName(_ list: Int32) -> String {
        let name = findings.lists[Int(list)].iteratorName
        return name.isPresent ? name.text(in: bytes) : "item"
    }

    /// Returns the name of an element's index in expressions.
    func indexName(_ list: Int32) -> String {
        let name = findings.lists[Int(list)].indexName
        return name.isPresent ? name.text(in: bytes) : "index"
    }

    /// Returns a list's items, or `nil` if they aren't known.
    mutating func rows(of list: Int) -> [Binding.Value]? {
        let items = Int(findings.lists[list].items)
        guard items > 0 else { return nil }
        var start = items
        if bytes[items] == UInt8(ascii: "\"") {
            time = .render
            let value = evaluate(stringAt: items)
            if case .json(.array(let elements)) = value { return elements.prefix(limit + 1).map { .json($0) } }
            guard case .container(let place) = value else { return nil }
            start = place
        }
        var rows: [Binding.Value] = []
        let limit = limit
        guard
            read(
                from: start,
                { cursor throws(JSONFault) in
                    try cursor.forEachElement { row in
                        rows.append(.document(row))
                        return rows.count <= limit
                    }
                }
            ) == true
        else { return nil }
        return rows
    }

    /// Resolves the templates of a list, which begin at this scope, for each element.
    mutating func unfold(_ first: Int, _ list: Int32, _ rows: [Binding.Value]) -> (Int, Int) {
        var templates = [first]
        while case let next = findings.scopes[templates[templates.count - 1]].next, next < findings.scopes.count,
            case .template(list, _, _) = findings.scopes[next].content
        {
            templates.append(next)
        }
        let last = findings.scopes[templates[templates.count - 1]]
        let (item, index) = (itemName(list), indexName(list))
        nesting += 1
        for (place, row) in rows.enumerated() {
            // Counts the rest without reading it.
            if resolved.count >= limit || budget <= 0 {
                omitted += (rows.count - place) * templates.count
                break
            }
            bindings.append(Binding(name: item, value: row, end: .max))
            bindings.append(Binding(name: index, value: .index(place), end: .max))
            for template in shown(templates) { sweep(findings.scopes[template].records, template + 1) }
            bindings.removeLast(2)
        }
        nesting -= 1
        return (last.records.upperBound, last.next)
    }

    /// Returns the templates that are shown for the current element: the first alternative whose case is true, or else
    /// the first without a case.
    private mutating func shown(_ templates: [Int]) -> [Int] {
        var (shown, fallback, isChosen) = ([Int](), Int?.none, false)
        for template in templates {
            guard case .template(_, let condition, let isAlternative) = findings.scopes[template].content else {
                continue
            }
            if !isAlternative {
                shown.append(template)
            } else if !condition.isPresent {
                fallback = fallback ?? template
            } else if !isChosen, evaluate(stringAt: condition.start - 1) == .bool(true) {
                shown.append(template)
                isChosen = true
            }
        }
        if !isChosen, let fallback { shown.append(fallback) }
        return shown
    }
}
