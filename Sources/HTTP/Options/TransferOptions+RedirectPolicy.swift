extension TransferOptions {
    /// The policy for a 301, 302, 303, 307 or 308 response that has a `Location`.
    ///
    /// Percent-escapes in a `Location` are left unchanged, and only characters that are invalid in a URL are encoded.
    /// An empty `Location` refers to the requested URL (RFC 3986, 5.2.2).
    public struct RedirectPolicy: Sendable, Hashable {
        /// The maximum number of redirects to follow before the transfer fails with
        /// `NetworkError.Kind.tooManyRedirects`.
        ///
        /// 0 returns the redirect response itself. A negative limit is an error.
        public var limit: Int
        /// Whether a redirect may lead from https to http.
        ///
        /// The default is `false`, because such a redirect gives up encryption.
        public var allowsInsecure: Bool
        /// The hook called for each redirect that these rules allow; `nil` follows it.
        private var hook: Hook<@Sendable (Proposal) -> Decision>?

        /// Creates a policy that follows up to `limit` redirects.
        public init(limit: Int, allowsInsecure: Bool = false) {
            self.limit = limit
            self.allowsInsecure = allowsInsecure
        }

        /// A policy that follows up to 10 redirects.
        public static let follow = RedirectPolicy(limit: 10)
        /// A policy that returns the redirect response itself.
        public static let manual = RedirectPolicy(limit: 0)

        /// Returns this policy with a function that makes the final decision about each redirect.
        ///
        /// The function is called only for redirects that the policy's own rules allow. The proposed request already
        /// has its new method, and credentials have been removed if necessary.
        ///
        /// - Parameter decide: A function that is called on the transport's thread and must not block.
        public func deciding(_ decide: @escaping @Sendable (Proposal) -> Decision) -> RedirectPolicy {
            var policy = self
            policy.hook = Hook(decide)
            return policy
        }

        /// The function that decides about redirects, or `nil` if none is set.
        package var decide: (@Sendable (Proposal) -> Decision)? { hook?.function }
    }
}

extension TransferOptions.RedirectPolicy {
    /// A redirect, and the request that would follow it.
    public struct Proposal: Sendable {
        /// The redirect response.
        public let response: HTTPResponse
        /// The request that was redirected.
        public let redirected: HTTPRequest
        /// The request that would be sent next.
        public let next: HTTPRequest
        /// The number of redirects followed before this one.
        public let followed: Int

        /// Creates a proposal.
        public init(response: HTTPResponse, redirected: HTTPRequest, next: HTTPRequest, followed: Int) {
            self.response = response
            self.redirected = redirected
            self.next = next
            self.followed = followed
        }
    }

    /// The decision about a redirect.
    public enum Decision: Sendable {
        /// Sends the proposed request.
        case follow
        /// Sends this request instead, under the same rules.
        ///
        /// If its origin differs from the proposed one, credential fields of the redirected request are removed; fields
        /// that only this request has are kept. If the method changes to GET or HEAD, the body is dropped.
        case followChanged(HTTPRequest)
        /// Returns the redirect as the response.
        case returnRedirect
        /// Fails the transfer with `NetworkError.Kind.blocked` and this reason, which must not contain secrets.
        case refuse(String)
    }
}
