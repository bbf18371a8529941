/// What to do with a 301, 302, 303, 307 or 308 that has a `Location`.
///
/// Escapes of a `Location` stay as they are, and only characters that a URL can't hold are encoded. An empty `Location` is
/// the URL that was asked (RFC 3986, 5.2.2).
public struct RedirectPolicy: Sendable, Hashable {
    /// Redirects followed before `NetworkError.Kind.tooManyRedirects`; 0 hands the redirect itself over, and
    /// less is an error.
    public var limit: Int
    /// Whether a redirect may lead from https to http. No by default: it would undo the encryption.
    public var allowsInsecure: Bool
    /// Asked about each redirect that these rules allow; nil follows it.
    private var hook: Hook<@Sendable (Proposal) -> Decision>?

    /// A policy that follows up to `limit` redirects.
    public init(limit: Int, allowsInsecure: Bool = false) {
        self.limit = limit
        self.allowsInsecure = allowsInsecure
    }

    /// Follows up to 10.
    public static let follow = RedirectPolicy(limit: 10)
    /// Hands the redirect itself over.
    public static let manual = RedirectPolicy(limit: 0)

    /// This policy with the last word given to a function: it sees what would follow, after the method was changed and
    /// credentials were left behind, and only what the policy's own rules allow.
    ///
    /// - Parameter decide: called on the transport's thread, so it must not block.
    public func deciding(_ decide: @escaping @Sendable (Proposal) -> Decision) -> RedirectPolicy {
        var policy = self
        policy.hook = Hook(decide)
        return policy
    }

    /// What a function makes of a redirect; nil where there is none.
    package var decide: (@Sendable (Proposal) -> Decision)? { hook?.function }
}

extension RedirectPolicy {
    /// A redirect, and the message that would follow it.
    public struct Proposal: Sendable {
        /// The answer that redirects.
        public let response: HTTPResponse
        /// The message that it answers.
        public let answered: HTTPRequest
        /// The message that would go out next.
        public let next: HTTPRequest
        /// Redirects followed before this one.
        public let followed: Int

        /// Describes a redirect.
        public init(response: HTTPResponse, answered: HTTPRequest, next: HTTPRequest, followed: Int) {
            self.response = response
            self.answered = answered
            self.next = next
            self.followed = followed
        }
    }

    /// What becomes of a redirect.
    public enum Decision: Sendable {
        /// The proposed message goes out.
        case follow
        /// This message goes out instead, under the same rules. To another origin than the proposed one's the fields of
        /// the answered message that hold credentials don't go with it; those that are new to this one do. A method
        /// changed to GET or HEAD leaves the body behind.
        case followChanged(HTTPRequest)
        /// The redirect itself is the response.
        case handOver
        /// The transfer ends with `NetworkError.Kind.blocked` and this reason, which must hold no secret.
        case refuse(String)
    }
}
