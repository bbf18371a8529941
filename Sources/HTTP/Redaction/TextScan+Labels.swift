extension TextScan {
    /// Scans a header line, or `password: x` within a line, optionally with spaces before the colon.
    mutating func label(at candidate: Candidate, nameEnd: Int, _ lowest: Int) -> Step {
        var start = nameEnd
        while start > lowest, bytes[start - 1].isWord || bytes[start - 1] == UInt8(ascii: "-") { start -= 1 }
        guard start < nameEnd else { return .pass }
        let name = bytes[start..<nameEnd]
        let value = endOfRun(candidate.start + 1, candidate, \.isInlineSpace)
        guard nameEnd == candidate.start else {
            guard redactor.meaning(of: name).isSecretInPlainText else { return .pass }
            return self.value(of: name, .secret, from: value, candidate)
        }
        let header = SecretNames.header(name)
        let isField = !header.isDisjoint(with: [.credentials, .challenge, .cookies, .cookie])
        if isAtLineStart(start) || (isField && !isQuoted(value, candidate)) {
            return field(start..<candidate.start, header, from: value, candidate)
        }
        guard redactor.meaning(of: name).isSecretInPlainText else { return .pass }
        return self.value(of: name, .secret, from: value, candidate)
    }

    private mutating func field(
        _ place: Range<Int>,
        _ meaning: SecretNames.Header,
        from value: Int,
        _ candidate: Candidate
    ) -> Step {
        let name = String(decoding: bytes[place], as: UTF8.self)
        guard redactor.isSecret(header: name, meaning: meaning) else { return .pass }
        let end =
            isAtLineStart(place.lowerBound)
            ? endOfRun(value, candidate) { !isLineEnd($0) } : endOfField(value, behind: place, candidate)
        if end == candidate.edge, !candidate.isFinal { return .more }
        guard value < end else { return .past(end) }
        edits += redactor.edits(ofField: name, meaning, bytes, in: value..<end).map {
            RedactionEdit($0.range, $0.text, $0.path.isEmpty ? "=\(name)" : $0.path)
        }
        return .past(end)
    }

    /// Returns the end of a header field within a line.
    ///
    /// If the field is in quotes or brackets, it ends with them. Otherwise it ends at a quote that doesn't belong to a
    /// parameter, or at the end of the line.
    private func endOfField(_ value: Int, behind name: Range<Int>, _ candidate: Candidate) -> Int {
        let opening = name.lowerBound > floor ? bytes[name.lowerBound - 1] : 0
        let escapes = escapes(before: name.lowerBound - 1, from: max(floor, name.upperBound - Self.lookBack))
        var inner: UInt8?
        for place in value..<candidate.edge {
            let byte = bytes[place]
            if isLineEnd(byte) { return place }
            if byte == UInt8(ascii: "]"), opening == UInt8(ascii: "[") { return place }
            guard byte.isQuote else { continue }
            let own = self.escapes(before: place, from: value)
            if opening.isQuote {
                if byte == opening, own == escapes { return place - own }
            } else if inner == nil {
                guard place - own > value, bytes[place - own - 1] == UInt8(ascii: "=") else { return place - own }
                inner = byte
            } else if inner == byte {
                inner = nil
            }
        }
        return candidate.edge
    }

    private func isQuoted(_ value: Int, _ candidate: Candidate) -> Bool {
        let start = endOfRun(value, candidate) { $0 == UInt8(ascii: "\\") }
        return start < candidate.edge && bytes[start].isQuote
    }

    /// Returns the number of backslashes before a position.
    private func escapes(before place: Int, from lowest: Int) -> Int {
        var start = place
        while start > lowest, bytes[start - 1] == UInt8(ascii: "\\") { start -= 1 }
        return place - start
    }

    /// Returns whether a line begins here, optionally with curl's `> ` or `< `.
    private func isAtLineStart(_ place: Int) -> Bool {
        if place == floor || bytes[place - 1] == 0x0A { return true }
        guard place - 2 >= floor, bytes[place - 1] == 0x20, "<>".utf8.contains(bytes[place - 2]) else { return false }
        return place - 2 == floor || bytes[place - 3] == 0x0A
    }
}
