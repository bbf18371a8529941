/// A matching of the elements of two lists, computed in O(n log n) at most.
struct Alignment: Equatable {
    /// The index in the second list of each element's partner.
    private(set) var partners: [Int?]
    /// The elements of the second list without a partner.
    private(set) var added: [Int] = []
    /// The smallest set of elements of the first list whose partners have changed their order relative to the others.
    private(set) var moved: Set<Int> = []

    /// Matches elements in order. Elements that are unique in both lists and equal are anchors, and those between
    /// anchors are matched by position.
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

    /// Matches elements with equal keys, in order if a key repeats. The remaining elements are matched by the keys of
    /// the next round. A `nil` key matches nothing.
    init<Key: Hashable>(_ rounds: [(before: [Key?], after: [Key?])]) {
        let (first, second) = (rounds.first?.before.count ?? 0, rounds.first?.after.count ?? 0)
        partners = Array(repeating: nil, count: first)
        var isTaken = Array(repeating: false, count: second)
        for keys in rounds {
            // In reverse, so that `popLast` returns the first.
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

    /// Matches elements by index only.
    init(counts before: Int, _ after: Int) {
        partners = (0..<before).map { $0 < after ? $0 : nil }
        added = Array(min(before, after)..<after)
    }

    private func without(_ partners: [Int?], of count: Int) -> [Int] {
        let taken = Set(partners.compactMap(\.self))
        return (0..<count).filter { !taken.contains($0) }
    }

    /// Matches equal elements at both ends, and removes them.
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

    /// Returns the elements that are unique in both lists, as far as they have the same order.
    private static func anchors(_ first: ArraySlice<Int>, _ second: ArraySlice<Int>) -> [(Int, Int)] {
        let (mine, theirs) = (unique(first), unique(second))
        let common = first.indices.compactMap { index in
            mine[first[index]] == index ? theirs[first[index]].flatMap { $0 }.map { (index, $0) } : nil
        }
        return longestIncreasing(common.map(\.1)).map { common[$0] }
    }

    /// Returns the index of each value; `nil` if it occurs more than once.
    private static func unique(_ list: ArraySlice<Int>) -> [Int: Int?] {
        list.indices.reduce(into: [:]) { places, index in
            places[list[index]] = places[list[index]] == nil ? .some(index) : .some(nil)
        }
    }

    /// Returns the indices of a longest strictly increasing subsequence.
    static func longestIncreasing(_ list: [Int]) -> [Int] {
        // For each length, the index of the smallest value that ends such a subsequence.
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
