#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Identifies the stored responses to a request: all variants of one URL for one user.
///
/// Keys don't depend on the process, except those with an `account`.
public struct ResponseKey: Sendable, Hashable {
    /// `GET`, also for HEAD; `POST` for a GraphQL query that is sent in a body.
    public let method: String
    /// `http` or `https`. Responses of the two are never mixed.
    public let scheme: String
    /// Host and port, in lower case.
    public let authority: String
    /// Path and query as they are sent.
    public let target: String
    /// The body of a query with the fields of its message; `nil` for GET.
    public let body: Data?
    /// The user that the app named for the request; empty if it named none.
    public let partition: String
    /// A keyed hash of the credentials if the app named no user; 0 without credentials. It means nothing in another
    /// process.
    public let account: UInt64

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
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.target = target
        self.body = body
        self.partition = partition
        self.account = account
    }

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
