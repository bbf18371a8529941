/// Looks through JSON, one text or several behind each other, that comes in pieces of any size.
///
/// All places are bytes from the beginning of the stream. What is a value, and of which name, is known at the end of a
/// token; up to `settled` nothing changes any more.
struct JSONScan {
    struct Container {
        /// Members that stay, of an object.
        var keptCount = 0
        /// Whether a member came that OAuth's `state` stands beside.
        var hasSignIn = false
        /// Whether a member says that the value beside it is secret: `{"name": "token", "value": "x"}`. Of a pair, whether its
        /// first element does: `[["token", "x"]]`.
        var namesSecret = false
        /// Whether it is an array in an array of which no element has come: what begins it may be the name of the next one.
        var mayBePair = false
        /// Where the name around it ends among `names`.
        let nameEnd: Int
    }

    /// A member whose value has not come to its end.
    struct Member {
        let token: JSONTokenizer.Token
        let meaning: SecretNames.Value
    }

    /// A secret value that is passed over.
    struct Hidden {
        let start: Int
        let depth: Int
        /// nil of an element of an array.
        let member: Member?
        /// Whether it was longer than the window, so that what stands for it is written already.
        var isCut = false
    }

    /// A `state` that is secret if a name of OAuth's comes, or a `value` that is if a secret's name comes.
    struct Doubt {
        let edit: RedactionEdit
        let depth: Int
        let isNamed: Bool
    }

    let redactor: Redactor
    let depth: Int
    var tokenizer = JSONTokenizer()
    /// Where the tokenizer began.
    var base: Int
    var tokens: [JSONTokenizer.Token] = []
    var containers: [Container] = []
    var member: Member?
    var hidden: Hidden?
    var doubts: [Doubt] = []
    /// Names of the outermost open containers, one behind the other; elements of an array are called `[*]`.
    var names: [UInt8] = []
    /// The beginning of a long text, if one is being looked through, and what was decoded last of it.
    var longText: (settled: Int, context: [UInt8])?
    var longTextWay = ""
    /// The end of the last token with which a value or container was settled.
    var settled: Int
    /// What is to be replaced before `settled`, in order.
    var edits: [RedactionEdit] = []

    init(_ redactor: Redactor, from start: Int = 0, depth: Int = 0) {
        self.redactor = redactor
        self.depth = depth
        base = start
        settled = start
    }

    /// What is to be replaced in a text that is there as a whole; nil where it is no JSON.
    static func edits(_ redactor: Redactor, _ bytes: [UInt8], in range: Range<Int>, depth: Int) -> [RedactionEdit]? {
        var scan = JSONScan(redactor, from: range.lowerBound, depth: depth)
        do throws(Unredactable) {
            try scan.take(bytes, in: range, origin: 0)
            try scan.finish(bytes, origin: 0)
            return scan.takeEdits()
        } catch {
            return nil
        }
    }

    /// Whether bytes begin like an object or an array.
    static func looksLikeJSON(_ bytes: ArraySlice<UInt8>) -> Bool {
        let text = bytes.drop { $0.isSpace || $0 == 0x1E }
        guard let first = text.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return false }
        guard let second = text.dropFirst().first(where: { !$0.isSpace }) else { return true }
        return first == UInt8(ascii: "{") ? "\"}".utf8.contains(second) : "{[\"]-0123456789tfn".utf8.contains(second)
    }

    /// The edits up to the place that is settled; they are given once.
    mutating func takeEdits() -> [RedactionEdit] {
        let count = edits.prefix { $0.range.upperBound <= safe }.count
        defer { edits.removeFirst(count) }
        return Array(edits[..<count])
    }

    /// Up to where nothing changes any more.
    var safe: Int { min(doubts.first?.edit.range.lowerBound ?? .max, longText?.settled ?? settled) }

    /// Takes bytes that follow those taken before.
    ///
    /// - Parameters:
    ///   - bytes: what is not settled, and the bytes that follow.
    ///   - range: those that were not taken before.
    ///   - origin: the place of the first of `bytes`.
    mutating func take(_ bytes: [UInt8], in range: Range<Int>, origin: Int) throws(Unredactable) {
        var place = range.lowerBound
        while place < range.upperBound {
            if tokenizer.isFresh {
                while place < range.upperBound, bytes[place].isSpace || bytes[place] == 0x1E { place += 1 }
                base = place + origin - tokenizer.offset
                settled = place + origin
                if place == range.upperBound { return }
            }
            let fault = feed(bytes, place..<range.upperBound)
            try settle(bytes, origin)
            guard let fault else { break }
            // Another text may follow the first.
            place = fault.offset + base - origin
            guard tokenizer.isAtEnd else {
                // What is too long before the fault comes before it, however the bytes are cut.
                try lookAtOpenToken(bytes, origin)
                throw Unredactable(.malformed, at: place + origin)
            }
            tokenizer = JSONTokenizer()
            base = place + origin
        }
        try lookAtOpenToken(bytes, origin)
    }

    /// Takes the first bytes if they are a whole text in which nothing is to be replaced.
    ///
    /// - Returns: whether they are.
    mutating func passes(_ bytes: [UInt8]) -> Bool {
        guard PlainJSON.holds(redactor, bytes, depth: depth) else { return false }
        settled = bytes.count
        return true
    }

    /// Says that no bytes follow.
    mutating func finish(_ bytes: [UInt8], origin: Int) throws(Unredactable) {
        if tokenizer.isFresh { return }
        var fault: JSONFault?
        do throws(JSONFault) {
            try tokenizer.finish { tokens.append($0) }
        } catch {
            fault = error
        }
        try settle(bytes, origin)
        if fault != nil { throw Unredactable(.truncated, at: bytes.count + origin) }
        settled = bytes.count + origin
    }

    mutating func feed(_ bytes: [UInt8], _ range: Range<Int>) -> JSONFault? {
        do throws(JSONFault) {
            try bytes.withUnsafeBufferPointer { bytes throws(JSONFault) in
                try tokenizer.feed(UnsafeBufferPointer(rebasing: bytes[range])) { tokens.append($0) }
            }
            return nil
        } catch {
            return error
        }
    }
}

