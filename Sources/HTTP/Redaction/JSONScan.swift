/// An incremental scan of one or more consecutive JSON texts.
///
/// All positions are byte offsets from the beginning of the stream. A value and its name are known at the end of a
/// token. Everything before `settled` is final.
struct JSONScan {
    struct Container {
        /// The number of members of an object that are kept.
        var keptCount = 0
        /// Whether a member was found that makes a `state` next to it an OAuth secret.
        var hasSignIn = false
        /// Whether a member says that the value next to it is secret: `{"name": "token", "value": "x"}`. For a pair,
        /// whether its first element says so: `[["token", "x"]]`.
        var namesSecret = false
        /// Whether this is a nested array without elements so far. Its first element may be the name of the second.
        var mayBePair = false
        /// The length of `names` without the name of this container.
        let nameEnd: Int
    }

    /// A member whose value isn't complete.
    struct Member {
        let token: JSONTokenizer.Token
        let meaning: SecretNames.Value
    }

    /// A secret value that is being skipped.
    struct SkippedSecret {
        let start: Int
        let depth: Int
        /// The member, or `nil` for an element of an array.
        let member: Member?
        /// Whether the value is longer than the window, so that its replacement has already been written.
        var isTruncated = false
    }

    /// An undecided value: a `state` that is secret if an OAuth name follows, or a `value` that is secret if the name
    /// of a secret follows.
    struct UndecidedValue {
        let edit: RedactionEdit
        let depth: Int
        let isNamed: Bool
    }

    let redactor: Redactor
    let depth: Int
    var tokenizer = JSONTokenizer()
    /// The offset at which the tokenizer began.
    var base: Int
    var tokens: [JSONTokenizer.Token] = []
    var containers: [Container] = []
    var member: Member?
    var skipped: SkippedSecret?
    var undecided: [UndecidedValue] = []
    /// The concatenated names of the open containers, outermost first. The name of an array's element is `[*]`.
    var names: [UInt8] = []
    /// The start of the rest of a long string that is being scanned, and the last bytes decoded before it.
    var longText: (settled: Int, context: [UInt8])?
    var longTextPath = ""
    /// The end of the last token with which a value or container became final.
    var settled: Int
    /// The replacements before `settled`, in order.
    var edits: [RedactionEdit] = []

    init(_ redactor: Redactor, from start: Int = 0, depth: Int = 0) {
        self.redactor = redactor
        self.depth = depth
        base = start
        settled = start
    }

    /// Returns the replacements in a complete text, or `nil` if it isn't valid JSON.
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

