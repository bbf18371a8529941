/// A scan of text for secrets that have a known format or follow a secret name, in one pass and linear time.
///
/// The result at a position depends on the `window` of bytes after it and on `lookBack` bytes before it. Incremental
/// text is scanned as far as these bytes are known, so the result doesn't depend on how the text is split.
struct TextScan {
    /// The secrets to find, in addition to those with a known format.
    struct Rules: OptionSet {
        let rawValue: UInt8

        /// URLs with a scheme, URLs without a scheme but with a user, and items of queries.
        static let urls = Rules(rawValue: 1)
        /// Pairs: `password=x`, `"password": "x"`.
        static let pairs = Rules(rawValue: 1 << 1)
        /// Names followed by a colon, as in message heads and prose: `X-Api-Key: x`.
        static let labels = Rules(rawValue: 1 << 2)
        /// JSON in a line of its own, or in the data of a server-sent event.
        static let lines = Rules(rawValue: 1 << 3)
        /// Elements and attributes of XML and HTML, and pairs whose name and value are both quoted.
        static let elements = Rules(rawValue: 1 << 4)
        /// The rules for an item of a query or form.
        static let values: Rules = [.urls, .pairs]
        /// The rules for XML, HTML and scripts.
        static let markup: Rules = [.urls, .elements]
        /// The rules for text for people, or text of unknown format.
        static let all: Rules = [.urls, .pairs, .labels]
    }

    /// The result of checking a position.
    enum Step {
        /// Nothing begins here.
        case pass
        /// Everything before this position is final.
        case past(Int)
        /// More bytes are needed.
        case more
    }

    /// The maximum length of a secret together with the text that identifies it, in bytes.
    static let window = 64 << 10
    /// The maximum number of bytes before a position that are searched for a name.
    static let lookBack = 128
    /// The number of final bytes that are kept for looking back.
    static let context = lookBack + 32
    /// The maximum number of nested texts in which names are searched, such as URLs in the queries of URLs.
    static let depthLimit = 4

    let redactor: Redactor
    let bytes: [UInt8]
    /// The limits of the bytes that may be read.
    let floor: Int
    let end: Int
    /// Whether the text ends at `end`.
    let isFinal: Bool
    let rules: Rules
    let depth: Int
    /// The replacements, in order.
    var edits: [RedactionEdit] = []
    /// Whether a decision would need more bytes than the window.
    private(set) var isBeyondWindow = false
    /// The position before which no dot ends the header of a JWT.
    var dotless = 0

    init(
        _ redactor: Redactor,
        _ bytes: [UInt8],
        in range: Range<Int>,
        isFinal: Bool = true,
        rules: Rules,
        depth: Int
    ) {
        self.redactor = redactor
        self.bytes = bytes
        floor = range.lowerBound
        end = range.upperBound
        self.isFinal = isFinal
        self.rules = rules
        self.depth = depth
    }

    /// Scans the text from a position.
    ///
    /// - Returns: The position before which everything is final.
    mutating func run(from start: Int) -> Int {
        let triggers = Self.triggers
        var place = start
        while place < end {
            let trigger = triggers[Int(bytes[place])]
            if trigger == .none || trigger == .letter && isPassed(place) {
                place += 1
                continue
            }
            switch step(trigger, at: Candidate(place, self)) {
            case .pass: place += 1
            case .past(let next): place = next
            case .more:
                isBeyondWindow = end - place > Self.window
                return place
            }
        }
        return end
    }

    /// Returns whether nothing begins at a letter, as a quick check.
    ///
    /// Most letters are inside words, where only a JWT may begin.
    @inline(__always)
    private func isPassed(_ place: Int) -> Bool {
        if bytes[place] == UInt8(ascii: "e") { return place + 1 < end && bytes[place + 1] != UInt8(ascii: "y") }
        // After three word characters, the letter can't follow an escape.
        return place - floor > 2 && bytes[place - 1].isWord && bytes[place - 2].isWord && bytes[place - 3].isWord
    }

    private mutating func step(_ trigger: Trigger, at candidate: Candidate) -> Step {
        switch trigger {
        case .none: .pass
        case .digit: card(at: candidate)
        case .dash: privateKey(at: candidate)
        case .letter: token(at: candidate)
        case .colon: colon(at: candidate)
        case .equals: pair(at: candidate)
        case .bracket: json(at: candidate)
        case .mark: query(at: candidate)
        case .slash: reference(at: candidate)
        case .percent: encodedPair(at: candidate)
        case .angle: element(at: candidate)
        }
    }
}