// MARK: - Tokens

extension JSONScan {
    mutating func settle(_ bytes: [UInt8], _ origin: Int) throws(Unredactable) {
        for token in tokens {
            let token = token.moved(by: base)
            guard token.start - settled <= TextScan.window || hidden != nil else {
                throw Unredactable(.tooLong, at: token.start)
            }
            try take(token, bytes, origin)
            if token.kind != .name, hidden == nil { settled = token.end }
            if let doubt = doubts.first, settled - doubt.edit.range.lowerBound > TextScan.window { endDoubts() }
        }
        tokens.removeAll(keepingCapacity: true)
        if tokenizer.isAtEnd { settled = max(settled, base + tokenizer.offset) }
    }

    mutating func take(_ token: JSONTokenizer.Token, _ bytes: [UInt8], _ origin: Int) throws(Unredactable) {
        if hidden != nil { return passOver(token, bytes, origin) }
        switch token.kind {
        case .name: takeName(token, bytes, origin)
        case .objectStart, .arrayStart:
            if let member, isSecret(member, length: 0) {
                hidden = Hidden(start: token.start, depth: 1, member: member)
            } else if isOfSecretPair {
                hidden = Hidden(start: token.start, depth: 1, member: nil)
            } else {
                open(token.kind, bytes, origin)
            }
        case .objectEnd, .arrayEnd:
            let container = containers.removeLast()
            names.removeLast(names.count - container.nameEnd)
            // Those of inner containers are behind those of outer ones.
            while let doubt = doubts.last, doubt.depth > containers.count { doubts.removeLast() }
        case .string, .number, .true, .false, .null: try takeScalar(token, bytes, origin)
        }
    }

    private mutating func open(_ kind: JSONTokenizer.Token.Kind, _ bytes: [UInt8], _ origin: Int) {
        let nameEnd = names.count
        if nameEnd < Self.namesLimit { addName(bytes, origin) }
        let isInArray = member == nil && !containers.isEmpty
        keep(bytes, origin)
        var container = Container(nameEnd: nameEnd)
        container.mayBePair = isInArray && kind == .arrayStart
        containers.append(container)
    }

    /// Whether what comes next stands behind the name of a secret in a pair.
    var isOfSecretPair: Bool { member == nil && containers.last?.namesSecret == true }

    /// Each secret tells the way to it, which must not grow with all that is around it.
    private static let namesLimit = 256

    private mutating func addName(_ bytes: [UInt8], _ origin: Int) {
        if let member {
            names.append(UInt8(ascii: "."))
            names += redactor.shownName(bytes.content(of: member.token, origin))
        } else if !containers.isEmpty {
            names += "[*]".utf8
        }
    }

    mutating func takeName(_ token: JSONTokenizer.Token, _ bytes: [UInt8], _ origin: Int) {
        let name =
            token.hasEscapes ? bytes.decodedContent(of: token, origin).bytes[...] : bytes.content(of: token, origin)
        let meaning = redactor.meaning(of: name)
        member = Member(token: token, meaning: meaning)
        guard meaning.contains(.signIn) else { return }
        containers[containers.count - 1].hasSignIn = true
        let depth = containers.count
        believe { $0.depth == depth && !$0.isNamed }
    }

