/// What to do with a 301, 302, 303, 307 or 308 that names a `Location`.
public struct RedirectPolicy: Sendable, Hashable {
    /// Redirects followed before `NetworkError.Kind.tooManyRedirects`; 0 hands the redirect itself over.
    public var limit: Int
    /// Whether a redirect may lead from https to http. No by default: it would undo the encryption.
    public var allowsInsecure: Bool

    /// A policy that follows up to `limit` redirects.
    public init(limit: Int, allowsInsecure: Bool = false) {
        self.limit = limit
        self.allowsInsecure = allowsInsecure
    }

    /// Follows up to 10.
    public static let follow = RedirectPolicy(limit: 10)
    /// Hands the redirect itself over.
    public static let manual = RedirectPolicy(limit: 0)
}