// MARK: - Short text

extension TextScan {
    /// Returns whether text contains no secret, judged only by its length and bytes. This is true for most values.
    ///
    /// Text without punctuation is one or more words. If it is shorter than a card number, which is shorter than any
    /// token with a prefix, it can only be secret if it is an authentication scheme with credentials.
    static func isHarmless(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        guard range.count < 13 else { return false }
        var found: UInt8 = 0
        let marks = Self.marks
        for place in range { found |= marks[Int(bytes[place])] }
        return found == 0 || (found == blank && range.count < "bearer x".utf8.count)
    }

    private static let blank: UInt8 = 1

    /// The type of each byte: 0 for letters, digits and the underscore, `blank` for spaces and tabs, 2 for all others.
    private static let marks: [UInt8] = (UInt8.min...UInt8.max).map { byte in
        if byte.isWord { return 0 }
        return byte == 0x20 || byte == 0x09 ? blank : 2
    }
}

// MARK: - Places

extension TextScan {
    /// The type of a byte with which a secret or its mark may begin.
    enum Trigger: UInt8 {
        case none, digit, dash, letter, colon, equals, bracket, mark, slash, percent, angle
    }

    private static let triggers: [Trigger] = (UInt8.min...UInt8.max).map { byte in
        switch byte {
        case _ where byte.isDigit: .digit
        case UInt8(ascii: "-"): .dash
        case UInt8(ascii: ":"): .colon
        case UInt8(ascii: "="): .equals
        case UInt8(ascii: "{"), UInt8(ascii: "["): .bracket
        case UInt8(ascii: "?"), UInt8(ascii: "#"): .mark
        case UInt8(ascii: "/"): .slash
        case UInt8(ascii: "%"): .percent
        case UInt8(ascii: ">"): .angle
        case _ where TokenPrefix.firstBytes.contains(byte): .letter
        case _ where "eBb".utf8.contains(byte): .letter
        default: .none
        }
    }

    /// A position at which a secret may begin, and the limit up to which it is read.
    struct Candidate {
        let start: Int
        let edge: Int
        /// Whether the text ends at the edge.
        let isFinal: Bool

        init(_ start: Int, _ scan: TextScan) {
            self.start = start
            edge = min(scan.end, start + TextScan.window)
            isFinal = scan.isFinal && edge == scan.end
        }
    }

    /// Returns the end of a run of matching bytes.
    @inline(__always)
    func endOfRun(_ start: Int, _ candidate: Candidate, _ belongs: (UInt8) -> Bool) -> Int {
        var place = start
        while place < candidate.edge, belongs(bytes[place]) { place += 1 }
        return place
    }

    /// Returns whether a word is at a position, or `nil` if more bytes are needed.
    func has(_ word: StaticString, at place: Int, _ candidate: Candidate, anyCase: Bool = false) -> Bool? {
        word.withUTF8Buffer { word in
            for (index, byte) in word.enumerated() {
                guard place + index < candidate.edge else { return candidate.isFinal ? false : nil }
                let other = bytes[place + index]
                guard other == byte || (anyCase && other | 0x20 == byte | 0x20) else { return false }
            }
            return true
        }
    }

    /// Returns whether a word may begin here: not after a letter, digit or `_`, unless they are the end of an escape.
    func isAtBoundary(_ place: Int) -> Bool {
        guard place > floor, bytes[place - 1].isWord else { return true }
        guard place - 1 > floor else { return false }
        if bytes[place - 2] == UInt8(ascii: "\\") { return "nrtbf".utf8.contains(bytes[place - 1]) }
        return place - 2 > floor && bytes[place - 3] == UInt8(ascii: "%") && bytes[place - 2].hexValue != nil
            && bytes[place - 1].hexValue != nil
    }

    /// Replaces a secret range.
    mutating func redact(_ range: Range<Int>, _ path: String) -> Step {
        if let text = redactor.replacement(for: bytes[range]) { edits.append(RedactionEdit(range, text, path)) }
        return .past(range.upperBound)
    }
}
