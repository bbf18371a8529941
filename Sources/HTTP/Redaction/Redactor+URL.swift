extension Redactor {
    /// The URL with user name, password and what is secret in path, query and fragment replaced.
    public func redact(url: String) -> String {
        let bytes = Array(url.utf8)
        return redacted(url, bytes, edits(ofURL: bytes, in: 0..<bytes.count, depth: 0))
    }

    /// The URL with user name, password and what is secret in path, query and fragment replaced.
    public func redact(url: URL) -> String {
        redact(url: url.absoluteString)
    }

    /// The URL with its secrets replaced, as without an audit.
    ///
    /// - Parameters:
    ///   - url: whole or relative.
    ///   - place: what the audit calls the URL: `request.url`.
    ///   - audit: takes what was found.
    public func redact(url: String, at place: String, noting audit: inout RedactionAudit) -> String {
        let bytes = Array(url.utf8)
        let edits = edits(ofURL: bytes, in: 0..<bytes.count, depth: 0)
        audit.note(edits, at: place)
        return redacted(url, bytes, edits)
    }

    func redacted(_ text: String, _ bytes: [UInt8], _ edits: [RedactionEdit]) -> String {
        edits.isEmpty ? text : String(decoding: bytes.applying(edits, in: 0..<bytes.count), as: UTF8.self)
    }

    /// What a value's name tells that may be percent-encoded, written in HTML, or the first behind a route
    /// (`#/callback?code=1`).
    func meaning(ofEncoded name: ArraySlice<UInt8>) -> SecretNames.Value {
        var name = name.starts(with: "amp;".utf8) ? name.dropFirst(4) : name
        if name.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) {
            name = DecodedText(Array(name), 0..<name.count, .percent).bytes[...]
        }
        return meaning(of: name.lastIndex(of: UInt8(ascii: "?")).map { name[($0 + 1)...] } ?? name)
    }
}

// MARK: - Parts of a URL

extension Redactor {
    /// What is to be replaced in a URL, which may be relative, or begin with the colon of its scheme.
    func edits(ofURL bytes: [UInt8], in range: Range<Int>, depth: Int) -> [RedactionEdit] {
        let fragment = bytes[range].firstIndex(of: UInt8(ascii: "#"))
        let query = bytes[range.lowerBound..<(fragment ?? range.upperBound)].firstIndex(of: UInt8(ascii: "?"))
        let pathEnd = query ?? fragment ?? range.upperBound
        var edits: [RedactionEdit] = []
        var path = range.lowerBound
        if let authority = authority(bytes, range.lowerBound..<pathEnd) {
            // A scheme has no slash: where there is one, it is another URL in a path.
            if bytes[path..<authority.lowerBound].dropLast(2).contains(UInt8(ascii: "/")) {
                edits += encodedTextEdits(bytes, path..<authority.lowerBound, .escapes, rules: .urls, depth: depth + 1)
            }
            if let edit = edit(ofUser: bytes[authority]) { edits.append(edit) }
            path = authority.upperBound
        }
        edits += encodedTextEdits(bytes, path..<pathEnd, .escapes, rules: .urls, depth: depth + 1)
        if let query { edits += items(bytes, query, fragment ?? range.upperBound, "?", depth) }
        if let fragment { edits += items(bytes, fragment, range.upperBound, "#", depth) }
        return edits
    }

    /// Who is asked, behind two slashes at the beginning or after a colon (RFC 3986, 4.2).
    private func authority(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int>? {
        let slash = UInt8(ascii: "/")
        for start in range.dropLast() where bytes[start] == slash && bytes[start + 1] == slash {
            guard start == range.lowerBound || bytes[start - 1] == UInt8(ascii: ":") else { continue }
            let rest = bytes[(start + 2)..<range.upperBound]
            return rest.startIndex..<(rest.firstIndex(of: slash) ?? rest.endIndex)
        }
        return nil
    }

    /// Replaces user name and password, where an authority has them.
    private func edit(ofUser authority: ArraySlice<UInt8>) -> RedactionEdit? {
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        let user = authority[..<at]
        if Self.isPlaceholder(user) || Self.isUserPlaceholder(user) { return nil }
        if dropsItems { return RedactionEdit(authority.startIndex..<at + 1, "", "user") }
        let colon = user.firstIndex(of: UInt8(ascii: ":")) ?? at
        let name = replacement(for: user[..<colon]) ?? Self.placeholder
        let password = replacement(for: user[colon...].dropFirst()) ?? Self.placeholder
        return RedactionEdit(authority.startIndex..<at, "\(name):\(password)", "user")
    }

    /// Whether both user name and password were replaced before.
    private static func isUserPlaceholder(_ user: ArraySlice<UInt8>) -> Bool {
        user.indices.contains { index in
            user[index] == UInt8(ascii: ":") && isPlaceholder(user[..<index]) && isPlaceholder(user[(index + 1)...])
        }
    }

    /// Replaces the secrets of a query or fragment, which begins with a mark.
    func items(_ bytes: [UInt8], _ mark: Int, _ end: Int, _ sign: String, _ depth: Int) -> [RedactionEdit] {
        var form = FormScan(self, bytes, depth: depth, sign: sign)
        var place = mark + 1
        while place <= end {
            let itemEnd = bytes[place..<end].firstIndex(of: UInt8(ascii: "&")) ?? end
            form.add(place..<itemEnd)
            place = itemEnd + 1
        }
        form.finish()
        guard form.keptCount == 0, !form.edits.isEmpty else { return form.edits }
        // Of a query without items the mark goes, too.
        return form.edits.enumerated().map { RedactionEdit($0 == 0 ? mark..<end : end..<end, "", $1.way) }
    }
}

extension TokenPrefix {
    /// The fewest bytes in which anything can be known by its look.
    static let leastCount = 10
}
