/// A user name and a password.
///
/// Descriptions and dumps don't show them.
public struct Credentials: Sendable, Hashable {
    /// The user name.
    public var user: String
    /// The password; may be empty.
    public var password: String

    /// Creates credentials from plain text, which isn't percent-encoded.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// A placeholder for the user name and the password.
    public var description: String { "\(Redactor.placeholder):\(Redactor.placeholder)" }
    /// A mirror without children, because `dump` prints a mirror's children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
