/// Which elements of one list belong to which of another. All of it takes O(n log n) at most.
struct Alignment: Equatable {
    /// For each element of the first list its partner in the second.
    private(set) var partners: [Int?]
    /// Elements of the second list without a partner.
    private(set) var added: [Int] = []
    /// Elements of the first list whose partner stands elsewhere among the partners of the others: as few as can be.
    private(set) var moved: Set<Int> = []

    /// Matches elements in their order: those that are unique and the same in both stay together, and what is between
    /// them goes by its order.
    init(inOrder before: [Int], _ after: [Int]) {
        partners = Array(repeating: nil, count: before.count)
        var (first, second) = (before[...], after[...])
        pairEnds(&first, &second)
        var (start, other) = (first.startIndex, second.startIndex)
        for (index, partner) in Self.anchors(first, second) {
            pairGap(before[start..<index], after[other..<partner])
            partners[index] = partner
            (start, other) = (index + 1, partner + 1)
        }
        pairGap(before[start..<first.endIndex], after[other..<second.endIndex])
        added = without(partners, of: after.count)
    }

    /// Matches elements that have the same key, the first with the first where it repeats; what is left over goes by the
    /// next keys. A nil key matches nothing.
    init<Key: Hashable>(_ rounds: [(before: [Key?], after: [Key?])]) {
        let (first, second) = (rounds.first?.before.count ?? 0, rounds.first?.after.count ?? 0)
        partners = Array(repeating: nil, count: first)
        var isTaken = Array(repeating: false, count: second)
        for keys in rounds {
            // Backwards, so that the first is taken from the end.
            var places: [Key: [Int]] = [:]
            for (index, key) in keys.after.enumerated().reversed() where !isTaken[index] {
                if let key { places[key, default: []].append(index) }
            }
            for (index, key) in keys.before.enumerated() where partners[index] == nil {
                guard let key, let partner = places[key]?.popLast() else { continue }
                partners[index] = partner
                isTaken[partner] = true
            }
        }
        added = isTaken.indices.filter { !isTaken[$0] }
        let matched = partners.indices.filter { partners[$0] != nil }
        let staying = Self.longestIncreasing(matched.compactMap { partners[$0] })
        moved = Set(matched).subtracting(staying.map { matched[$0] })
    }

    /// Pairs by place alone.
    init(counts before: Int, _ after: Int) {
        partners = (0..<before).map { $0 < after ? $0 : nil }
        added = Array(min(before, after)..<after)
    }

    private func without(_ partners: [Int?], of count: Int) -> [Int] {
        let taken = Set(partners.compactMap(\.self))
        return (0..<count).filter { !taken.contains($0) }
    }

    /// Pairs what is the same at both ends, and takes it off.
    private mutating func pairEnds(_ first: inout ArraySlice<Int>, _ second: inout ArraySlice<Int>) {
        while let one = first.first, one == second.first {
            partners[first.removeFirstIndex()] = second.removeFirstIndex()
        }
        while let one = first.last, one == second.last {
            partners[first.removeLastIndex()] = second.removeLastIndex()
        }
    }

    private mutating func pairGap(_ first: ArraySlice<Int>, _ second: ArraySlice<Int>) {
        var (first, second) = (first, second)
        pairEnds(&first, &second)
        for (index, partner) in zip(first.indices, second.indices) { partners[index] = partner }
    }

    /// What is unique in both lists, as far as it stands in the same order.
    private static func anchors(_ first: ArraySlice<Int>, _ second: ArraySlice<Int>) -> [(Int, Int)] {
        let (mine, theirs) = (unique(first), unique(second))
        let common = first.indices.compactMap { index in
            mine[first[index]] == index ? theirs[first[index]].flatMap { $0 }.map { (index, $0) } : nil
        }
        return longestIncreasing(common.map(\.1)).map { common[$0] }
    }

    /// Where each value stands; nil where that is at several places.
    private static func unique(_ list: ArraySlice<Int>) -> [Int: Int?] {
        list.indices.reduce(into: [:]) { places, index in
            places[list[index]] = places[list[index]] == nil ? .some(index) : .some(nil)
        }
    }

    /// The places of a longest strictly increasing subsequence.
    static func longestIncreasing(_ list: [Int]) -> [Int] {
        // Of each length the place whose value is the smallest that ends such a sequence.
        var ends: [Int] = []
        var previous: [Int?] = []
        for (place, value) in list.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if list[ends[middle]] < value { low = middle + 1 } else { high = middle }
            }
            previous.append(low > 0 ? ends[low - 1] : nil)
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var (places, next) = ([Int](), ends.last)
        while let place = next {
            places.append(place)
            next = previous[place]
        }
        return places.reversed()
    }
}

extension ArraySlice {
    fileprivate mutating func removeFirstIndex() -> Int {
        defer { removeFirst() }
        return startIndex
    }

    fileprivate mutating func removeLastIndex() -> Int {
        defer { removeLast() }
        return endIndex - 1
    }
}
