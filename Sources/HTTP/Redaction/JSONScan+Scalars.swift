extension JSONScan {
    mutating func takeScalar(
        _ token: JSONTokenizer.Token,
        _ bytes: [UInt8],
        _ origin: Int
    ) throws(Unredactable) {
        let range = token.start..<token.end
        if longText != nil { return try scanLongText(to: token.end - 1, isFinal: true, bytes, origin) }
        let content = token.kind == .string ? bytes.content(of: token, origin) : bytes[range.moved(by: -origin)]
        if isOfSecretPair, token.kind != .null, !content.isEmpty {
            guard let text = replacement(for: token, content, bytes, origin) else { return }
            return redact(range, nil, text, bytes, origin)
        }
        if token.kind == .string, containers.last?.mayBePair == true { noteName(token, bytes, origin) }
        if let member, token.kind != .null, !content.isEmpty {
            if token.kind == .string, member.meaning.contains(.naming) { noteName(token, bytes, origin) }
            let isUndecided =
                !member.meaning.isDisjoint(with: [.state, .named]) && !isSecret(member, length: content.count)
            if isUndecided || isSecret(member, length: content.count),
                let text = replacement(for: token, content, bytes, origin)
            {
                // A value longer than the window doesn't stay undecided.
                let isNamed = member.meaning.contains(.named)
                if isUndecided, range.count <= TextScan.window {
                    let edit = RedactionEdit(range, "\"\(text)\"", path(member, bytes, origin))
                    undecided.append(UndecidedValue(edit: edit, depth: containers.count, isNamed: isNamed))
                } else if !isUndecided || !isNamed {
                    return redact(range, member, text, bytes, origin)
                }
            }
        }
        if range.count > TextScan.window {
            guard token.kind == .string else { throw Unredactable(.tooLong, at: token.start) }
            try beginLongText(at: token.start, bytes, origin)
            return try scanLongText(to: token.end - 1, isFinal: true, bytes, origin)
        }
        let member = member
        keep(bytes, origin)
        if content.count >= 3, !TextScan.isHarmless(bytes, content.startIndex..<content.endIndex) {
            scan(token, member, content, bytes, origin)
        }
    }

    /// Checks whether this string is the name of a secret in a neighboring value.
    private mutating func noteName(_ token: JSONTokenizer.Token, _ bytes: [UInt8], _ origin: Int) {
        let name =
            token.hasEscapes ? bytes.decodedContent(of: token, origin).bytes[...] : bytes.content(of: token, origin)
        guard name.count <= TextScan.lookBack, redactor.isSecretName(name) else { return }
        containers[containers.count - 1].namesSecret = true
        let depth = containers.count
        markSecret { $0.depth == depth && $0.isNamed }
    }

    func isSecret(_ member: Member, length: Int) -> Bool {
        member.meaning.isSecret || (member.meaning.contains(.key) && length >= Redactor.minKeyLength)
            || (member.meaning.contains(.state) && containers[containers.count - 1].hasSignIn)
            || (member.meaning.contains(.named) && containers[containers.count - 1].namesSecret)
    }

    func replacement(
        for token: JSONTokenizer.Token,
        _ content: ArraySlice<UInt8>,
        _ bytes: [UInt8],
        _ origin: Int
    ) -> String? {
        if token.end - token.start > TextScan.window { return Redactor.placeholder }
        guard token.hasEscapes else { return redactor.replacement(for: content) }
        return redactor.replacement(for: bytes.decodedContent(of: token, origin).bytes[...])
    }

    /// Searches for secrets in a value whose name isn't secret.
    mutating func scan(
        _ token: JSONTokenizer.Token,
        _ member: Member?,
        _ content: ArraySlice<UInt8>,
        _ bytes: [UInt8],
        _ origin: Int
    ) {
        var found: [RedactionEdit]
        let range = content.startIndex..<content.endIndex
        switch token.kind {
        case .number:
            guard content.count >= TokenPrefix.minCount else { return }
            found = redactor.textEdits(bytes, in: range, rules: [], depth: depth)
            if !found.isEmpty { found = [RedactionEdit(range, "\"\(found[0].text)\"", found[0].path)] }
        case .string:
            let isDocument = member?.meaning.contains(.document) == true
            if token.hasEscapes {
                let text = bytes.decodedContent(of: token, origin)
                found = redactor.valueEdits(
                    text.bytes,
                    in: 0..<text.bytes.count,
                    rules: .all,
                    depth: depth + 1,
                    isDocument: isDocument
                ).map(text.encoded)
            } else {
                found = redactor.valueEdits(
                    bytes,
                    in: range,
                    rules: .all,
                    depth: depth + 1,
                    isDocument: isDocument
                ).map { RedactionEdit($0.range, DecodedText.Encoding.json.encoded($0.text), $0.path) }
            }
        default: return
        }
        if found.isEmpty { return }
        let path = member == nil && !containers.isEmpty ? path(nil, bytes, origin) + "[*]" : path(member, bytes, origin)
        edits += found.map { RedactionEdit($0.range.moved(by: origin), $0.text, "\(path):\($0.path)") }
    }
}
