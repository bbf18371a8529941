/// Tells what must not be shown: credentials in headers, secret values in URLs, and bodies.
///
/// Names are compared without regard to case, those of values without regard to `-`, `_`, `.` and brackets as well.
public struct Redactor: Sendable, Hashable {
    /// What stands in place of a secret.
    public static let placeholder = "REDACTED"

    /// Headers and value names that are secret besides the usual ones.
    public var secrets: Set<String>
    /// Headers and value names that are shown although they look secret.
    public var shown: Set<String>

    /// A redactor that knows the usual secrets, and these.
    public init(secrets: Set<String> = [], shown: Set<String> = []) {
        self.secrets = secrets
        self.shown = shown
    }

    /// Whether a header's values are secret: those that log a user in or prove who asks.
    public func isSecret(header name: String) -> Bool {
        let name = name.lowercased()
        return decided(name) { $0.lowercased() } ?? SecretNames.header(name)
    }

    /// Whether what a query, form or JSON document holds under this name is secret.
    ///
    /// - Parameters:
    ///   - name: the name, not percent-encoded.
    ///   - length: the value's length in characters: `key` is a word for much else, so that only 16 and more count.
    public func isSecret(name: String, length: Int) -> Bool {
        let name = SecretNames.plain(name)
        return decided(name, SecretNames.plain) ?? (SecretNames.value(name) || (name == "key" && length >= 16))
    }

    /// The URL with user name, password and the secret values of query and fragment replaced.
    public func redact(url: String) -> String {
        var rest = url[...]
        let fragment = cut(&rest, at: "#")
        let query = cut(&rest, at: "?")
        var text = withoutUser(rest)
        if let query { text += "?" + redact(items: query) }
        if let fragment { text += "#" + redact(items: fragment) }
        return text
    }

    /// The URL with user name, password and the secret values of query and fragment replaced.
    public func redact(url: URL) -> String {
        redact(url: url.absoluteString)
    }

    /// The fields, in order, with secrets replaced: an authentication scheme and the names of cookies stay, and URLs
    /// lose only their secrets.
    public func redact(_ fields: HTTPFields) -> [(name: String, value: String)] {
        fields.map { ($0.name.rawName, redact($0)) }
    }

    /// Size and media type of a body, never its contents.
    public func summary(of body: Data?, contentType: String?) -> String {
        guard let body, !body.isEmpty else { return "no body" }
        return "\(body.count) byte\(body.count == 1 ? "" : "s") of \(mediaType(contentType))"
    }

    /// The media type alone; what is none is not shown.
    package func mediaType(_ contentType: String?) -> String {
        contentType.flatMap(MediaType.init)?.essence ?? "unknown type"
    }

    /// What the app decided about a name, if it did.
    private func decided(_ name: String, _ normalized: (String) -> String) -> Bool? {
        if shown.contains(where: { normalized($0) == name }) { return false }
        if secrets.contains(where: { normalized($0) == name }) { return true }
        return nil
    }
}

// MARK: - Headers

extension Redactor {
    private func redact(_ field: HTTPField) -> String {
        let name = field.name.canonicalName
        guard isSecret(header: name) else {
            switch name {
            case "location", "content-location", "referer", "origin": return redact(url: field.value)
            case "link": return links(field.value)
            default: return field.value
            }
        }
        switch name {
        case "authorization", "proxy-authorization": return withScheme(field.value)
        case "cookie": return cookies(field.value)
        case "set-cookie": return cookie(field.value[...])
        default: return Self.placeholder
        }
    }

    /// The scheme tells how, not who; a lone word may be the secret itself.
    private func withScheme(_ value: String) -> String {
        guard let space = value.firstIndex(of: " ") else { return Self.placeholder }
        return "\(value[..<space]) \(Self.placeholder)"
    }

    /// Each URL stands in angle brackets (RFC 8288, 3).
    private func links(_ value: String) -> String {
        value.unicodeScalars.split(separator: "<", omittingEmptySubsequences: false).map { part in
            let end = part.firstIndex(of: ">") ?? part.endIndex
            return redact(url: String(part[..<end])) + String(part[end...])
        }.joined(separator: "<")
    }

    private func cookies(_ value: String) -> String {
        value.split(separator: ";", omittingEmptySubsequences: false).map(cookie).joined(separator: ";")
    }

    /// The name of a cookie, and its attributes where it is being set.
    private func cookie(_ value: Substring) -> String {
        let attributes = value.firstIndex(of: ";") ?? value.endIndex
        guard let equals = value[..<attributes].firstIndex(of: "=") else {
            return Self.placeholder + value[attributes...]
        }
        return value[...equals] + Self.placeholder + value[attributes...]
    }
}

// MARK: - URLs

// Marks are looked for among scalars: a combining character after a mark makes one `Character` of the two.
extension Redactor {
    private func cut(_ text: inout Substring, at mark: Unicode.Scalar) -> Substring? {
        guard let place = text.unicodeScalars.firstIndex(of: mark) else { return nil }
        defer { text = text[..<place] }
        return text[text.unicodeScalars.index(after: place)...]
    }

    private func withoutUser(_ text: Substring) -> String {
        guard let slashes = text.unicodeScalars.firstRange(of: "//".unicodeScalars) else { return String(text) }
        let authority = text.unicodeScalars[slashes.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(text) }
        return text[..<slashes.upperBound] + "\(Self.placeholder):\(Self.placeholder)" + text[at...]
    }

    private func redact(items: Substring) -> String {
        items.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false)
            .map { redact(item: Substring($0)) }.joined(separator: "&")
    }

    private func redact(item: Substring) -> String {
        var name = item
        guard let value = cut(&name, at: "="), !value.isEmpty,
            isSecret(name: SecretNames.decoded(name), length: value.count)
        else { return String(item) }
        return "\(name)=\(Self.placeholder)"
    }
}
