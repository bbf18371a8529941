/// A redactor that removes secrets from data that is shown or stored: credentials in headers, and secret values in
/// URLs, texts and bodies.
///
/// Names of header fields and of values in URLs, forms, JSON and GraphQL share one list. They are compared without
/// regard to case, `-` and `_`; names of values also without regard to `.` and brackets. A placeholder isn't a secret,
/// so redacting twice changes nothing.
///
/// ``redact(text:)``, ``redact(url:)-(String)`` and ``redact(_:)`` return text that is safe to show.
/// ``redact(body:contentType:)`` and ``Redactor/BodyRedactor`` return no body if they can't tell what is secret in it.
/// Each has a variant that records the redacted locations in a ``Redactor/Audit``.
public struct Redactor: Sendable, Hashable {
    /// The text that replaces a secret.
    public static let placeholder = "REDACTED"

    /// A redactor for the usual secrets.
    package static let standard = Redactor()

    /// The names of headers and values that are secret in addition to the usual ones.
    public var secrets: Set<String> {
        get { settings.secrets }
        set { settings = Settings(secrets: newValue, visibleNames: visibleNames, mode: mode) }
    }
    /// The names of headers and values that are shown although they look secret.
    public var visibleNames: Set<String> {
        get { settings.visibleNames }
        set { settings = Settings(secrets: secrets, visibleNames: newValue, mode: mode) }
    }
    /// The treatment of a secret; ``Mode/mask`` by default.
    public var mode: Mode {
        get { settings.mode }
        set { settings = Settings(secrets: secrets, visibleNames: visibleNames, mode: newValue) }
    }

    /// The settings behind one reference, since a redactor is passed on for each value.
    private var settings: Settings

    /// Creates a redactor for the usual secrets and those named here.
    public init(secrets: Set<String> = [], visibleNames: Set<String> = [], mode: Mode = .mask) {
        settings = Settings(secrets: secrets, visibleNames: visibleNames, mode: mode)
    }

    /// Returns whether a header's values are secret because they authenticate a user or client.
    public func isSecret(header name: String) -> Bool {
        isSecret(header: name, meaning: SecretNames.header(name))
    }

    /// Returns whether the value with this name in a query, form or JSON text is secret.
    ///
    /// `state` is secret only next to `code` or a session, as in OAuth, so the result for `state` is `false`.
    ///
    /// - Parameters:
    ///   - name: The name, not percent-encoded.
    ///   - length: The length of the value in characters. `key` has many other meanings, so it is secret only if the
    ///     length is 16 or more.
    public func isSecret(name: String, length: Int) -> Bool {
        let meaning = meaning(of: Array(name.utf8)[...])
        return meaning.isSecret || (meaning.contains(.key) && length >= Self.minKeyLength)
    }

    /// Returns the size and media type of a body, never its contents.
    public func summary(of body: Data?, contentType: String?) -> String {
        guard let body, !body.isEmpty else { return "no body" }
        return "\(counted(body.count, "byte")) of \(mediaType(contentType))"
    }

    /// Returns the media type without parameters, or `unknown type` if it is invalid.
    package func mediaType(_ contentType: String?) -> String {
        contentType.flatMap(MediaType.init)?.essence ?? "unknown type"
    }
}

// MARK: - Names

extension Redactor {
    /// The minimum length of a secret whose name is only `key`, in bytes.
    static let minKeyLength = 16

    func isSecret(header name: String, meaning: SecretNames.Header) -> Bool {
        if !settings.names.isEmpty, let decided = settings.names[SecretNames.plain(name)] { return decided }
        return meaning.isSecret
            || !meaning.isDisjoint(with: [.credentials, .cookies, .cookie])
    }

    /// Returns whether a value or a header field with this name is secret.
    func isSecretName(_ name: ArraySlice<UInt8>) -> Bool {
        meaning(of: name).isSecret
            || isSecret(header: String(decoding: name, as: UTF8.self), meaning: SecretNames.header(name))
    }

    /// Returns the meaning of a value's name, or the app's own setting for it. For `user[pin]` and `user.pin`, the last
    /// word counts too.
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

/// The settings of an app, and data derived from them.
private final class Settings: Sendable, Hashable {
    let secrets: Set<String>
    let visibleNames: Set<String>
    let mode: Redactor.Mode
    /// Whether a header field or value is secret, by its plain name.
    let names: [String: Bool]

    init(secrets: Set<String>, visibleNames: Set<String>, mode: Redactor.Mode) {
        self.secrets = secrets
        self.visibleNames = visibleNames
        self.mode = mode
        let decided = secrets.map { ($0, true) } + visibleNames.map { ($0, false) }
        names = Dictionary(decided.map { (SecretNames.plain($0), $1) }) { $1 }
    }

    static func == (one: Settings, other: Settings) -> Bool {
        one === other
            || one.secrets == other.secrets && one.visibleNames == other.visibleNames && one.mode == other.mode
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(secrets)
        hasher.combine(visibleNames)
        hasher.combine(mode)
    }
}

// MARK: - What stands in place of secrets

extension Redactor {
    /// Returns the replacement for a secret, or `nil` if it is already a placeholder.
    func replacement(for secret: ArraySlice<UInt8>) -> String? {
        if Self.isPlaceholder(secret) { return nil }
        guard case .hash(let key) = mode.kind, let hash = key.hash(of: Array(secret)) else { return Self.placeholder }
        return "\(Self.placeholder):h:\(hash)"
    }

    /// Whether items that contain a secret are removed.
    var dropsItems: Bool { mode.kind == .drop }

    /// Returns whether this is a placeholder written by any redactor.
    static func isPlaceholder(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.starts(with: placeholder.utf8) else { return false }
        let rest = value.dropFirst(placeholder.utf8.count)
        if rest.isEmpty { return true }
        return rest.count == 3 + Key.hashDigits && rest.starts(with: ":h:".utf8)
            && rest.dropFirst(3).allSatisfy { $0.hexValue != nil }
    }
}
