/// Looks through text for what is secret by its look or by a name before it: in one pass, and in time that grows with
/// the text alone.
///
/// What a place is depends on the `window` of bytes behind it and on `lookBack` before it. Text that comes in pieces is
/// looked through as far as that is known, so that how it is cut makes no difference.
struct TextScan {
    /// What is looked for besides what is known by its look.
    struct Rules: OptionSet {
        let rawValue: UInt8

        /// URLs with a scheme, or with a user and without one, and items of queries.
        static let urls = Rules(rawValue: 1)
        /// Pairs: `password=x`, `"password": "x"`.
        static let pairs = Rules(rawValue: 1 << 1)
        /// Names that a colon follows, as in heads and in prose: `X-Api-Key: x`.
        static let labels = Rules(rawValue: 1 << 2)
        /// JSON in a line of its own, or in the data of an event of an event stream.
        static let lines = Rules(rawValue: 1 << 3)
        /// Elements and attributes of XML and HTML, and pairs whose name and value are both in quotes.
        static let elements = Rules(rawValue: 1 << 4)
        /// What an item of a query or form may hold.
        static let values: Rules = [.urls, .pairs]
        /// What XML, HTML and scripts may hold.
        static let markup: Rules = [.urls, .elements]
        /// All that text for people, or of unknown form, may hold.
        static let all: Rules = [.urls, .pairs, .labels]
    }

    /// What is known of a place.
    enum Step {
        /// Nothing begins here.
        case pass
        /// All is settled up to there.
        case past(Int)
        /// It depends on bytes that have not come.
        case more
    }

    /// The most bytes that a secret, and what tells that it is one, may have.
    static let window = 64 << 10
    /// How far names before a place are looked at.
    static let lookBack = 128
    /// How much of what is settled is kept for those who look back.
    static let context = lookBack + 32
    /// The most texts inside of texts in which names are looked for, as URLs in the queries of URLs.
    static let depthLimit = 4

    let redactor: Redactor
    let bytes: [UInt8]
    /// Where what may be looked at begins and ends.
    let floor: Int
    let end: Int
    /// Whether nothing comes behind `end`.
    let isFinal: Bool
    let rules: Rules
    let depth: Int
    /// What is to be replaced, in order.
    var edits: [RedactionEdit] = []
    /// Whether something would take more than the window to tell.
    private(set) var isBeyondWindow = false
    /// Up to where no dot ends the header of a JWT.
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

    /// Looks through the text from a place on.
    ///
    /// - Returns: up to where all is settled.
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

    /// Whether nothing begins at a letter, as one quick look tells: that most letters stand within words, where no more than a
    /// JWT may begin.
    @inline(__always)
    private func isPassed(_ place: Int) -> Bool {
        if bytes[place] == UInt8(ascii: "e") { return place + 1 < end && bytes[place + 1] != UInt8(ascii: "y") }
        // With three of the word before it, none of them is of an escape.
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
    /// Whether text has nothing that is secret, told by its length and its bytes alone: so it is of most values.
    ///
    /// What has no mark is a word or several. Of such only a scheme with its credentials is secret if it has fewer bytes than the
    /// number of a card, which are fewer than those of a token with its prefix.
    static func isHarmless(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        guard range.count < 13 else { return false }
        var found: UInt8 = 0
        let marks = Self.marks
        for place in range { found |= marks[Int(bytes[place])] }
        return found == 0 || (found == blank && range.count < "bearer x".utf8.count)
    }

    private static let blank: UInt8 = 1

    /// 0 for letters, digits and the underscore, `blank` for blanks, 2 for all others.
    private static let marks: [UInt8] = (UInt8.min...UInt8.max).map { byte in
        if byte.isWord { return 0 }
        return byte == 0x20 || byte == 0x09 ? blank : 2
    }
}

// MARK: - Places

extension TextScan {
    /// A byte with which something may begin.
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

    /// A place at which something may begin, and how far it may be followed.
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

    /// Where bytes of a kind end.
    @inline(__always)
    func endOfRun(_ start: Int, _ candidate: Candidate, _ belongs: (UInt8) -> Bool) -> Int {
        var place = start
        while place < candidate.edge, belongs(bytes[place]) { place += 1 }
        return place
    }

    /// Whether a word stands at a place; nil where that cannot be told yet.
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

    /// Whether a word may begin here: behind no letter, digit or `_`, unless they are the end of an escape.
    func isAtBoundary(_ place: Int) -> Bool {
        guard place > floor, bytes[place - 1].isWord else { return true }
        guard place - 1 > floor else { return false }
        if bytes[place - 2] == UInt8(ascii: "\\") { return "nrtbf".utf8.contains(bytes[place - 1]) }
        return place - 2 > floor && bytes[place - 3] == UInt8(ascii: "%") && bytes[place - 2].hexValue != nil
            && bytes[place - 1].hexValue != nil
    }

    /// Replaces a range that is secret.
    mutating func hide(_ range: Range<Int>, _ way: String) -> Step {
        if let text = redactor.replacement(for: bytes[range]) { edits.append(RedactionEdit(range, text, way)) }
        return .past(range.upperBound)
    }
}
