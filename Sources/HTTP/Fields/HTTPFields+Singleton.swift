extension HTTPFields {
    /// Returns the field with a name that a message may have only once, or `nil` if there is no valid one (RFC 9110,
    /// 5.3).
    ///
    /// Fields with the same value count as one. If the values differ, none is valid, except for `Content-Type`: the
    /// last valid media type is used, as in browsers (https://fetch.spec.whatwg.org/#concept-header-extract-mime-type).
    /// Unlike the values of list fields, the values are never joined.
    package func single(_ name: HTTPField.Name) -> HTTPField? {
        var found: HTTPField?
        for field in self where field.name == name {
            guard let first = found else {
                found = field
                continue
            }
            if !first.hasValue(of: field) { return name == .contentType ? lastContentType(first.name) : nil }
        }
        // Some servers and proxies join two lines into one. In a multipart type, the comma is part of the type: GraphQL
        // servers answer subscriptions with `multipart/mixed; boundary=…; subscriptionSpec=1.0, application/json`.
        if name == .contentType, let found, found.value.utf8.contains(UInt8(ascii: ",")),
            !found.value.lowercased().hasPrefix("multipart/")
        {
            return lastContentType(found.name) ?? found
        }
        return found
    }

    /// The value of the field that `single` returns.
    package subscript(single name: HTTPField.Name) -> String? { single(name)?.value }

    /// Returns whether there are several fields with this name whose values differ.
    package func differ(in name: HTTPField.Name) -> Bool {
        var found: HTTPField?
        for field in self where field.name == name {
            if let found, !found.hasValue(of: field) { return true }
            found = field
        }
        return false
    }

    /// Returns the last valid media type, with the charset of an earlier field if that has the same type.
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
        // Joined only at the end, because a server may send many types and a long charset.
        if let type = latest, let other = charset, !hasOwnCharset {
            latest = "\(type);charset=\(other.quotedUnlessToken)"
        }
        return latest.map { HTTPField(name: name, value: $0) }
    }

    /// Returns the same value as the subscript but faster. The subscript joins values even if there is only one.
    package func joined(_ name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            if found != nil { return self[name] }
            found = field.value
        }
        return found
    }
}

extension HTTPField {
    /// Returns whether the values are the same, byte by byte.
    fileprivate func hasValue(of other: HTTPField) -> Bool {
        withUnsafeBytesOfValue { mine in other.withUnsafeBytesOfValue { mine.elementsEqual($0) } }
    }
}

extension String {
    /// The elements of a comma-separated list, without surrounding white space.
    ///
    /// Commas in quotes don't separate elements.
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
