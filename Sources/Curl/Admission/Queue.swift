/// A first-in, first-out queue with constant-time operations.
struct Queue<Element> {
    private var elements: [Element?] = []
    private var first = 0

    var isEmpty: Bool { first == elements.count }
    var count: Int { elements.count - first }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            elements[first] = nil
            first += 1
            // Half of the array is empty, so moving the rest takes amortized constant time.
            if first * 2 >= elements.count { dropTaken() }
        }
        return elements[first]
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        dropTaken()
        elements.removeAll { $0.map(isUnwanted) ?? true }
    }

    private mutating func dropTaken() {
        elements.removeFirst(first)
        first = 0
    }
}

/// A queue from which any element can be removed by its ticket.
struct CancellableQueue<Element> {
    private var tickets = Queue<Int>()
    private var elements: [Int: Element] = [:]

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element, _ ticket: Int) {
        elements[ticket] = element
        tickets.append(ticket)
    }

    mutating func popFirst() -> Element? {
        while let ticket = tickets.popFirst() {
            if let element = elements.removeValue(forKey: ticket) { return element }
        }
        return nil
    }

    @discardableResult
    mutating func remove(_ ticket: Int) -> Element? {
        defer {
            if tickets.count > 2 * elements.count + 32 {
                let waiting = elements
                tickets.removeAll { waiting[$0] == nil }
            }
        }
        return elements.removeValue(forKey: ticket)
    }
}
