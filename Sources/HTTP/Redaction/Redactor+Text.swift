extension Redactor {
    /// Returns text, such as an error message or a line of a log, with its secrets replaced.
    ///
    /// Replaces secrets with a known format, values after a secret name (`password=x`, `"token": "x"`, `Cookie: a=b`),
    /// and secrets in URLs.
    public func redact(text: String) -> String {
        let bytes = Array(text.utf8)
        return redacted(text, bytes, textEdits(bytes, in: 0..<bytes.count, rules: .all, depth: 0))
    }

    /// Returns text with its secrets replaced, and records their locations.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - place: The name of the text in the audit, such as `error`.
    ///   - audit: The audit to which the locations are added.
    public func redact(text: String, at place: String, recordingTo audit: inout Audit) -> String {
        let bytes = Array(text.utf8)
        let edits = textEdits(bytes, in: 0..<bytes.count, rules: .all, depth: 0)
        audit.record(edits, at: place)
        return redacted(text, bytes, edits)
    }

    /// Returns the replacements in a complete text. If a part is too long to be checked, everything from there on is
    /// replaced.
    func textEdits(
        _ bytes: [UInt8],
        in range: Range<Int>,
        rules: TextScan.Rules,
        depth: Int
    ) -> [RedactionEdit] {
        if rules.isEmpty ? range.count < TokenPrefix.minCount : TextScan.isHarmless(bytes, range) { return [] }
        var scan = TextScan(self, bytes, in: range, rules: depth < TextScan.depthLimit ? rules : [], depth: depth)
        let settled = scan.run(from: range.lowerBound)
        if settled < range.upperBound {
            scan.edits.append(RedactionEdit(settled..<range.upperBound, Self.placeholder, "<too long>"))
        }
        return scan.edits
    }

    /// Returns the replacements in percent-encoded text.
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

    /// Returns the replacements in a complete value: JSON, a GraphQL document or text.
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