    /// Says that the member or element stays; what is secret by its look is replaced in its name.
    mutating func keep(_ bytes: [UInt8], _ origin: Int) {
        guard let member else {
            if !containers.isEmpty { containers[containers.count - 1].mayBePair = false }
            return
        }
        let isFirst = containers[containers.count - 1].keptCount == 0
        containers[containers.count - 1].keptCount += 1
        self.member = nil
        if isFirst, redactor.dropsItems, let comma = comma(before: member, bytes, origin) {
            edits.append(RedactionEdit(comma..<comma + 1, "", ""))
        }
        let content = bytes.content(of: member.token, origin)
        guard content.count >= TokenPrefix.leastCount else { return }
        edits += redactor.textEdits(bytes, in: content.startIndex..<content.endIndex, rules: [], depth: depth)
            .map { RedactionEdit($0.range.moved(by: origin), $0.text, "\(way(nil, bytes, origin)).\($0.way)") }
    }

    func comma(before member: Member, _ bytes: [UInt8], _ origin: Int) -> Int? {
        bytes[(settled - origin)..<(member.token.start - origin)].firstIndex(of: UInt8(ascii: ",")).map { $0 + origin }
    }

    /// Takes what was doubtful for secret.
    mutating func believe(_ isSecret: (Doubt) -> Bool) {
        if doubts.isEmpty { return }
        for doubt in doubts where isSecret(doubt) {
            let range = doubt.edit.range
            let index = edits.lastIndex { $0.range.upperBound <= range.lowerBound }.map { $0 + 1 } ?? 0
            // What was found inside of it goes with it.
            let inside = edits[index...].prefix { $0.range.upperBound <= range.upperBound }
            edits.replaceSubrange(inside.startIndex..<inside.endIndex, with: [doubt.edit])
        }
        doubts.removeAll(where: isSecret)
    }

    /// Takes what is too long in doubt for secret; a value beside so much else is hardly one of a pair.
    mutating func endDoubts() {
        believe { !$0.isNamed }
        doubts.removeAll()
    }

    /// The way to a value: to a member's, or to one in an array.
    func way(_ member: Member?, _ bytes: [UInt8], _ origin: Int) -> String {
        var way = names
        if let member {
            way.append(UInt8(ascii: "."))
            way += redactor.shownName(bytes.content(of: member.token, origin))
        }
        return "$" + String(decoding: way, as: UTF8.self)
    }
}

// MARK: - Secret values

extension JSONScan {
    /// Goes on through a secret object or array.
    mutating func passOver(_ token: JSONTokenizer.Token, _ bytes: [UInt8], _ origin: Int) {
        guard let current = hidden else { return }
        var depth = current.depth
        switch token.kind {
        case .objectStart, .arrayStart: depth += 1
        case .objectEnd, .arrayEnd: depth -= 1
        default: break
        }
        hidden = Hidden(start: current.start, depth: depth, member: current.member, isCut: current.isCut)
        guard depth == 0 else { return }
        hidden = nil
        let range = current.start..<token.end
        if current.isCut {
            edits.append(RedactionEdit(settled..<token.end, "", ""))
        } else {
            let secret = bytes[range.moved(by: -origin)]
            let text = range.count > TextScan.window ? Redactor.placeholder : redactor.replacement(for: secret)
            hide(range, current.member, text ?? Redactor.placeholder, bytes, origin)
        }
        member = nil
    }

    /// Replaces the value of a member, or takes the member out. Elements of an array are replaced.
    mutating func hide(
        _ value: Range<Int>,
        _ member: Member?,
        _ text: String,
        _ bytes: [UInt8],
        _ origin: Int
    ) {
        let way = way(member, bytes, origin)
        guard let member else { return edits.append(RedactionEdit(value, "\"\(text)\"", way + "[*]")) }
        guard redactor.dropsItems else {
            containers[containers.count - 1].keptCount += 1
            self.member = nil
            return edits.append(RedactionEdit(value, "\"\(text)\"", way))
        }
        // With the comma in front of it; the first that stays loses the comma in front of that.
        let start = comma(before: member, bytes, origin) ?? settled
        edits.append(RedactionEdit(start..<value.upperBound, "", way))
        self.member = nil
    }
}

extension Range<Int> {
    func moved(by distance: Int) -> Range<Int> {
        lowerBound + distance..<upperBound + distance
    }
}

extension JSONTokenizer.Token {
    func moved(by distance: Int) -> Self {
        Self(kind, start + distance, end + distance, hasEscapes: hasEscapes)
    }
}

extension [UInt8] {
    /// What stands between the quotes of a token.
    func content(of token: JSONTokenizer.Token, _ origin: Int) -> ArraySlice<UInt8> {
        self[(token.start + 1 - origin)..<(token.end - 1 - origin)]
    }

    func decodedContent(of token: JSONTokenizer.Token, _ origin: Int) -> DecodedText {
        DecodedText(self, (token.start + 1 - origin)..<(token.end - 1 - origin), .json)
    }
}
