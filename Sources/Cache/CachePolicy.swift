package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The rules of a private HTTP cache (RFC 9111) as pure functions: no I/O and no clock.
package enum CachePolicy {
    /// A rule that selects acceptable stored responses.
    package enum Use: Sendable, Hashable {
        /// Fresh ones, as RFC 9111 says.
        case fresh
        /// Fresh ones, and those for which the server states no lifetime; of both, those that were received or
        /// validated within `limit` seconds.
        case freshOrUnspecified(limit: Double)
        /// All of them, except stale ones that must be validated.
        case any
        /// None before the server has validated it; `unlessImmutable` excepts fresh responses that don't change (RFC
        /// 8246).
        case validated(unlessImmutable: Bool)
        /// None.
        case none
    }

    /// A decision about a request.
    package enum Decision: Sendable {
        /// Use the stored response.
        case hit(StoredResponse)
        /// Use the stored response, and validate it in the background (`stale-while-revalidate`).
        case staleWhileRevalidate(StoredResponse)
        /// Ask the server. `stored` is the response that matches the request, and `candidates` are those that may turn
        /// out to match by their entity tags.
        case forward(CacheStatus.ForwardReason, stored: StoredResponse?, candidates: [StoredResponse])
        /// Fail, because the request accepts only a stored response, and no acceptable one exists (`only-if-cached`).
        case unavailable
    }

    /// Decides what to do with a request.
    ///
    /// - Parameters:
    ///   - request: The request as the app made it.
    ///   - responses: The stored responses of its URL.
    ///   - use: Which of them will do.
    ///   - now: The current time.
    ///   - digest: Converts the value of a selecting field to the form in which the store holds it.
    package static func decision(
        for request: HTTPRequest,
        _ responses: [StoredResponse],
        use: Use,
        now: Date,
        digest: (String) -> String = { $0 }
    ) -> Decision {
        let directives = CacheDirectives(ofRequest: request.headerFields)
        let isForStore = directives.onlyIfCached || use == .any
        func forward(_ reason: CacheStatus.ForwardReason, _ stored: StoredResponse? = nil) -> Decision {
            if isForStore { return .unavailable }
            return .forward(reason, stored: stored, candidates: reason == .varyMiss ? responses : [])
        }
        if directives.noStore || use == .none { return .forward(.bypass, stored: nil, candidates: []) }
        guard let stored = selected(from: responses, for: request, digest: digest) else {
            return forward(responses.isEmpty ? .uriMiss : .varyMiss)
        }
        if use == .any { return stored.allowsStale || stored.isFresh(at: now) ? .hit(stored) : .unavailable }
        if directives.noCache { return forward(.request, stored) }
        if stored.directives.noCache { return forward(.stale, stored) }
        if case .validated(let unlessImmutable) = use {
            let isSettled = unlessImmutable && stored.directives.isImmutable && stored.isFresh(at: now)
            return isSettled ? .hit(stored) : forward(.bypass, stored)
        }
        if case .freshOrUnspecified(let limit) = use {
            if stored.residentTime(at: now) >= limit { return forward(.stale, stored) }
            if !stored.hasExplicitLifetime, stored.allowsStale { return .hit(stored) }
        }
        return freshness(of: stored, directives, now, forward)
    }

    private static func freshness(
        of stored: StoredResponse,
        _ directives: CacheDirectives,
        _ now: Date,
        _ forward: (CacheStatus.ForwardReason, StoredResponse?) -> Decision
    ) -> Decision {
        let age = stored.age(at: now)
        if let maxAge = directives.maxAge, age > maxAge || maxAge == 0 {
            // A reload. Those of immutable responses are in vain (RFC 8246, 2).
            let isSettled = maxAge == 0 && stored.directives.isImmutable && stored.isFresh(at: now)
            return isSettled ? .hit(stored) : forward(.request, stored)
        }
        if let minFresh = directives.minFresh, stored.lifetime - age < minFresh { return forward(.request, stored) }
        let staleness = age - stored.lifetime
        if staleness < 0 { return .hit(stored) }
        guard stored.allowsStale else { return forward(.stale, stored) }
        if let maxStale = directives.maxStale, staleness <= maxStale { return .hit(stored) }
        if let window = stored.directives.staleWhileRevalidate, staleness <= window {
            return .staleWhileRevalidate(stored)
        }
        return forward(.stale, stored)
    }

    /// The most recent of the responses that match a request's fields (RFC 9111, 4.1).
    package static func selected(
        from responses: [StoredResponse],
        for request: HTTPRequest,
        digest: (String) -> String = { $0 }
    ) -> StoredResponse? {
        var latest: StoredResponse?
        let needsCapabilities = request.headerFields.contains(.beagleCapabilities)
        for response in responses where latest.map({ $0.responseTime < response.responseTime }) ?? true {
            let matches = response.selectingFields.allSatisfy { field in
                StoredResponse.SelectingField(field.name, of: request.headerFields).value.map(digest) == field.value
            }
            if matches, !needsCapabilities || response.selectingFields.contains(where: { $0.name == capabilities }) {
                latest = response
            }
        }
        return latest
    }

    /// Whether a failure to reach the server, or its status 500, 502, 503 or 504, may be replaced by a stale response
    /// (`stale-if-error`, RFC 5861, 4).
    package static func allowsStale(_ stored: StoredResponse, ifErrorOf request: HTTPRequest, now: Date) -> Bool {
        guard stored.allowsStale else { return false }
        let directives = CacheDirectives(ofRequest: request.headerFields)
        guard let window = directives.staleIfError ?? stored.directives.staleIfError else { return false }
        return stored.age(at: now) - stored.lifetime <= window
    }
}
