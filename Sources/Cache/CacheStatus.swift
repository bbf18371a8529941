package import BeagleNetHTTP

/// The part that stored responses had in a response, in the words of RFC 9211 (`Cache-Status`).
public struct CacheStatus: Sendable, Hashable {
    /// A reason to ask the server.
    public enum ForwardReason: String, Sendable, Hashable, CaseIterable {
        /// The operation's policy or the request asks for the server's response.
        case bypass
        /// Responses to the method aren't stored.
        case method
        /// Nothing is stored for the URL.
        case uriMiss = "uri-miss"
        /// Responses are stored for the URL, but not for these request fields (`Vary`).
        case varyMiss = "vary-miss"
        /// The request's `Cache-Control` excludes the stored response.
        case request
        /// The stored response is stale.
        case stale
        /// Only the beginning of the response is stored.
        case partial
    }

    /// The reason to ask the server, or `nil` if the stored response was used without.
    public var forwardReason: ForwardReason?
    /// Whether the server confirmed the stored response with 304.
    public var isRevalidated: Bool
    /// Whether the stored response was used although it is stale.
    public var isStale: Bool
    /// The age of the stored response that was used; `nil` if none was.
    public var age: Duration?
    /// The time for which the stored response is still fresh; negative if it is stale, and `nil` if none was used.
    public var timeToLive: Duration?

    /// Describes how a response was obtained.
    public init(
        forwardReason: ForwardReason? = nil,
        isRevalidated: Bool = false,
        isStale: Bool = false,
        age: Duration? = nil,
        timeToLive: Duration? = nil
    ) {
        self.forwardReason = forwardReason
        self.isRevalidated = isRevalidated
        self.isStale = isStale
        self.age = age
        self.timeToLive = timeToLive
    }

    /// The longest time that is shown, in seconds: about 70 years.
    private static let longest = 2_147_483_648.0

    /// Creates the status of a stored response that was used without asking the server.
    package init(_ freshness: RawHead.Freshness) {
        let (age, lifetime) = (freshness.age, freshness.lifetime)
        self.init(
            isStale: age >= lifetime,
            age: .seconds(min(age, Self.longest)),
            timeToLive: .seconds(max(-Self.longest, min(lifetime - age, Self.longest)))
        )
    }
}

extension CacheStatus: CustomStringConvertible {
    /// The status as in a `Cache-Status` field, such as `hit; ttl=37` or `fwd=stale; fwd-status=304`.
    public var description: String {
        guard let forwardReason else {
            return "hit" + (timeToLive.map { "; ttl=\($0.components.seconds)" } ?? "")
        }
        let outcome = isRevalidated ? "; fwd-status=304" : isStale ? "; stale" : ""
        return "fwd=\(forwardReason.rawValue)" + outcome
    }
}
