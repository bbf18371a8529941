import BeagleNetHTTP

/// A generator of names for shell variables that replace removed secrets.
struct SecretVariables {
    /// The distinct secrets for each name. Equal keyed hashes are the same secret.
    private var secrets: [String: [Substring]] = [:]

    /// The names in alphabetical order.
    var names: [String] {
        secrets.flatMap { name, secrets in secrets.indices.map { Self.numbered(name, $0) } }.sorted()
    }

    /// Splits text at its placeholders.
    ///
    /// - Parameter field: the name of the field that contains the text, such as a header name; may be empty.
    mutating func parts(of text: String, in field: String = "") -> [ShellWord.Part] {
        var (parts, rest): ([ShellWord.Part], Substring) = ([], text[...])
        while let place = rest.firstRange(of: Redactor.placeholder) {
            let before = rest[..<place.lowerBound]
            let hash = Self.hash(rest[place.upperBound...])
            if !before.isEmpty { parts.append(.text(String(before))) }
            parts.append(.variable(variable(behind: text[..<place.lowerBound], in: field, hash)))
            rest = rest[hash.endIndex...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        return parts
    }

    private mutating func variable(behind text: Substring, in field: String, _ hash: Substring) -> String {
        let words = Self.words([field, Self.name(before: text)].filter { !$0.isEmpty }.joined(separator: "_"))
        let name = words.isEmpty ? "SECRET" : Self.taken.contains(words) ? "\(words)_VALUE" : words
        let index = secrets[name, default: []].firstIndex(of: hash) ?? secrets[name, default: []].count
        if index == secrets[name, default: []].count { secrets[name, default: []].append(hash) }
        return Self.numbered(name, index)
    }

    private static func numbered(_ name: String, _ index: Int) -> String { index == 0 ? name : "\(name)_\(index + 1)" }

    /// Returns the prefix `:h:` with twelve digits, or an empty prefix.
    private static func hash(_ text: Substring) -> Substring {
        let hash = text.prefix(15)
        let isHash = hash.hasPrefix(":h:") && hash.count == 15 && hash.dropFirst(3).allSatisfy(\.isHexDigit)
        return isHash ? hash : text[text.startIndex..<text.startIndex]
    }

    /// Returns the name of the value that follows a text: after `name=`, `"name": "`, or as the user or password in a
    /// URL.
    private static func name(before text: Substring) -> String {
        if text.hasSuffix("//") { return "url_user" }
        if text.hasSuffix("//\(Redactor.placeholder):") { return "url_password" }
        var rest = text.suffix(300)
        let quoted = rest.trimming { $0 == "\"" || $0 == "'" || $0 == "\\" || $0.isWhitespace }
        if let mark = quoted.last, mark == "=" || mark == ":" {
            rest = quoted.dropLast().trimming { $0 == "\"" || $0 == "'" || $0 == "\\" || $0 == " " }
        } else if let part = quoted.ranges(of: "name=\"").last {
            // The header of a part in a multipart body.
            return String(quoted[part.upperBound...].prefix { $0 != "\"" })
        } else {
            return ""
        }
        return String(rest.suffix(while: { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.[]%".contains($0)) }))
    }

    /// Converts text to a variable name of at most 40 capital letters, digits and underscores.
    private static func words(_ text: String) -> String {
        let words = text.prefix(200).split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let name = String(words.joined(separator: "_").uppercased().prefix(40))
        return name.first?.isNumber == true ? "SECRET_\(name)" : name
    }

    /// The variables that shells and programs use.
    private static let taken: Set<String> = [
        "CDPATH", "COLUMNS", "ENV", "HOME", "HOSTNAME", "IFS", "LANG", "LINES", "LOGNAME", "MAIL", "OLDPWD", "OPTARG",
        "OPTIND", "PATH", "PPID", "PS1", "PS2", "PS4", "PWD", "RANDOM", "SECONDS", "SHELL", "TERM", "TMPDIR", "UID",
        "USER",
    ]
}

extension Substring {
    /// Removes trailing characters that satisfy a predicate.
    fileprivate func trimming(_ isKind: (Character) -> Bool) -> Substring {
        var rest = self
        while let last = rest.last, isKind(last) { rest.removeLast() }
        return rest
    }

    fileprivate func suffix(while isKind: (Character) -> Bool) -> Substring {
        var start = endIndex
        while start > startIndex, isKind(self[index(before: start)]) { start = index(before: start) }
        return self[start...]
    }
}
