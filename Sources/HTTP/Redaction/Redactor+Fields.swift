extension Redactor {
    /// Returns the fields in order, with their secrets replaced.
    ///
    /// An authentication scheme, parameters of a challenge that aren't secret, and the names of cookies stay. URLs lose
    /// only their secrets. ``Mode/drop`` leaves out secret fields.
    public func redact(_ fields: HTTPFields) -> [(name: String, value: String)] {
        fields.compactMap { field in
            let (name, bytes) = (field.name.rawName, Array(field.value.utf8))
            let edits = edits(ofField: name, bytes)
            return edits.isEmpty ? (name, field.value) : redacted(bytes, edits).map { (name, $0) }
        }
    }

    /// Returns the fields with their secrets replaced, and records their locations.
    ///
    /// - Parameters:
    ///   - fields: The fields of a message.
    ///   - place: The name of the fields in the audit, such as `request.headers`.
    ///   - audit: The audit to which the locations are added.
    public func redact(
        _ fields: HTTPFields,
        at place: String,
        recordingTo audit: inout Audit
    ) -> [(name: String, value: String)] {
        fields.compactMap { redact($0, at: place, recordingTo: &audit) }
    }

    /// Redacts one field and records its secrets.
    ///
    /// Returns `nil` if the field is left out.
    package func redact(
        _ field: HTTPField,
        at place: String,
        recordingTo audit: inout Audit
    ) -> (name: String, value: String)? {
        let (name, value) = (field.name.rawName, field.value)
        return redact(value, ofField: name, at: place, recordingTo: &audit).map { (name, $0) }
    }

    /// Redacts the value of one field and records its secrets.
    ///
    /// Returns `nil` if the field is left out.
    package func redact(
        _ value: String,
        ofField name: String,
        at place: String,
        recordingTo audit: inout Audit
    ) -> String? {
        let bytes = Array(value.utf8)
        let edits = edits(ofField: name, bytes)
        if edits.isEmpty { return value }
        let name = place + "." + name
        for edit in edits { audit.record(edit.path.isEmpty ? name : "\(name):\(edit.path)") }
        return redacted(bytes, edits)
    }

    private func edits(ofField name: String, _ bytes: [UInt8]) -> [RedactionEdit] {
        edits(ofField: name, SecretNames.header(name), bytes, in: 0..<bytes.count)
    }

    /// Applies edits to a field's value.
    ///
    /// - Returns: The redacted value, or `nil` if the field is left out.
    private func redacted(_ bytes: [UInt8], _ edits: [RedactionEdit]) -> String? {
        if dropsItems, edits.contains(where: \.path.isEmpty) { return nil }
        return String(decoding: bytes.applying(edits, in: 0..<bytes.count), as: UTF8.self)
    }

    /// Returns the replacements in a field's value. If the whole field is secret, the edits have no path.
    func edits(
        ofField name: String,
        _ meaning: SecretNames.Header,
        _ bytes: [UInt8],
        in range: Range<Int>
    ) -> [RedactionEdit] {
        guard isSecret(header: name, meaning: meaning) else {
            if meaning.contains(.url) { return edits(ofURL: bytes, in: range, depth: 0) }
            if meaning.contains(.urls) { return links(bytes, range) }
            return range.count < TokenPrefix.minCount ? [] : valueEdits(bytes, in: range, rules: .values, depth: 0)
        }
        if meaning.contains(.challenge) { return parameters(bytes, range) }
        if meaning.contains(.credentials) { return redactions(bytes, afterScheme(bytes[range])) }
        if meaning.contains(.cookies) { return cookies(bytes, range) }
        if meaning.contains(.cookie) { return cookie(bytes, range) }
        return redactions(bytes, range)
    }

    private func redactions(_ bytes: [UInt8], _ range: Range<Int>) -> [RedactionEdit] {
        replacement(for: bytes[range]).map { [RedactionEdit(range, $0, "")] } ?? []
    }

    /// Returns the range after the authentication scheme, which isn't secret. A single word may be the secret itself.
    private func afterScheme(_ value: ArraySlice<UInt8>) -> Range<Int> {
        guard let space = value.firstIndex(of: 0x20) else { return value.startIndex..<value.endIndex }
        return space + 1..<value.endIndex
    }

    private func cookies(_ bytes: [UInt8], _ range: Range<Int>) -> [RedactionEdit] {
        bytes[range].split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .flatMap { redactions(bytes, cookieValue($0)) }
    }

    /// Returns the range after a cookie's name, or all of it if there is no name.
    private func cookieValue(_ cookie: ArraySlice<UInt8>) -> Range<Int> {
        if let equals = cookie.firstIndex(of: UInt8(ascii: "=")) { return equals + 1..<cookie.endIndex }
        return cookie.startIndex..<cookie.endIndex
    }

    /// The attributes of `Set-Cookie` (RFC 6265, 4.1.1) and of its successors.
    private static let attributes: Set<String> = [
        "path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "partitioned", "priority",
    ]

    /// Returns the replacements in a cookie with attributes. A piece that isn't an attribute is treated as another
    /// cookie, because fields may have been joined with commas.
    private func cookie(_ bytes: [UInt8], _ range: Range<Int>) -> [RedactionEdit] {
        let pieces = bytes[range].split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        return pieces.enumerated().flatMap { index, piece in
            index > 0 && isAttribute(piece.trimmedOfSpace) ? [] : redactions(bytes, cookieValue(piece))
        }
    }

    private func isAttribute(_ piece: ArraySlice<UInt8>) -> Bool {
        let parts = piece.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
        let name = String(decoding: parts[0].trimmedOfSpace, as: UTF8.self).lowercased()
        return parts.count < 3 && (name.isEmpty || Self.attributes.contains(name))
    }

    /// Returns the replacements in the URLs of `Link`, which are in angle brackets (RFC 8288, 3), and of `Refresh`,
    /// which follow `url=`. The rest of the value is text.
    private func links(_ bytes: [UInt8], _ range: Range<Int>) -> [RedactionEdit] {
        var edits: [RedactionEdit] = []
        var place = range.lowerBound
        while let link = link(bytes[place..<range.upperBound]) {
            edits += textEdits(bytes, in: place..<link.lowerBound, rules: .values, depth: 0)
            edits += self.edits(ofURL: bytes, in: link, depth: 0)
            place = link.upperBound
        }
        return edits + textEdits(bytes, in: place..<range.upperBound, rules: .values, depth: 0)
    }

    private func link(_ value: ArraySlice<UInt8>) -> Range<Int>? {
        for place in value.indices {
            let rest = value[(place + 1)...]
            if value[place] == UInt8(ascii: "<") {
                return rest.startIndex..<(rest.firstIndex(of: UInt8(ascii: ">")) ?? rest.endIndex)
            }
            let before = value[..<place].suffix(3).map { $0 | 0x20 }
            guard value[place] == UInt8(ascii: "="), before == Array("url".utf8) else { continue }
            guard let quote = rest.first, "\"'".utf8.contains(quote) else { return rest.startIndex..<rest.endIndex }
            let url = rest.dropFirst()
            return url.startIndex..<(url.firstIndex(of: quote) ?? url.endIndex)
        }
        return nil
    }
}

