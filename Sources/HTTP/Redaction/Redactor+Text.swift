extension Redactor {
    /// Text for people (an error, a line of a log) with its secrets replaced: what is known by its look, what stands
    /// behind a name (`password=x`, `"token": "x"`, `Cookie: a=b`), and those of the URLs in it.
    public func redact(text: String) -> String {
        let bytes = Array(text.utf8)
        return redacted(text, bytes, textEdits(bytes, in: 0..<bytes.count, rules: .all, depth: 0))
    }

    /// Text with its secrets replaced, as without an audit.
    ///
    /// - Parameters:
    ///   - text: in any words.
    ///   - place: what the audit calls the text: `error`.
    ///   - audit: takes what was found.
    public func redact(text: String, at place: String, noting audit: inout RedactionAudit) -> String {
        let bytes = Array(text.utf8)
        let edits = textEdits(bytes, in: 0..<bytes.count, rules: .all, depth: 0)
        audit.note(edits, at: place)
        return redacted(text, bytes, edits)
    }

    /// What is to be replaced in text that is there as a whole. Where something is too long to tell what it is, the text
    /// goes from there on.
    func textEdits(
        _ bytes: [UInt8],
        in range: Range<Int>,
        rules: TextScan.Rules,
        depth: Int
    ) -> [RedactionEdit] {
        if rules.isEmpty ? range.count < TokenPrefix.leastCount : TextScan.isHarmless(bytes, range) { return [] }
        var scan = TextScan(self, bytes, in: range, rules: depth < TextScan.depthLimit ? rules : [], depth: depth)
        let settled = scan.run(from: range.lowerBound)
        if settled < range.upperBound {
            scan.edits.append(RedactionEdit(settled..<range.upperBound, Self.placeholder, "<too long>"))
        }
        return scan.edits
    }

    /// What is to be replaced in percent-encoded text.
    func encodedTextEdits(
        _ bytes: [UInt8],
        _ range: Range<Int>,
        _ encoding: DecodedText.Encoding = .percent,
        rules: TextScan.Rules,
        depth: Int,
        isDocument: Bool = false
    ) -> [RedactionEdit] {
        guard bytes[range].contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return valueEdits(bytes, in: range, rules: rules, depth: depth, isDocument: isDocument)
        }
        let text = DecodedText(bytes, range, encoding)
        return valueEdits(text.bytes, in: 0..<text.bytes.count, rules: rules, depth: depth, isDocument: isDocument)
            .map(text.encoded)
    }

    /// What is to be replaced in a value that is there as a whole: JSON, a GraphQL document or text.
    func valueEdits(
        _ bytes: [UInt8],
        in range: Range<Int>,
        rules: TextScan.Rules,
        depth: Int,
        isDocument: Bool = false
    ) -> [RedactionEdit] {
        if depth <= 1, JSONScan.looksLikeJSON(bytes[range]),
            let edits = JSONScan.edits(self, bytes, in: range, depth: depth + 1)
        {
            return edits
        }
        guard isDocument else { return textEdits(bytes, in: range, rules: rules, depth: depth) }
        return documentEdits(bytes, in: range, depth: depth)
    }
}
