/// A user name and a password, which no description or dump shows.
public struct Credentials: Sendable, Hashable {
    /// The user name.
    public var user: String
    /// The password; empty for none.
    public var password: String

    /// Credentials of these parts, as they are: not percent-encoded.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// Neither of the two.
    public var description: String { "\(Redactor.placeholder):\(Redactor.placeholder)" }
    /// Nothing: `dump` shows what a mirror has.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
