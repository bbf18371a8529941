import BeagleNetHTTP

/// A scanner that finds the entries and other members in an archive's text, which arrives in pieces of any size.
///
/// It stores only the part that is still incomplete. Entries are in `log.entries`. Some tools omit `log`, so `entries`
/// may also be a member of the outermost object, or the outermost value may be an array of entries.
struct ArchiveScanner {
    private var tokenizer = JSONTokenizer()
    private var finder: PartFinder

    /// Creates a scanner.
    ///
    /// - Parameter limit: the maximum size of a part in bytes.
    init(limit: Int) {
        finder = PartFinder(limit: limit)
    }

    /// Whether there was an array of entries, possibly empty.
    var hasEntries: Bool { finder.hasEntries }

    /// The current path in the JSON text.
    var path: String { finder.located(JSONFault(offset: tokenizer.offset, reason: "")).path }

    /// Returns the parts found since the last call.
    mutating func takeParts() -> [ArchivePart] {
        defer { finder.parts = [] }
        return finder.parts
    }

    /// Scans the next piece of the text. If this throws, parts found before the error are available.
    mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) {
        // A local copy, because the closure must not access `self` while the tokenizer is in use.
        var finder = finder
        self.finder.parts = []
        self.finder.buffer = []
        finder.piece = bytes
        defer {
            finder.piece = .init(start: nil, count: 0)
            self.finder = finder
        }
        do {
            try tokenizer.feed(bytes) { finder.scan($0) }
            try finder.bufferRest()
        } catch {
            throw finder.located(error)
        }
    }

    /// Finishes the scan at the end of the text.
    mutating func finish() throws(JSONFault) {
        var finder = finder
        defer { self.finder = finder }
        do {
            try tokenizer.finish { finder.scan($0) }
        } catch {
            throw finder.located(error)
        }
    }
}

/// A finder of the tokens that form a part.
private struct PartFinder {
    enum Place {
        case start, outermost, log, entries(isInLog: Bool, isBare: Bool), end
    }

    let limit: Int
    var parts: [ArchivePart] = []
    /// The current piece, valid only during the call that passes it.
    var piece = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The bytes of earlier pieces that may belong to an incomplete part.
    var buffer: [UInt8] = []
    private(set) var hasEntries = false

    private var place = Place.start
    /// The offset of `buffer` in the text.
    private var bufferStart = 0
    /// The end of the last token, or the start of the current part.
    private var partStart = 0
    /// The number of open containers in the current part.
    private var depth = 0
    private var name = ""
    private var count = 0

    init(limit: Int) {
        self.limit = limit
    }

    private var pieceStart: Int { bufferStart + buffer.count }

    mutating func scan(_ token: JSONTokenizer.Token) {
        let (opens, closes) = (token.kind.opens, token.kind.closes)
        if depth > 0 {
            if opens { depth += 1 }
            if closes { depth -= 1 }
            if depth == 0 { end(at: token.end) }
            return
        }
        partStart = token.start
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
        partStart = token.end
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
        parts.append(ArchivePart(kind: kind, path: path, offset: partStart, bytes: bytes(partStart, end)))
        if case .entries = place { count += 1 }
        partStart = end
    }

    /// The current path in the JSON text.
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
        return Array(buffer[(start - bufferStart)..<min(end - bufferStart, buffer.count)]) + inPiece
    }

    /// Stores the bytes that may be needed later.
    mutating func bufferRest() throws(JSONFault) {
        let end = pieceStart + piece.count
        if partStart > bufferStart {
            buffer = bytes(partStart, end)
        } else {
            buffer.append(contentsOf: piece)
        }
        bufferStart = partStart
        guard buffer.count <= limit else {
            throw JSONFault(offset: partStart, path: path, reason: "larger than the \(limit) bytes allowed")
        }
    }

    /// Returns an error with its path. Within a part, the path is found by parsing the part again.
    func located(_ fault: JSONFault) -> JSONFault {
        guard fault.path.isEmpty else { return fault }
        var fault = fault
        fault.path = path
        guard depth > 0 else { return fault }
        do {
            _ = try ParsedJSON(bytes(partStart, min(fault.offset + 1, pieceStart + piece.count)))
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
