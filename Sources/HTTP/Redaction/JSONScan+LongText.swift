/// Values longer than the window, which are processed before their end is known.
extension JSONScan {
    /// Processes a token whose end hasn't been received.
    mutating func scanIncompleteToken(_ bytes: [UInt8], _ origin: Int) throws(Unredactable) {
        let place = base + tokenizer.offset
        if skipped != nil { return cutSkippedSecret(at: place, bytes, origin) }
        guard let open = tokenizer.openToken, open.kind != .name else {
            guard place - settled <= TextScan.window else { throw Unredactable(.tooLong, at: settled) }
            return
        }
        let start = open.start + base
        if longText == nil {
            guard start - settled <= TextScan.window else { throw Unredactable(.tooLong, at: start) }
            guard place - start > TextScan.window else { return }
            if member.map({ $0.meaning.contains(.state) || isSecret($0, length: .max) }) ?? isOfSecretPair {
                skipped = SkippedSecret(start: start, depth: 0, member: member)
                return cutSkippedSecret(at: place, bytes, origin)
            }
            guard open.kind == .string else { throw Unredactable(.tooLong, at: start) }
            try beginLongText(at: start, bytes, origin)
        }
        try scanLongText(to: place, isFinal: false, bytes, origin)
    }

    mutating func cutSkippedSecret(at place: Int, _ bytes: [UInt8], _ origin: Int) {
        guard let current = skipped, place - current.start > TextScan.window else { return }
        if current.isTruncated {
            edits.append(RedactionEdit(settled..<place, "", ""))
        } else {
            redact(current.start..<place, current.member, Redactor.placeholder, bytes, origin)
            skipped?.isTruncated = true
        }
        dropUndecided()
        settled = place
    }

    mutating func beginLongText(at start: Int, _ bytes: [UInt8], _ origin: Int) throws(Unredactable) {
        let content = start + 1 - origin
        let beginning = DecodedText(bytes, content..<min(content + 64, bytes.count), .json)
        // Documents inside a string are scanned as a whole.
        if JSONScan.looksLikeJSON(beginning.bytes[...]) || member?.meaning.contains(.document) == true {
            throw Unredactable(.tooLong, at: start)
        }
        dropUndecided()
        longTextPath = path(member, bytes, origin)
        keep(bytes, origin)
        longText = (start + 1, [])
    }

    mutating func scanLongText(
        to end: Int,
        isFinal: Bool,
        _ bytes: [UInt8],
        _ origin: Int
    ) throws(Unredactable) {
        guard let (start, context) = longText else { return }
        let range = (start - origin)..<(end - origin)
        let text = DecodedText(bytes, range, .json, context: context, isWhole: isFinal)
        let all = 0..<text.bytes.count
        var scan = TextScan(redactor, text.bytes, in: all, isFinal: isFinal, rules: .all, depth: depth + 1)
        let settled = scan.run(from: context.count)
        if scan.isBeyondWindow { throw Unredactable(.tooLong, at: start) }
        edits += scan.edits.map(text.encoded)
            .map { RedactionEdit($0.range.moved(by: origin), $0.text, "\(longTextPath):\($0.path)") }
        longText =
            isFinal ? nil : (text.origins[settled] + origin, Array(text.bytes[..<settled].suffix(TextScan.context)))
    }
}