    /// Returns whether bytes begin like an object or an array.
    static func looksLikeJSON(_ bytes: ArraySlice<UInt8>) -> Bool {
        let text = bytes.drop { $0.isSpace || $0 == 0x1E }
        guard let first = text.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return false }
        guard let second = text.dropFirst().first(where: { !$0.isSpace }) else { return true }
        return first == UInt8(ascii: "{") ? "\"}".utf8.contains(second) : "{[\"]-0123456789tfn".utf8.contains(second)
    }

    /// Removes and returns the edits that are final.
    mutating func takeEdits() -> [RedactionEdit] {
        let count = edits.prefix { $0.range.upperBound <= safe }.count
        defer { edits.removeFirst(count) }
        return Array(edits[..<count])
    }

    /// The position before which nothing changes anymore.
    var safe: Int { min(undecided.first?.edit.range.lowerBound ?? .max, longText?.settled ?? settled) }

    /// Scans bytes that follow those scanned before.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that aren't final, followed by the new ones.
    ///   - range: The range of the new bytes.
    ///   - origin: The offset of the first of `bytes`.
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
            // Another text may follow the first one.
            place = fault.offset + base - origin
            guard tokenizer.isAtEnd else {
                // If a value before the fault is too long, that is reported first, regardless of how the bytes are
                // split.
                try scanIncompleteToken(bytes, origin)
                throw Unredactable(.malformed, at: place + origin)
            }
            tokenizer = JSONTokenizer()
            base = place + origin
        }
        try scanIncompleteToken(bytes, origin)
    }

    /// Accepts the first bytes if they are a complete text in which nothing must be replaced.
    ///
    /// - Returns: Whether the bytes were accepted.
    mutating func passes(_ bytes: [UInt8]) -> Bool {
        guard CleanJSONCheck.isClean(redactor, bytes, depth: depth) else { return false }
        settled = bytes.count
        return true
    }

    /// Ends the input.
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
            guard token.start - settled <= TextScan.window || skipped != nil else {
                throw Unredactable(.tooLong, at: token.start)
            }
            try take(token, bytes, origin)
            if token.kind != .name, skipped == nil { settled = token.end }
            if let value = undecided.first, settled - value.edit.range.lowerBound > TextScan.window { dropUndecided() }
        }
        tokens.removeAll(keepingCapacity: true)
        if tokenizer.isAtEnd { settled = max(settled, base + tokenizer.offset) }
    }

    mutating func take(_ token: JSONTokenizer.Token, _ bytes: [UInt8], _ origin: Int) throws(Unredactable) {
        if skipped != nil { return skip(token, bytes, origin) }
        switch token.kind {
        case .name: takeName(token, bytes, origin)
        case .objectStart, .arrayStart:
            if let member, isSecret(member, length: 0) {
                skipped = SkippedSecret(start: token.start, depth: 1, member: member)
            } else if isOfSecretPair {
                skipped = SkippedSecret(start: token.start, depth: 1, member: nil)
            } else {
                open(token.kind, bytes, origin)
            }
        case .objectEnd, .arrayEnd:
            let container = containers.removeLast()
            names.removeLast(names.count - container.nameEnd)
            // Undecided values of inner containers follow those of outer ones.
            while let value = undecided.last, value.depth > containers.count { undecided.removeLast() }
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

    /// Whether the next value follows the name of a secret in a pair.
    var isOfSecretPair: Bool { member == nil && containers.last?.namesSecret == true }

    /// The length of `names` from which on no names are added, so that the path of each secret doesn't grow with the
    /// nesting.
    private static let namesLimit = 256

    private mutating func addName(_ bytes: [UInt8], _ origin: Int) {
        if let member {
            names.append(UInt8(ascii: "."))
            names += redactor.redactedName(bytes.content(of: member.token, origin))
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
        markSecret { $0.depth == depth && !$0.isNamed }
    }

    /// Keeps the current member or element. Secrets with a known format are replaced in the member's name.
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
        guard content.count >= TokenPrefix.minCount else { return }
        edits += redactor.textEdits(bytes, in: content.startIndex..<content.endIndex, rules: [], depth: depth)
            .map { RedactionEdit($0.range.moved(by: origin), $0.text, "\(path(nil, bytes, origin)).\($0.path)") }
    }

    func comma(before member: Member, _ bytes: [UInt8], _ origin: Int) -> Int? {
        bytes[(settled - origin)..<(member.token.start - origin)].firstIndex(of: UInt8(ascii: ",")).map { $0 + origin }
    }

    /// Treats undecided values as secret.
    mutating func markSecret(_ isSecret: (UndecidedValue) -> Bool) {
        if undecided.isEmpty { return }
        for value in undecided where isSecret(value) {
            let range = value.edit.range
            let index = edits.lastIndex { $0.range.upperBound <= range.lowerBound }.map { $0 + 1 } ?? 0
            // Edits inside the value are replaced with it.
            let inside = edits[index...].prefix { $0.range.upperBound <= range.upperBound }
            edits.replaceSubrange(inside.startIndex..<inside.endIndex, with: [value.edit])
        }
        undecided.removeAll(where: isSecret)
    }

    /// Decides about values that would stay undecided too long. A `state` is treated as secret. A `value` isn't,
    /// because it is hardly part of a pair with so much data next to it.
    mutating func dropUndecided() {
        markSecret { !$0.isNamed }
        undecided.removeAll()
    }

    /// Returns the path to a member's value, or to a value in an array.
    func path(_ member: Member?, _ bytes: [UInt8], _ origin: Int) -> String {
        var path = names
        if let member {
            path.append(UInt8(ascii: "."))
            path += redactor.redactedName(bytes.content(of: member.token, origin))
        }
        return "$" + String(decoding: path, as: UTF8.self)
    }
}

// MARK: - Secret values

extension JSONScan {
    /// Skips a token of a secret object or array.
    mutating func skip(_ token: JSONTokenizer.Token, _ bytes: [UInt8], _ origin: Int) {
        guard let current = skipped else { return }
        var depth = current.depth
        switch token.kind {
        case .objectStart, .arrayStart: depth += 1
        case .objectEnd, .arrayEnd: depth -= 1
        default: break
        }
        skipped = SkippedSecret(
            start: current.start,
            depth: depth,
            member: current.member,
            isTruncated: current.isTruncated
        )
        guard depth == 0 else { return }
        skipped = nil
        let range = current.start..<token.end
        if current.isTruncated {
            edits.append(RedactionEdit(settled..<token.end, "", ""))
        } else {
            let secret = bytes[range.moved(by: -origin)]
            let text = range.count > TextScan.window ? Redactor.placeholder : redactor.replacement(for: secret)
            redact(range, current.member, text ?? Redactor.placeholder, bytes, origin)
        }
        member = nil
    }

    /// Replaces the value of a member, or removes the member. Elements of an array are always replaced.
    mutating func redact(
        _ value: Range<Int>,
        _ member: Member?,
        _ text: String,
        _ bytes: [UInt8],
        _ origin: Int
    ) {
        let path = path(member, bytes, origin)
        guard let member else { return edits.append(RedactionEdit(value, "\"\(text)\"", path + "[*]")) }
        guard redactor.dropsItems else {
            containers[containers.count - 1].keptCount += 1
            self.member = nil
            return edits.append(RedactionEdit(value, "\"\(text)\"", path))
        }
        // Removes the comma before it too. The first member that is kept loses the comma before it in `keep`.
        let start = comma(before: member, bytes, origin) ?? settled
        edits.append(RedactionEdit(start..<value.upperBound, "", path))
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
    /// Returns the text between the quotes of a token.
    func content(of token: JSONTokenizer.Token, _ origin: Int) -> ArraySlice<UInt8> {
        self[(token.start + 1 - origin)..<(token.end - 1 - origin)]
    }

    func decodedContent(of token: JSONTokenizer.Token, _ origin: Int) -> DecodedText {
        DecodedText(self, (token.start + 1 - origin)..<(token.end - 1 - origin), .json)
    }
}
