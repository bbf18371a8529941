extension TextScan {
    /// Scans a URL, or a name followed by a colon.
    mutating func colon(at candidate: Candidate) -> Step {
        if rules.contains(.urls), candidate.start > floor, bytes[candidate.start - 1].isLetterOrDigit {
            guard let isURL = has("://", at: candidate.start, candidate) else { return .more }
            if isURL { return url(at: candidate) }
        }
        guard !rules.isDisjoint(with: [.pairs, .elements]), candidate.start > floor else { return .pass }
        let lowest = max(floor, candidate.start - Self.lookBack)
        var nameEnd = candidate.start
        while nameEnd > lowest, bytes[nameEnd - 1].isInlineSpace { nameEnd -= 1 }
        guard nameEnd > lowest else { return .pass }
        if bytes[nameEnd - 1].isQuote { return quotedPair(at: candidate, nameEnd: nameEnd - 1, lowest) }
        return rules.contains(.labels) ? label(at: candidate, nameEnd: nameEnd, lowest) : .pass
    }

    /// Scans a URL that begins at `://`.
    private mutating func url(at candidate: Candidate) -> Step {
        var end = endOfURL(candidate)
        if end == candidate.edge, !candidate.isFinal { return .more }
        if Redactor.isUserAndPassword(authority: authority(from: candidate.start + 3, before: end)) {
            // The password may contain a space.
            let rest = min(candidate.edge, end + Self.lookBack)
            let at = bytes[end..<rest].prefix { !isLineEnd($0) && !$0.isQuote }.firstIndex(of: UInt8(ascii: "@"))
            if at == nil, rest == candidate.edge, !candidate.isFinal { return .more }
            if let at {
                end = endOfRun(at, candidate, \.isURLByte)
                if end == candidate.edge, !candidate.isFinal { return .more }
            }
        }
        edits += redactor.edits(ofURL: bytes, in: candidate.start..<end, depth: depth)
        return .past(end)
    }

    private func authority(from start: Int, before end: Int) -> ArraySlice<UInt8> {
        bytes[min(start, end)..<end].prefix { !"/?#".utf8.contains($0) }
    }

    /// Scans a URL that has a user but no scheme: `//user:password@host/`.
    mutating func reference(at candidate: Candidate) -> Step {
        guard rules.contains(.urls), candidate.start == floor || bytes[candidate.start - 1] != bytes[candidate.start]
        else { return .pass }
        guard let isReference = has("//", at: candidate.start, candidate) else { return .more }
        guard isReference else { return .pass }
        let start = candidate.start + 2
        // Base64 may also contain two slashes, and is often long.
        let limit = min(candidate.edge, start + Self.lookBack)
        var place = start
        while place < limit, bytes[place].isURLByte, !"/?#@".utf8.contains(bytes[place]) { place += 1 }
        if place == candidate.edge, !candidate.isFinal { return .more }
        guard place < limit else { return .pass }
        if bytes[place] != UInt8(ascii: "@") {
            guard Redactor.isUserAndPassword(authority: bytes[start..<place]) else { return .pass }
            while place < limit, bytes[place].isURLByte, bytes[place] != UInt8(ascii: "@") { place += 1 }
            if place == candidate.edge, !candidate.isFinal { return .more }
            guard place < limit, bytes[place] == UInt8(ascii: "@") else { return .pass }
        }
        let end = endOfURL(candidate)
        if end == candidate.edge, !candidate.isFinal { return .more }
        edits += redactor.edits(ofURL: bytes, in: candidate.start..<end, depth: depth)
        return .past(end)
    }

    /// Scans the query or fragment of a URL without a scheme, if it begins with a name.
    mutating func query(at candidate: Candidate) -> Step {
        guard rules.contains(.urls) else { return .pass }
        var nameEnd = candidate.start + 1
        let highest = min(candidate.edge, nameEnd + Self.lookBack)
        while nameEnd < highest, bytes[nameEnd].isNameByte { nameEnd += 1 }
        if nameEnd == candidate.edge, !candidate.isFinal { return .more }
        guard nameEnd > candidate.start + 1, nameEnd < candidate.edge, "=&".utf8.contains(bytes[nameEnd]) else {
            return .pass
        }
        let end = endOfURL(candidate)
        if end == candidate.edge, !candidate.isFinal { return .more }
        let sign = bytes[candidate.start] == UInt8(ascii: "?") ? "?" : "#"
        edits += redactor.items(bytes, candidate.start, end, sign, depth)
        return .past(end)
    }

    /// Returns the end of the URL. If it ends with an authentication scheme, the credentials after it are included.
    private func endOfURL(_ candidate: Candidate) -> Int {
        let end = endOfRun(candidate.start, candidate, \.isURLByte)
        guard let equals = bytes[candidate.start..<end].suffix(10).lastIndex(of: UInt8(ascii: "=")) else { return end }
        return endOfCredentials(equals + 1..<end, candidate)
    }

    // MARK: name=value

    /// Scans `name=value`, `name = value` as in configuration files, or a query item that `query(at:)` doesn't
    /// recognize.
    mutating func pair(at candidate: Candidate) -> Step {
        guard !rules.isDisjoint(with: [.urls, .pairs, .elements]) else { return .pass }
        let lowest = max(floor, candidate.start - Self.lookBack)
        var nameEnd = candidate.start
        if rules.contains(.pairs) {
            while nameEnd > lowest, bytes[nameEnd - 1].isInlineSpace { nameEnd -= 1 }
        }
        var start = nameEnd
        while start > lowest, bytes[start - 1].isNameByte { start -= 1 }
        guard start < nameEnd else { return .pass }
        let name = bytes[start..<nameEnd]
        guard rules.contains(.pairs) || (start > floor && "?&#;".utf8.contains(bytes[start - 1])) else {
            return rules.contains(.elements) ? attribute(name, at: candidate) : .pass
        }
        let meaning = redactor.meaning(ofEncoded: name)
        guard meaning.isSecret || meaning.contains(.key) else { return .pass }
        guard rules.contains(.pairs) else { return value(of: name, meaning, from: candidate.start + 1, candidate) }
        let place = endOfRun(candidate.start + 1, candidate, \.isInlineSpace)
        let (isSpacedBefore, isSpacedBehind) = (nameEnd < candidate.start, place > candidate.start + 1)
        // Without spaces the result doesn't depend on the next word, which may be as long as the text and contain as
        // many pairs.
        guard isSpacedBefore || isSpacedBehind else { return value(of: name, meaning, from: place, candidate) }
        let word = endOfRun(place, candidate) { $0.isNameByte || $0 == UInt8(ascii: "=") }
        if word == candidate.edge, !candidate.isFinal { return .more }
        if let equals = bytes[place..<word].firstIndex(of: UInt8(ascii: "=")) {
            // `a == b` is a comparison, and in `a= b=c` the value of `a` is empty.
            let isComparison = isSpacedBefore && !isSpacedBehind && equals == place
            let isEmpty =
                !isSpacedBefore && isSpacedBehind && equals > place && equals + 1 < word
                && bytes[equals + 1] != UInt8(ascii: "=")
            if isComparison || isEmpty { return .pass }
        }
        return value(of: name, meaning, from: place, candidate)
    }

    /// Scans `name%3Dvalue`, a pair in the value of another one.
    mutating func encodedPair(at candidate: Candidate) -> Step {
        guard rules.contains(.pairs) else { return .pass }
        guard let isEquals = has("%3d", at: candidate.start, candidate, anyCase: true) else { return .more }
        let lowest = max(floor, candidate.start - Self.lookBack)
        var start = candidate.start
        while start > lowest, bytes[start - 1].isWord || bytes[start - 1] == UInt8(ascii: "-") { start -= 1 }
        guard isEquals, start < candidate.start else { return .pass }
        // The digits of a preceding escape don't belong to the name.
        if start - 1 >= lowest, bytes[start - 1] == UInt8(ascii: "%"),
            bytes[start...].prefix(2).allSatisfy({ $0.hexValue != nil })
        {
            start += 2
        }
        guard start < candidate.start else { return .pass }
        let name = bytes[start..<candidate.start]
        let meaning = redactor.meaning(of: name)
        guard meaning.isSecret else { return .pass }
        return value(of: name, meaning, from: candidate.start + 3, candidate)
    }

    // MARK: "name": value

    /// Scans `"name": value`, also with escaped quotes.
    private mutating func quotedPair(at candidate: Candidate, nameEnd: Int, _ lowest: Int) -> Step {
        let quote = bytes[nameEnd]
        var end = nameEnd
        while end > lowest, bytes[end - 1] == UInt8(ascii: "\\") { end -= 1 }
        var start = end
        while start > lowest, bytes[start - 1] != quote { start -= 1 }
        guard start > lowest, start < end else { return .pass }
        let name = bytes[start..<end]
        let meaning = redactor.meaning(of: name)
        guard meaning.isSecret || meaning.contains(.key) else { return .pass }
        let value = endOfRun(candidate.start + 1, candidate, \.isSpace)
        if !rules.contains(.pairs) {
            if value == candidate.edge, !candidate.isFinal { return .more }
            // In a script the value may be an expression: `"password": input.value`.
            guard value < candidate.edge, bytes[value].isQuote else { return .pass }
        }
        return self.value(of: name, meaning, from: value, candidate, nested: nameEnd - end)
    }

    /// Replaces the value after a name: a quoted string, a value in brackets, or a word.
    ///
    /// - Parameter nested: The number of backslashes before quotes within brackets, or `nil` if brackets don't begin a
    ///   value.
    mutating func value(
        of name: ArraySlice<UInt8>,
        _ meaning: SecretNames.Value,
        from mark: Int,
        _ candidate: Candidate,
        nested: Int? = nil
    ) -> Step {
        var start = endOfRun(mark, candidate) { $0 == UInt8(ascii: "\\") }
        var end: Int
        if start >= candidate.edge { return candidate.isFinal ? .pass : .more }
        if bytes[start].isQuote {
            end = endOfQuoted(start, candidate, escapes: start - mark)
            start += 1
        } else if let nested, bytes[start] == UInt8(ascii: "{") || bytes[start] == UInt8(ascii: "[") {
            end = endOfBrackets(start, candidate, escapes: nested)
        } else {
            end = endOfRun(start, candidate, \.isValueByte)
            end = endOfCredentials(start..<end, candidate)
        }
        if end == candidate.edge, !candidate.isFinal { return .more }
        guard start < end, meaning.isSecret || end - start >= Redactor.minKeyLength else { return .pass }
        return redact(start..<end, "=\(String(decoding: name, as: UTF8.self))")
    }

    /// Returns the end of a word, or of the next word if this one is an authentication scheme.
    private func endOfCredentials(_ word: Range<Int>, _ candidate: Candidate) -> Int {
        guard word.count <= 9, Self.schemes.contains(bytes[word].map { $0 | 0x20 }) else { return word.upperBound }
        let next = endOfRun(word.upperBound, candidate, \.isInlineSpace)
        let end = endOfRun(next, candidate, \.isValueByte)
        return end == next && (next < candidate.edge || candidate.isFinal) ? word.upperBound : end
    }

    private static let schemes = Set(["bearer", "basic", "token", "digest", "negotiate"].map { Array($0.utf8) })

    /// Returns the position of the closing quote.
    ///
    /// - Parameter escapes: The number of backslashes before the opening quote. A quote within has one more level of
    ///   them, and a backslash within is written as `2 * escapes + 2` backslashes.
    private func endOfQuoted(_ start: Int, _ candidate: Candidate, escapes: Int) -> Int {
        var count = 0
        for place in (start + 1)..<candidate.edge {
            if bytes[place] == bytes[start], count % (2 * escapes + 2) == escapes { return place - escapes }
            count = bytes[place] == UInt8(ascii: "\\") ? count + 1 : 0
        }
        return candidate.edge
    }

    private func endOfBrackets(_ start: Int, _ candidate: Candidate, escapes: Int) -> Int {
        var depth = 0
        var isInQuotes = false
        var count = 0
        for place in start..<candidate.edge {
            switch bytes[place] {
            case UInt8(ascii: "\"") where count % (2 * escapes + 2) == escapes: isInQuotes.toggle()
            case UInt8(ascii: "{") where !isInQuotes, UInt8(ascii: "[") where !isInQuotes: depth += 1
            case UInt8(ascii: "}") where !isInQuotes, UInt8(ascii: "]") where !isInQuotes: depth -= 1
            default: break
            }
            if depth == 0 { return place + 1 }
            count = bytes[place] == UInt8(ascii: "\\") ? count + 1 : 0
        }
        return candidate.edge
    }
}

extension UInt8 {
    var isInlineSpace: Bool { self == 0x20 || self == 0x09 }
    var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") }

    /// Whether URLs in text may contain this byte.
    fileprivate var isURLByte: Bool {
        switch self {
        case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "|"),
            UInt8(ascii: "^"):
            false
        default: true
        }
    }

    /// Whether the name of a pair may contain this byte.
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "%"): true
        default: isWord
        }
    }

    /// Whether an unquoted value may contain this byte.
    fileprivate var isValueByte: Bool { self > 0x20 && self != 0x7F && !"\"'<>\\&;,)]}#".utf8.contains(self) }
}
