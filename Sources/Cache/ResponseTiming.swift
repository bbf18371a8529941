package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The freshness lifetime of a response and the age that it had when it was received, in seconds.
struct ResponseTiming {
    /// The lifetime of a response that has a `beagle-hash` and no `Cache-Control`, as in Beagle's own clients.
    private static let beagleLifetime = 300.0
    /// The longest heuristic lifetime: a day.
    private static let longestHeuristic = 86_400.0

    /// RFC 9111, 4.2.1.
    let lifetime: Double
    /// Whether the server states the lifetime.
    let isExplicit: Bool
    /// RFC 9111, 4.2.3.
    let initialAge: Double

    init(_ head: HTTPResponse, _ directives: CacheDirectives, requestTime: Date, responseTime: Date) {
        let fields = head.headerFields
        let received = responseTime.timeIntervalSince1970
        let date = Self.date(fields, .date, received) ?? received
        let apparentAge = max(0, (received - date).rounded(.down))
        let delay = max(0, responseTime.timeIntervalSince(requestTime))
        initialAge = max(apparentAge, Self.age(fields) + delay)
        isExplicit =
            directives.maxAge != nil || fields.contains(.expires)
            || fields.contains(.beagleHash) && !fields.contains(.cacheControl)
        lifetime = Self.lifetime(head, directives, date, received)
    }

    private static func lifetime(
        _ head: HTTPResponse,
        _ directives: CacheDirectives,
        _ date: Double,
        _ received: Double
    ) -> Double {
        let fields = head.headerFields
        if let maxAge = directives.maxAge { return maxAge }
        if fields.contains(.expires) {
            return max(0, (Self.date(fields, .expires, received) ?? 0) - date)
        }
        if fields.contains(.beagleHash), !fields.contains(.cacheControl) { return beagleLifetime }
        guard StatusRules.isHeuristicallyCacheable(head.status) || directives.isPublic,
            let modified = Self.date(fields, .lastModified, received), modified < date
        else { return 0 }
        return min((date - modified) / 10, longestHeuristic)
    }

    private static func date(_ fields: HTTPFields, _ name: HTTPField.Name, _ now: Double) -> Double? {
        fields[single: name].flatMap { HTTPDate($0, isStrict: true, now: Int64(now)) }.map { Double($0.seconds) }
    }

    /// The first value of the first `Age` field (RFC 9111, 5.1); 0 if it isn't a number.
    private static func age(_ fields: HTTPFields) -> Double {
        guard let text = fields.first(where: { $0.name == .age })?.value else { return 0 }
        let first = text.split(separator: ",").first.map { $0.filter { $0 != " " && $0 != "\t" } } ?? ""
        return Int(digits: first).map { min(Double($0), 2_147_483_648) } ?? 0
    }
}

/// The status codes that RFC 9110 defines, as a cache sees them.
enum StatusRules {
    /// Whether responses of a status may be stored without explicit freshness (RFC 9110, 15.1).
    static func isHeuristicallyCacheable(_ status: HTTPResponse.Status) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status.code)
    }

    /// Whether the meaning of a status is known, which `must-understand` asks for (RFC 9111, 5.2.2.3).
    static func isUnderstood(_ status: HTTPResponse.Status) -> Bool {
        switch status.code {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 428, 429, 431, 451, 500...505, 511: true
        default: false
        }
    }
}

extension HTTPField.Name {
    /// `beagle-hash`: the hash of a screen that Beagle's servers send, and that clients send back.
    package static let beagleHash = Self("beagle-hash")!
    /// `Pragma` (RFC 9111, 5.4).
    package static let pragma = Self("Pragma")!
    /// `No-Vary-Search` (HTTP No-Vary-Search, an IETF draft).
    package static let noVarySearch = Self("No-Vary-Search")!
}
