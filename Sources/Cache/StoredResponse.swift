public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A complete response in a `ResponseStore`, with the times that its age follows from.
public final class StoredResponse: Sendable {
    /// Status and fields, without those that belong to the connection (RFC 9111, 3.1).
    public let head: HTTPResponse
    /// The decoded body.
    public let body: Data
    /// The trailers.
    public let trailers: HTTPFields
    /// The URL that responded, after redirects; empty if it is unknown.
    public let url: String
    /// The fields of the request that `Vary` names.
    public let selectingFields: [SelectingField]
    /// Whether the response came from another URL than that of the key. The redirect may change, so the response is
    /// never fresh.
    public let isRedirected: Bool
    /// The time at which the request was sent.
    public let requestTime: Date
    /// The time at which the response, or its last validation, was received.
    public let responseTime: Date

    /// The directives of the response.
    package let directives: CacheDirectives
    /// The freshness lifetime in seconds (RFC 9111, 4.2.1).
    package let lifetime: Double
    /// Whether the server states the lifetime, so that it isn't a guess.
    package let hasExplicitLifetime: Bool
    /// The age in seconds that the response had when it was received (RFC 9111, 4.2.3).
    package let initialAge: Double

    /// Describes a stored response.
    public init(
        head: HTTPResponse,
        body: Data,
        trailers: HTTPFields = [:],
        url: String = "",
        selectingFields: [SelectingField] = [],
        isRedirected: Bool = false,
        requestTime: Date,
        responseTime: Date
    ) {
        self.head = head
        self.body = body
        self.trailers = trailers
        self.url = url
        self.selectingFields = selectingFields
        self.isRedirected = isRedirected
        self.requestTime = requestTime
        self.responseTime = responseTime
        directives = CacheDirectives(head.headerFields)
        let timing = ResponseTiming(head, directives, requestTime: requestTime, responseTime: responseTime)
        lifetime = isRedirected ? 0 : timing.lifetime
        hasExplicitLifetime = isRedirected || timing.isExplicit
        initialAge = timing.initialAge
    }

    /// The entity tag, if the response has a single one that is well-formed.
    package var entityTag: EntityTag? { head.headerFields[single: .eTag].flatMap { EntityTag($0) } }

    /// The time since the response was received or validated, in seconds.
    ///
    /// If the system's clock was set back by more than a minute since then, the time is unknown and counts as infinite.
    package func residentTime(at now: Date) -> Double {
        let time = now.timeIntervalSince(responseTime)
        return time < -60 ? .infinity : max(0, time)
    }

    /// The age in seconds (RFC 9111, 4.2.3).
    package func age(at now: Date) -> Double { initialAge + residentTime(at: now) }

    /// Whether the response may be used without validation because of its age (RFC 9111, 4.2).
    package func isFresh(at now: Date) -> Bool { lifetime > age(at: now) }

    /// Whether a stale response may be used at all without validation (RFC 9111, 4.2.4).
    package var allowsStale: Bool { !directives.mustRevalidate && !directives.noCache }

    /// The memory that a response takes in addition to its body and fields, roughly, in bytes.
    package static let overhead = 1_024

    /// An estimate of the memory that the response takes, in bytes.
    package var byteCount: Int {
        [head.headerFields, trailers].joined().reduce(body.count + url.utf8.count + Self.overhead) {
            $0 + $1.name.rawName.utf8.count + $1.value.utf8.count
        }
    }
}
