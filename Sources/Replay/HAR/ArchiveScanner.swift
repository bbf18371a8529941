import BeagleNetHTTP

/// What an archive's text is made of.
struct ArchivePart: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// An element of `log.entries`, and which one it is.
        case entry(Int)
        /// A member of `log`.
        case logMember(String)
        /// A member of the outermost object.
        case outerMember(String)
    }

    let kind: Kind
    /// The place in the document.
    let path: String
    /// Bytes of the text before it.
    let offset: Int
    /// It as it is written.
    let bytes: [UInt8]
}

/// Finds in an archive's text, which comes in pieces of any size, its entries and what stands beside them. It keeps no
/// more of the text than the part that is not whole yet.
///
/// The entries are those of `log.entries`; some tools leave `log` out, or both: `entries` may be the outermost object's,
/// and the outermost value an array of entries.
struct ArchiveScanner {
    private var tokenizer = JSONTokenizer()
    private var finder: Finder

    /// - Parameter limit: the largest part in bytes.
    init(limit: Int) {
        finder = Finder(limit: limit)
    }

    /// Whether there was an array of entries, be it an empty one.
    var hasEntries: Bool { finder.hasEntries }

    /// Where in the document it is at work.
    var path: String { finder.located(JSONFault(offset: tokenizer.offset, reason: "")).path }

    /// The parts that were found and not taken yet.
    mutating func takeParts() -> [ArchivePart] {
        defer { finder.parts = [] }
        return finder.parts
    }

    /// Takes the next piece of the text. What was found before a fault can be taken.
    mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) {
        // The closure must not reach the tokenizer, which is at work.
        var finder = finder
        self.finder.parts = []
        self.finder.kept = []
        finder.piece = bytes
        defer {
            finder.piece = .init(start: nil, count: 0)
            self.finder = finder
        }
        do {
            try tokenizer.feed(bytes) { finder.take($0) }
            try finder.keepRest()
        } catch {
            throw finder.located(error)
        }
    }

    /// Says that the text has come to its end.
    mutating func finish() throws(JSONFault) {
        var finder = finder
        defer { self.finder = finder }
        do {
            try tokenizer.finish { finder.take($0) }
        } catch {
            throw finder.located(error)
        }
    }
}

/// Which tokens a part is made of.
private struct Finder {
    enum Place {
        case start, outermost, log, entries(isInLog: Bool, isBare: Bool), end
    }

    let limit: Int
    var parts: [ArchivePart] = []
    /// The piece at work. It lives as long as the call that takes it.
    var piece = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// What of the pieces before it may be part of something that is not whole yet.
    var kept: [UInt8] = []
    private(set) var hasEntries = false

    private var place = Place.start
    /// Bytes before `kept`.
    private var keptStart = 0
    /// Where the last token ended, or the part at work begins.
    private var needed = 0
    /// How many containers of the part at work are open.
    private var depth = 0
    private var name = ""
    private var count = 0

    init(limit: Int) {
        self.limit = limit
    }

    private var pieceStart: Int { keptStart + kept.count }

    mutating func take(_ token: JSONTokenizer.Token) {
        let (opens, closes) = (token.kind.opens, token.kind.closes)
        if depth > 0 {
            if opens { depth += 1 }
            if closes { depth -= 1 }
            if depth == 0 { end(at: token.end) }
            return
        }
        needed = token.start
        switch place {
        case .start:
            place = token.kind == .objectStart ? .outermost : .end
            if token.kind == .arrayStart { enterEntries(isInLog: false, isBare: true) }
        case .outermost where token.kind == .objectStart && name == "log": place = .log
        case .outermost where token.kind == .arrayStart && name == "entries": enterEntries(isInLog: false)
        case .log where token.kind == .arrayStart && name == "entries": enterEntries(isInLog: true)
        case .entries(let isInLog, let isBare) where closes: place = isBare ? .end : isInLog ? .log : .outermost
        case .outermost where closes: place = .end
        case .log where closes: place = .outermost
        case .end: break
        default:
            if token.kind == .name {
                name = JSONText.unescaped(bytes(token.start + 1, token.end - 1)[...])
            } else if opens {
                return depth = 1
            } else {
                return end(at: token.end)
            }
        }
        needed = token.end
    }

    private mutating func enterEntries(isInLog: Bool, isBare: Bool = false) {
        place = .entries(isInLog: isInLog, isBare: isBare)
        hasEntries = true
    }

    private mutating func end(at end: Int) {
        let kind: ArchivePart.Kind =
            switch place {
            case .entries: .entry(count)
            case .log: .logMember(name)
            default: .outerMember(name)
            }
        parts.append(ArchivePart(kind: kind, path: path, offset: needed, bytes: bytes(needed, end)))
        if case .entries = place { count += 1 }
        needed = end
    }

    /// Where it is at work.
    private var path: String {
        switch place {
        case .start, .end: "$"
        case .outermost: name.isEmpty ? "$" : "$.\(name)"
        case .log: name.isEmpty ? "$.log" : "$.log.\(name)"
        case .entries(let isInLog, let isBare): (isInLog ? "$.log.entries" : isBare ? "$" : "$.entries") + "[\(count)]"
        }
    }

    private func bytes(_ start: Int, _ end: Int) -> [UInt8] {
        let inPiece = piece[max(start - pieceStart, 0)..<max(end - pieceStart, 0)]
        guard start < pieceStart else { return Array(inPiece) }
        return Array(kept[(start - keptStart)..<min(end - keptStart, kept.count)]) + inPiece
    }

    /// Keeps what may be needed later.
    mutating func keepRest() throws(JSONFault) {
        let end = pieceStart + piece.count
        if needed > keptStart {
            kept = bytes(needed, end)
        } else {
            kept.append(contentsOf: piece)
        }
        keptStart = needed
        guard kept.count <= limit else {
            throw JSONFault(offset: needed, path: path, reason: "larger than the \(limit) bytes allowed")
        }
    }

    /// A fault with its path, which in a part is found by reading that once more.
    func located(_ fault: JSONFault) -> JSONFault {
        guard fault.path.isEmpty else { return fault }
        var fault = fault
        fault.path = path
        guard depth > 0 else { return fault }
        do {
            _ = try JSONDocument(bytes(needed, min(fault.offset + 1, pieceStart + piece.count)))
        } catch {
            fault.path += error.path.dropFirst()
        }
        return fault
    }
}

extension JSONTokenizer.Token.Kind {
    fileprivate var opens: Bool { self == .objectStart || self == .arrayStart }
    fileprivate var closes: Bool { self == .objectEnd || self == .arrayEnd }
}