// MARK: - Challenges

extension Redactor {
    /// The parameters of challenges, authentication info and credentials that aren't secret.
    private static let publicParameters: Set<String> = [
        "realm", "domain", "algorithm", "qop", "charset", "userhash", "stale", "scope", "error", "error_description",
        "nc", "max-age", "resource_metadata",
    ]

    /// Returns the replacements in a challenge (RFC 9110, 11.6.1), a comma-separated list of schemes and parameters.
    /// Credentials, and parameters that aren't known to be harmless, are redacted.
    private func parameters(_ bytes: [UInt8], _ range: Range<Int>) -> [RedactionEdit] {
        var edits: [RedactionEdit] = []
        for part in listItems(bytes[range]) {
            let text = part.trimmedOfSpace
            let equals = text.firstIndex(of: UInt8(ascii: "="))
            // The first parameter of a challenge follows its scheme.
            let head = text[..<(equals ?? text.endIndex)]
            let isToken68 = equals.map { text[$0...].allSatisfy { $0 == UInt8(ascii: "=") } } ?? true
            if isToken68 {
                guard let space = text.firstIndex(of: 0x20) else { continue }
                for edit in redactions(bytes, space + 1..<text.endIndex) {
                    edits.append(RedactionEdit(edit.range, edit.text, "=credentials"))
                }
                continue
            }
            let start = head.trimmedOfSpace.lastIndex(of: 0x20).map { $0 + 1 } ?? head.startIndex
            let name = String(decoding: head[start...].trimmedOfSpace, as: UTF8.self).lowercased()
            if Self.publicParameters.contains(name) {
                edits += textEdits(bytes, in: equals! + 1..<text.endIndex, rules: .values, depth: 0)
                    .map { RedactionEdit($0.range, $0.text, "=\(name):\($0.path)") }
                continue
            }
            let quoted = text[(equals! + 1)...].trimmedOfSpace
            let isQuoted = quoted.count > 1 && quoted.first == 0x22 && quoted.last == 0x22
            let value = isQuoted ? quoted.dropFirst().dropLast() : quoted
            for edit in redactions(bytes, value.startIndex..<value.endIndex) where !value.isEmpty {
                edits.append(RedactionEdit(edit.range, edit.text, "=\(name)"))
            }
        }
        return edits
    }

    /// Splits a value at the commas outside of quotes.
    private func listItems(_ value: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var items: [ArraySlice<UInt8>] = []
        var start = value.startIndex
        var isInQuotes = false
        var isEscaped = false
        for (index, byte) in zip(value.indices, value) {
            if isEscaped {
                isEscaped = false
            } else if isInQuotes, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == 0x22 {
                isInQuotes.toggle()
            } else if byte == UInt8(ascii: ","), !isInQuotes {
                items.append(value[start..<index])
                start = index + 1
            }
        }
        return items + [value[start...]]
    }
}

extension ArraySlice<UInt8> {
    var trimmedOfSpace: ArraySlice<UInt8> {
        var rest = drop(while: \.isSpace)
        while rest.last?.isSpace == true { rest.removeLast() }
        return rest
    }
}
