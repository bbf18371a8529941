/// Takes secrets out of what is shown or kept: credentials in headers, secret values in URLs, texts and bodies.
///
/// Names of header fields and of values in URLs, forms, JSON and GraphQL are on one list. They are compared without regard
/// to case, `-` and `_`, and names of values without regard to `.` and brackets as well. What stands in place of a secret is
/// no secret: to redact twice changes nothing.
///
/// ``redact(text:)``, ``redact(url:)-(String)`` and ``redact(_:)`` give what may be shown; ``redact(body:contentType:)``
/// and ``BodyRedactor`` give no body where they cannot vouch for it. Each has a form that notes in a ``RedactionAudit``
/// what was taken out.
public struct Redactor: Sendable, Hashable {
    /// What stands in place of a secret.
    public static let placeholder = "REDACTED"

    /// A redactor that knows the usual secrets.
    package static let standard = Redactor()

    /// Headers and value names that are secret besides the usual ones.
    public var secrets: Set<String> {
        get { settings.secrets }
        set { settings = Settings(secrets: newValue, shown: shown, mode: mode) }
    }
    /// Headers and value names that are shown although they look secret.
    public var shown: Set<String> {
        get { settings.shown }
        set { settings = Settings(secrets: secrets, shown: newValue, mode: mode) }
    }
    /// What becomes of a secret: ``Mode/mask`` by default.
    public var mode: Mode {
        get { settings.mode }
        set { settings = Settings(secrets: secrets, shown: shown, mode: newValue) }
    }

    /// One reference, since a redactor is handed on for each value that is looked at.
    private var settings: Settings

    /// A redactor that knows the usual secrets, and these.
    public init(secrets: Set<String> = [], shown: Set<String> = [], mode: Mode = .mask) {
        settings = Settings(secrets: secrets, shown: shown, mode: mode)
    }

    /// Whether a header's values are secret: those that log a user in or prove who asks.
    public func isSecret(header name: String) -> Bool {
        isSecret(header: name, meaning: SecretNames.header(name))
    }

    /// Whether what a query, form or JSON document holds under this name is secret.
    ///
    /// `state` counts as a secret of its own only where it stands beside `code` or a session, as OAuth has it, so that it
    /// is none here.
    /// - Parameters:
    ///   - name: the name, not percent-encoded.
    ///   - length: the value's length in characters: `key` is a word for much else, so that only 16 and more count.
    public func isSecret(name: String, length: Int) -> Bool {
        let meaning = meaning(of: Array(name.utf8)[...])
        return meaning.isSecret || (meaning.contains(.key) && length >= Self.leastKeyLength)
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
}

// MARK: - Names

extension Redactor {
    /// The fewest bytes of a secret that is called no more than `key`.
    static let leastKeyLength = 16

    func isSecret(header name: String, meaning: SecretNames.Header) -> Bool {
        if !settings.names.isEmpty, let decided = settings.names[SecretNames.plain(name)] { return decided }
        return meaning.isSecret
            || !meaning.isDisjoint(with: [.credentials, .cookies, .cookie])
    }

    /// Whether a value or a header field of this name is secret.
    func names(_ name: ArraySlice<UInt8>) -> Bool {
        meaning(of: name).isSecret
            || isSecret(header: String(decoding: name, as: UTF8.self), meaning: SecretNames.header(name))
    }

    /// What a value's name tells, and the app about it. Of `user[pin]` and `user.pin` the last word counts, too.
    func meaning(of name: ArraySlice<UInt8>) -> SecretNames.Value {
        if !settings.names.isEmpty,
            let decided = settings.names[SecretNames.plain(String(decoding: name, as: UTF8.self))]
        {
            return decided ? [.secret, .part] : []
        }
        let meaning = SecretNames.value(name)
        guard !meaning.isSecret,
            let mark = name.lastIndex(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: ".") })
        else { return meaning }
        return meaning.union(self.meaning(of: name[(mark + 1)...]))
    }
}

/// What an app decided, and what follows from it.
private final class Settings: Sendable, Hashable {
    let secrets: Set<String>
    let shown: Set<String>
    let mode: Redactor.Mode
    /// Whether plain names, of header fields and of values, are secret.
    let names: [String: Bool]

    init(secrets: Set<String>, shown: Set<String>, mode: Redactor.Mode) {
        self.secrets = secrets
        self.shown = shown
        self.mode = mode
        let decided = secrets.map { ($0, true) } + shown.map { ($0, false) }
        names = Dictionary(decided.map { (SecretNames.plain($0), $1) }) { $1 }
    }

    static func == (one: Settings, other: Settings) -> Bool {
        one === other || one.secrets == other.secrets && one.shown == other.shown && one.mode == other.mode
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(secrets)
        hasher.combine(shown)
        hasher.combine(mode)
    }
}

// MARK: - What stands in place of secrets

extension Redactor {
    /// What stands in place of a secret; nil where something already does.
    func replacement(for secret: ArraySlice<UInt8>) -> String? {
        if Self.isPlaceholder(secret) { return nil }
        guard case .hash(let key) = mode.kind, let hash = key.hash(of: Array(secret)) else { return Self.placeholder }
        return "\(Self.placeholder):h:\(hash)"
    }

    /// Whether items that hold a secret go altogether.
    var dropsItems: Bool { mode.kind == .drop }

    /// Whether this is what some redactor puts in place of a secret.
    static func isPlaceholder(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.starts(with: placeholder.utf8) else { return false }
        let rest = value.dropFirst(placeholder.utf8.count)
        if rest.isEmpty { return true }
        return rest.count == 3 + Key.hashDigits && rest.starts(with: ":h:".utf8)
            && rest.dropFirst(3).allSatisfy { $0.hexValue != nil }
    }
}
