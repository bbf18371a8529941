/// Scans for secrets in XML and HTML.
extension TextScan {
    /// The maximum number of bytes after an attribute's start that are searched for the end of its tag.
    private static let tagLimit = 1 << 10

    /// Scans the content of an element with a secret name: `<wsse:Password>x</wsse:Password>`.
    mutating func element(at candidate: Candidate) -> Step {
        guard rules.contains(.elements), let tag = tag(before: candidate.start) else { return .pass }
        let name = bytes[tag].prefix { !$0.isSpace }
        guard bytes[tag].last != UInt8(ascii: "/"), redactor.meaning(of: localPart(of: name)).isSecretInPlainText else {
            return .pass
        }
        var start = endOfRun(candidate.start + 1, candidate, \.isSpace)
        guard let isData = has("<![CDATA[", at: start, candidate) else { return .more }
        if isData { start += 9 }
        let end = endOfRun(start, candidate) { $0 != UInt8(ascii: isData ? "]" : "<") }
        if end == candidate.edge, !candidate.isFinal { return .more }
        guard start < end else { return .pass }
        return redact(start..<end, "=\(String(decoding: name, as: UTF8.self))")
    }

    /// Scans `password="x"` in a tag, or `value="x"` next to `name="password"`.
    mutating func attribute(_ name: ArraySlice<UInt8>, at candidate: Candidate) -> Step {
        let start = candidate.start + 1
        if start == candidate.edge { return candidate.isFinal ? .pass : .more }
        guard bytes[start].isQuote else { return .pass }
        if redactor.meaning(of: name).isSecretInPlainText { return value(of: name, .secret, from: start, candidate) }
        guard name.elementsEqual("value".utf8) || name.elementsEqual("content".utf8) else { return .pass }
        let lowest = max(floor, name.startIndex - Self.lookBack)
        guard let open = bytes[lowest..<name.startIndex].lastIndex(of: UInt8(ascii: "<")) else { return .pass }
        let edge = min(candidate.edge, start + Self.tagLimit)
        let end = bytes[start..<edge].firstIndex(of: UInt8(ascii: ">")) ?? edge
        if end == candidate.edge, !candidate.isFinal { return .more }
        guard let other = secretName(in: open..<end) else { return .pass }
        return value(of: other, .secret, from: start, candidate)
    }

    /// Returns the content of the opening tag that ends here, without its angle brackets, or `nil` if no opening tag
    /// ends here.
    private func tag(before end: Int) -> Range<Int>? {
        let lowest = max(floor, end - Self.lookBack)
        guard let open = bytes[lowest..<end].lastIndex(of: UInt8(ascii: "<")), open + 1 < end,
            !"/!?".utf8.contains(bytes[open + 1])
        else { return nil }
        return open + 1..<end
    }

    private func localPart(of name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
    }

    /// Returns the value of `name` or `id` in a tag, if it is the name of a secret.
    private func secretName(in tag: Range<Int>) -> ArraySlice<UInt8>? {
        for place in tag where bytes[place] == UInt8(ascii: "=") && place + 1 < tag.upperBound {
            let attribute = bytes[tag.lowerBound..<place].suffix(while: \.isWord)
            let quote = bytes[place + 1]
            guard quote.isQuote, attribute.elementsEqual("name".utf8) || attribute.elementsEqual("id".utf8) else {
                continue
            }
            let value = bytes[(place + 2)..<tag.upperBound].prefix { $0 != quote }
            if redactor.meaning(of: value).isSecretInPlainText { return value }
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    /// Returns the longest suffix of matching bytes.
    fileprivate func suffix(while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        self[(lastIndex { !belongs($0) }.map { $0 + 1 } ?? startIndex)...]
    }
}
