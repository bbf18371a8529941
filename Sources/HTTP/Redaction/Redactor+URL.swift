extension Redactor {
    /// Returns the URL with its user name, password and the secrets in its path, query and fragment replaced.
    public func redact(url: String) -> String {
        let bytes = Array(url.utf8)
        return redacted(url, bytes, edits(ofURL: bytes, in: 0..<bytes.count, depth: 0))
    }

    /// Returns the URL with its user name, password and the secrets in its path, query and fragment replaced.
    public func redact(url: URL) -> String {
        redact(url: url.absoluteString)
    }

    /// Returns the URL with its secrets replaced, and records their locations.
    ///
    /// - Parameters:
    ///   - url: An absolute or relative URL.
    ///   - place: The name of the URL in the audit, such as `request.url`.
    ///   - audit: The audit to which the locations are added.
    public func redact(url: String, at place: String, recordingTo audit: inout Audit) -> String {
        let bytes = Array(url.utf8)
        let edits = edits(ofURL: bytes, in: 0..<bytes.count, depth: 0)
        audit.record(edits, at: place)
        return redacted(url, bytes, edits)
    }

    func redacted(_ text: String, _ bytes: [UInt8], _ edits: [RedactionEdit]) -> String {
        edits.isEmpty ? text : String(decoding: bytes.applying(edits, in: 0..<bytes.count), as: UTF8.self)
    }

    /// Returns the meaning of a value's name that may be percent-encoded, escaped for HTML, or preceded by a route
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
    /// Returns the replacements in a URL, which may be relative, begin with the colon of its scheme, or be invalid.
    func edits(ofURL bytes: [UInt8], in range: Range<Int>, depth: Int) -> [RedactionEdit] {
        var edits: [RedactionEdit] = []
        var path = range.lowerBound
        if let authority = authority(bytes, range) {
            // A scheme has no slash. If there is one, this is another URL in a path.
            let slash = UInt8(ascii: "/")
            if bytes[path..<authority.lowerBound].reversed().drop(while: { $0 == slash }).contains(slash) {
                edits += encodedTextEdits(bytes, path..<authority.lowerBound, .escapes, rules: .urls, depth: depth + 1)
            }
            if let edit = edit(ofUser: bytes[authority]) { edits.append(edit) }
            path = authority.upperBound
        }
        let fragment = bytes[path..<range.upperBound].firstIndex(of: UInt8(ascii: "#"))
        let query = bytes[path..<(fragment ?? range.upperBound)].firstIndex(of: UInt8(ascii: "?"))
        let pathEnd = query ?? fragment ?? range.upperBound
        edits += encodedTextEdits(bytes, path..<pathEnd, .escapes, rules: .urls, depth: depth + 1)
        if let query { edits += items(bytes, query, fragment ?? range.upperBound, "?", depth) }
        if let fragment { edits += items(bytes, fragment, range.upperBound, "#", depth) }
        return edits
    }

    /// Returns the range of the authority. It follows two slashes at the beginning or after a colon (RFC 3986, 4.2),
    /// before any query or fragment.
    private func authority(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int>? {
        let slash = UInt8(ascii: "/")
        let end = bytes[range].firstIndex { "?#".utf8.contains($0) } ?? range.upperBound
        for start in (range.lowerBound..<end).dropLast() where bytes[start] == slash && bytes[start + 1] == slash {
            guard start == range.lowerBound || bytes[start - 1] == UInt8(ascii: ":") else { continue }
            let rest = bytes[(start + 2)..<range.upperBound].drop { $0 == slash }
            return rest.startIndex..<Self.endOfAuthority(rest)
        }
        return looseAuthority(bytes[range], before: end)
    }

    /// Returns the authority of a URL that lacks slashes: `user:password@host`, or `http:/user:password@host`.
    private func looseAuthority(_ url: ArraySlice<UInt8>, before end: Int) -> Range<Int>? {
        guard let colon = url[..<end].firstIndex(where: { "/:".utf8.contains($0) }), url[colon] == UInt8(ascii: ":"),
            url[colon..<end].contains(UInt8(ascii: "@"))
        else { return nil }
        let rest = url[colon...].dropFirst().drop { "/\\".utf8.contains($0) }
        if rest.startIndex > colon + 1 { return rest.startIndex..<Self.endOfAuthority(rest) }
        let scheme = String(decoding: url[..<colon], as: UTF8.self).lowercased()
        return Self.opaqueSchemes.contains(scheme) ? nil : url.startIndex..<Self.endOfAuthority(url)
    }

    /// Schemes without an authority, even if the URL contains an `@`.
    private static let opaqueSchemes: Set<String> = [
        "mailto", "acct", "sip", "sips", "xmpp", "im", "data", "urn", "blob", "javascript",
    ]

    /// Returns the end of the authority at the beginning of the bytes.
    ///
    /// A password with an unescaped `/`, `?` or `#` is included. Such a password is recognized because the text before
    /// the character isn't a host with a port.
    static func endOfAuthority(_ bytes: ArraySlice<UInt8>) -> Int {
        let end = bytes.firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        guard isUserAndPassword(authority: bytes[..<end]), let at = bytes[end...].lastIndex(of: UInt8(ascii: "@"))
        else {
            return end
        }
        return bytes[at...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
    }

    /// Returns whether this is the beginning of a user and password instead of a host and port.
    static func isUserAndPassword(authority: ArraySlice<UInt8>) -> Bool {
        guard !authority.contains(UInt8(ascii: "@")), let colon = authority.lastIndex(of: UInt8(ascii: ":")),
            authority.last != UInt8(ascii: "]")
        else { return false }
        return !authority[colon...].dropFirst().allSatisfy(\.isDigit)
    }

    /// Replaces the user name and password, if the authority has them.
    private func edit(ofUser authority: ArraySlice<UInt8>) -> RedactionEdit? {
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        let user = authority[..<at]
        if user.isEmpty || Self.isPlaceholder(user) || Self.isUserPlaceholder(user) { return nil }
        if dropsItems { return RedactionEdit(authority.startIndex..<at + 1, "", "user") }
        let colon = user.firstIndex(of: UInt8(ascii: ":")) ?? at
        let name = replacement(for: user[..<colon]) ?? Self.placeholder
        let password = replacement(for: user[colon...].dropFirst()) ?? Self.placeholder
        return RedactionEdit(authority.startIndex..<at, "\(name):\(password)", "user")
    }

    /// Returns whether both user name and password are placeholders.
    private static func isUserPlaceholder(_ user: ArraySlice<UInt8>) -> Bool {
        user.indices.contains { index in
            user[index] == UInt8(ascii: ":") && isPlaceholder(user[..<index]) && isPlaceholder(user[(index + 1)...])
        }
    }

    /// Returns the replacements in a query or fragment, including the mark at its beginning.
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
        // If the query is left without items, its mark is removed too.
        return form.edits.enumerated().map { RedactionEdit($0 == 0 ? mark..<end : end..<end, "", $1.path) }
    }
}

extension TokenPrefix {
    /// The minimum length of a secret with a known format, in bytes.
    static let minCount = 10
}
