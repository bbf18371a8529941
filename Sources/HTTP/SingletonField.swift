extension HTTPFields {
    /// Returns the field of a name that a message may have once, or `nil` if there is none that counts (RFC 9110, 5.3).
    ///
    /// Fields of one value count as one. If the values differ, none counts, except for `Content-Type`: there it is the last
    /// one that names a type, as browsers do (https://fetch.spec.whatwg.org/#concept-header-extract-mime-type). Values of such
    /// fields are never joined, as those of a list are.
    package func single(_ name: HTTPField.Name) -> HTTPField? {
        var found: HTTPField?
        for field in self where field.name == name {
            guard let first = found else {
                found = field
                continue
            }
            if !first.hasValue(of: field) { return name == .contentType ? lastContentType(first.name) : nil }
        }
        // Some servers and proxies write one line of two. The comma of a multipart type is part of it: GraphQL servers
        // answer subscriptions with `multipart/mixed; boundary=…; subscriptionSpec=1.0, application/json`.
        if name == .contentType, let found, found.value.utf8.contains(UInt8(ascii: ",")),
            !found.value.lowercased().hasPrefix("multipart/")
        {
            return lastContentType(found.name) ?? found
        }
        return found
    }

    /// The value of the field that `single` returns.
    package subscript(single name: HTTPField.Name) -> String? { single(name)?.value }

    /// Whether there are several fields of this name whose values differ.
    package func differ(in name: HTTPField.Name) -> Bool {
        var found: HTTPField?
        for field in self where field.name == name {
            if let found, !found.hasValue(of: field) { return true }
            found = field
        }
        return false
    }

    /// The last type that is named, with the charset of an earlier field if that has the same type.
    private func lastContentType(_ name: HTTPField.Name) -> HTTPField? {
        var (latest, essence, charset) = (String?.none, "", String?.none)
        var hasOwnCharset = false
        for text in self[values: .contentType].flatMap(\.listElements) {
            guard let type = MediaType(text), type.essence != "*/*" else { continue }
            let own = type.parameters["charset"]
            if own != nil || type.essence != essence { charset = own }
            hasOwnCharset = own != nil
            essence = type.essence
            latest = text
        }
        // Only now: a server may send many types, and a long charset.
        if let type = latest, let other = charset, !hasOwnCharset {
            latest = "\(type);charset=\(other.quotedUnlessToken)"
        }
        return latest.map { HTTPField(name: name, value: $0) }
    }
}

extension HTTPField {
    /// Whether the values are the same, byte by byte.
    fileprivate func hasValue(of other: HTTPField) -> Bool {
        withUnsafeBytesOfValue { mine in other.withUnsafeBytesOfValue { mine.elementsEqual($0) } }
    }
}

extension String {
    /// The elements of a list, without white space around them. A comma inside of quotes doesn't separate.
    fileprivate var listElements: [String] {
        var elements: [[UInt8]] = [[]]
        var (isQuoted, isEscaped) = (false, false)
        for byte in utf8 {
            if byte == UInt8(ascii: ","), !isQuoted {
                elements.append([])
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
            elements[elements.count - 1].append(byte)
        }
        return elements.map { element in
            func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
            var rest = element[...].drop(while: isSpace)
            while let last = rest.last, isSpace(last) { rest.removeLast() }
            return String(decoding: rest, as: UTF8.self)
        }
    }

    fileprivate var quotedUnlessToken: String {
        if !isEmpty, utf8.allSatisfy(FieldReader.isTokenByte) { return self }
        return "\"\(replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
