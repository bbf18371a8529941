/// A matcher that finds words in a name in one pass over its bytes, ignoring case (Aho and Corasick, 1975).
///
/// Words are in lower case. `^` stands for the beginning of a name, `$` for its end, `-` for a separator, `|` for any
/// of these three, and `~` for an optional separator.
struct NameMatcher: Sendable {
    /// The number of symbols. 0 is a byte that occurs in no word, 1 to 3 are `^`, `$` and `-`, followed by the digits
    /// and letters.
    private static let symbolCount = 40
    private static let start = 1
    private static let end = 2
    static let separator: UInt8 = 3

    /// The next state for each state and symbol.
    private var next: [UInt16]
    /// The bits of the words found when a state is reached.
    private var found: [UInt16]
    /// The symbols of all bytes. `skipped` bytes are ignored.
    private let symbols: [UInt8]
    private static let skipped = UInt8.max

    /// Creates a matcher.
    ///
    /// - Parameters:
    ///   - words: The words to find, and their bits.
    ///   - separators: The bytes that separate words.
    ///   - skipsSeparators: Whether separators are ignored, so that `api_key` equals `apikey`.
    init(_ words: [(String, UInt16)], separators: String, skipsSeparators: Bool) {
        symbols = (UInt8.min...UInt8.max).map { byte in
            if separators.utf8.contains(byte) { return skipsSeparators ? Self.skipped : Self.separator }
            return Self.symbol(byte)
        }
        next = Self.noTransitions
        found = [0]
        for (word, bits) in words {
            for spelling in Self.spellings(of: word, skipsSeparators) { add(spelling, bits) }
        }
        connect()
    }

    /// Returns the bits of all words in a name.
    @inline(__always)
    func bits(of name: some Sequence<UInt8>) -> UInt16 {
        var state = Int(next[Self.start])
        var bits: UInt16 = 0
        for byte in name {
            let symbol = symbols[Int(byte)]
            if symbol == Self.skipped { continue }
            state = Int(next[state * Self.symbolCount + Int(symbol)])
            bits |= found[state]
        }
        return bits | found[Int(next[state * Self.symbolCount + Self.end])]
    }

    private static func symbol(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 4
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 14
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A") + 14
        default: 0
        }
    }

    private static func spellings(of word: String, _ skipsSeparators: Bool) -> [[Int]] {
        word.utf8.reduce(into: [[]]) { spellings, byte in
            switch byte {
            case UInt8(ascii: "^"): spellings = spellings.map { $0 + [start] }
            case UInt8(ascii: "$"): spellings = spellings.map { $0 + [end] }
            case UInt8(ascii: "-"): spellings = spellings.map { $0 + [Int(separator)] }
            case UInt8(ascii: "~") where skipsSeparators: break
            case UInt8(ascii: "~"): spellings += spellings.map { $0 + [Int(separator)] }
            case UInt8(ascii: "|"):
                spellings = spellings.flatMap { spelling in
                    [spelling.isEmpty ? start : end, Int(separator)].map { spelling + [$0] }
                }
            default: spellings = spellings.map { $0 + [Int(symbol(byte))] }
            }
        }
    }

    /// The transitions of a new state. An array, because a `repeatElement` is copied element by element in a build
    /// without optimization.
    private static let noTransitions = [UInt16](repeating: 0, count: symbolCount)

    private mutating func add(_ spelling: [Int], _ bits: UInt16) {
        var state = 0
        for symbol in spelling {
            if next[state * Self.symbolCount + symbol] == 0 {
                next[state * Self.symbolCount + symbol] = UInt16(found.count)
                found.append(0)
                next.append(contentsOf: Self.noTransitions)
            }
            state = Int(next[state * Self.symbolCount + symbol])
        }
        found[state] |= bits
    }

    /// Adds the transitions of the longest suffix to each state that has none of its own for a symbol.
    private mutating func connect() {
        var suffix = [Int](repeating: 0, count: found.count)
        var queue = (0..<Self.symbolCount).map { Int(next[$0]) }.filter { $0 != 0 }
        var position = 0
        while position < queue.count {
            let state = queue[position]
            position += 1
            found[state] |= found[suffix[state]]
            for symbol in 0..<Self.symbolCount {
                let other = next[suffix[state] * Self.symbolCount + symbol]
                let following = Int(next[state * Self.symbolCount + symbol])
                if following == 0 {
                    next[state * Self.symbolCount + symbol] = other
                } else {
                    suffix[following] = Int(other)
                    queue.append(following)
                }
            }
        }
    }
}
