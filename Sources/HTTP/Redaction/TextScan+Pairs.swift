extension TextScan {
    /// A URL, or a name with a colon behind it.
    mutating func colon(at candidate: Candidate) -> Step {
        if rules.contains(.urls), candidate.start > floor, bytes[candidate.start - 1].isLetterOrDigit {
            guard let isURL = has("://", at: candidate.start, candidate) else { return .more }
            if isURL { return url(at: candidate) }
        }
        guard rules.contains(.pairs), candidate.start > floor else { return .pass }
        let lowest = max(floor, candidate.start - Self.lookBack)
        var nameEnd = candidate.start
        while nameEnd > lowest, bytes[nameEnd - 1] == 0x20 || bytes[nameEnd - 1] == 0x09 { nameEnd -= 1 }
        guard nameEnd > lowest else { return .pass }
        if bytes[nameEnd - 1].isQuote { return quotedPair(at: candidate, nameEnd: nameEnd - 1, lowest) }
        return rules.contains(.labels) && nameEnd == candidate.start ? label(at: candidate, lowest) : .pass
    }

    /// From `://` to where no URL goes on.
    private mutating func url(at candidate: Candidate) -> Step {
        let end = endOfRun(candidate.start, candidate, \.isURLByte)
        if end == candidate.edge, !candidate.isFinal { return .more }
        edits += redactor.edits(ofURL: bytes, in: candidate.start..<end, depth: depth)
        return .past(end)
    }

    // MARK: name=value

    /// `name=value`, and an item of a query whose URL has no scheme.
    mutating func pair(at candidate: Candidate) -> Step {
        guard !rules.isDisjoint(with: [.urls, .pairs]) else { return .pass }
        let lowest = max(floor, candidate.start - Self.lookBack)
        var start = candidate.start
        while start > lowest, bytes[start - 1].isNameByte { start -= 1 }
        guard start < candidate.start,
            rules.contains(.pairs) || (start > floor && "?&#;".utf8.contains(bytes[start - 1]))
        else { return .pass }
        let name = bytes[start..<candidate.start]
        let meaning = redactor.meaning(ofEncoded: name)
        guard meaning.isSecret || meaning.contains(.key) else { return .pass }
        return value(of: name, meaning, from: candidate.start + 1, candidate, mayNest: false)
    }

    // MARK: "name": value

    /// `"name": value`, also with its quotes escaped.
    private mutating func quotedPair(at candidate: Candidate, nameEnd: Int, _ lowest: Int) -> Step {
        let quote = bytes[nameEnd]
        var end = nameEnd
        if end > lowest, bytes[end - 1] == UInt8(ascii: "\\") { end -= 1 }
        var start = end
        while start > lowest, bytes[start - 1] != quote { start -= 1 }
        guard start > lowest, start < end else { return .pass }
        let name = bytes[start..<end]
        let meaning = redactor.meaning(of: name)
        guard meaning.isSecret || meaning.contains(.key) else { return .pass }
        let value = endOfRun(candidate.start + 1, candidate, \.isSpace)
        return self.value(of: name, meaning, from: value, candidate, mayNest: true)
    }

    /// What stands behind a name: in quotes, in brackets, or up to where a word ends.
    private mutating func value(
        of name: ArraySlice<UInt8>,
        _ meaning: SecretNames.Value,
        from start: Int,
        _ candidate: Candidate,
        mayNest: Bool
    ) -> Step {
        var start = start
        var end: Int
        if start < candidate.edge, bytes[start] == UInt8(ascii: "\\") { start += 1 }
        if start >= candidate.edge { return candidate.isFinal ? .pass : .more }
        if bytes[start].isQuote {
            let isEscaped = bytes[start - 1] == UInt8(ascii: "\\")
            end = endOfQuoted(start, candidate, isEscaped: isEscaped)
            start += 1
        } else if mayNest, bytes[start] == UInt8(ascii: "{") || bytes[start] == UInt8(ascii: "[") {
            end = endOfBrackets(start, candidate)
        } else {
            end = endOfRun(start, candidate, \.isValueByte)
        }
        if end == candidate.edge, !candidate.isFinal { return .more }
        guard start < end, meaning.isSecret || end - start >= Redactor.leastKeyLength else { return .pass }
        return hide(start..<end, "=\(String(decoding: name, as: UTF8.self))")
    }

    private func endOfQuoted(_ start: Int, _ candidate: Candidate, isEscaped: Bool) -> Int {
        var place = start + 1
        while place < candidate.edge {
            if bytes[place] == bytes[start], !isEscaped || bytes[place - 1] == UInt8(ascii: "\\") {
                return isEscaped ? place - 1 : place
            }
            place += !isEscaped && bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return candidate.edge
    }

    private func endOfBrackets(_ start: Int, _ candidate: Candidate) -> Int {
        var depth = 0
        var isInQuotes = false
        for place in start..<candidate.edge {
            switch bytes[place] {
            case UInt8(ascii: "\"") where bytes[place - 1] != UInt8(ascii: "\\"): isInQuotes.toggle()
            case UInt8(ascii: "{") where !isInQuotes, UInt8(ascii: "[") where !isInQuotes: depth += 1
            case UInt8(ascii: "}") where !isInQuotes, UInt8(ascii: "]") where !isInQuotes: depth -= 1
            default: break
            }
            if depth == 0 { return place + 1 }
        }
        return candidate.edge
    }

    // MARK: Name: value

    /// A line of a head, or `password: x` within a line.
    private mutating func label(at candidate: Candidate, _ lowest: Int) -> Step {
        var start = candidate.start
        while start > lowest, bytes[start - 1].isWord || bytes[start - 1] == UInt8(ascii: "-") { start -= 1 }
        guard start < candidate.start else { return .pass }
        let name = bytes[start..<candidate.start]
        if isAtLineStart(start) {
            let text = String(decoding: name, as: UTF8.self)
            let meaning = SecretNames.header(text)
            guard redactor.isSecret(header: text, meaning: meaning) else { return .pass }
            let value = endOfRun(candidate.start + 1, candidate) { $0 == 0x20 || $0 == 0x09 }
            let end = endOfRun(value, candidate) { $0 != 0x0A && $0 != 0x0D }
            if end == candidate.edge, !candidate.isFinal { return .more }
            edits += redactor.edits(ofField: text, meaning, bytes, in: value..<end)
            return .past(end)
        }
        guard redactor.meaning(of: name).isSecretWithin else { return .pass }
        let value = endOfRun(candidate.start + 1, candidate) { $0 == 0x20 || $0 == 0x09 }
        return self.value(of: name, .secret, from: value, candidate, mayNest: false)
    }

    /// Whether a line begins here, behind curl's `> ` or `< ` too.
    private func isAtLineStart(_ place: Int) -> Bool {
        if place == floor || bytes[place - 1] == 0x0A { return true }
        guard place - 2 >= floor, bytes[place - 1] == 0x20, "<>".utf8.contains(bytes[place - 2]) else { return false }
        return place - 2 == floor || bytes[place - 3] == 0x0A
    }
}

extension UInt8 {
    fileprivate var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") }

    /// What URLs in text are made of.
    fileprivate var isURLByte: Bool { self > 0x20 && self != 0x7F && !"\"'<>\\`{}|^".utf8.contains(self) }

    /// What the name of a pair is made of.
    fileprivate var isNameByte: Bool { isWord || "-.[]%".utf8.contains(self) }

    /// What a value without quotes is made of.
    fileprivate var isValueByte: Bool { self > 0x20 && self != 0x7F && !"\"'<>\\&;,)]}#".utf8.contains(self) }
}
