#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Identifies the stored responses to a request: all variants of one URL for one user.
///
/// Keys don't depend on the process, except those with an `account`.
public struct ResponseKey: Sendable, Hashable {
    /// The parts and their hash, which all copies share, because a key is copied and hashed more often than it is made.
    private final class Parts: Sendable {
        let method: String
        let scheme: String
        let authority: String
        let target: String
        let body: Data?
        let partition: String
        let account: UInt64
        let hash: Int

        init(
            _ method: String,
            _ scheme: String,
            _ authority: String,
            _ target: String,
            _ body: Data?,
            _ partition: String,
            _ account: UInt64
        ) {
            (self.method, self.scheme, self.authority, self.target) = (method, scheme, authority, target)
            (self.body, self.partition, self.account) = (body, partition, account)
            var hasher = Hasher()
            for text in [method, scheme, authority, target, partition] { hasher.combine(text) }
            hasher.combine(body)
            hasher.combine(account)
            hash = hasher.finalize()
        }
    }

    private let parts: Parts

    /// `GET`, also for HEAD; `POST` for a GraphQL query that is sent in a body.
    public var method: String { parts.method }
    /// `http` or `https`. Responses of the two are never mixed.
    public var scheme: String { parts.scheme }
    /// Host and port, in lower case.
    public var authority: String { parts.authority }
    /// Path and query as they are sent.
    public var target: String { parts.target }
    /// The body of a query with the fields of its message; `nil` for GET.
    public var body: Data? { parts.body }
    /// The user that the app named for the request; empty if it named none.
    public var partition: String { parts.partition }
    /// A keyed hash of the credentials if the app named no user; 0 without credentials. It means nothing in another
    /// process.
    public var account: UInt64 { parts.account }

    /// Whether a store may hold responses longer than the process lives: the app named the user, or there are no
    /// credentials.
    public var isPersistent: Bool { account == 0 }

    /// Describes a key.
    public init(
        method: String = "GET",
        scheme: String,
        authority: String,
        target: String,
        body: Data? = nil,
        partition: String = "",
        account: UInt64 = 0
    ) {
        parts = Parts(method, scheme, authority, target, body, partition, account)
    }

    /// Whether all parts are equal.
    public static func == (one: ResponseKey, other: ResponseKey) -> Bool {
        let (one, other) = (one.parts, other.parts)
        if one === other { return true }
        return one.hash == other.hash && one.target == other.target && one.authority == other.authority
            && one.scheme == other.scheme && one.method == other.method && one.partition == other.partition
            && one.account == other.account && one.body == other.body
    }

    /// Hashes the parts.
    public func hash(into hasher: inout Hasher) { hasher.combine(parts.hash) }

    /// The key of another target of the same site and user.
    package func with(target: String) -> ResponseKey {
        ResponseKey(
            method: method,
            scheme: scheme,
            authority: authority,
            target: target,
            body: body,
            partition: partition,
            account: account
        )
    }
}
