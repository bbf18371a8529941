package import BeagleNetHTTP

/// The directives of the `Cache-Control` fields of a request or a response (RFC 9111, 5.2).
///
/// Unknown directives are ignored. An argument that can't be read counts as 0 seconds, so that a response with a
/// malformed `max-age` is stale (RFC 9111, 4.2.1). If a directive occurs more than once, the stricter argument applies.
package struct CacheDirectives: Sendable, Hashable {
    /// The response or the request must not be stored.
    package private(set) var noStore = false
    /// A stored response must not be used without validation.
    package private(set) var noCache = false
    /// The names of fields, in lower case, that must not be used without validation (`no-cache="set-cookie"`).
    package private(set) var noCacheFields: Set<String> = []
    /// A stale response must not be used without validation.
    package private(set) var mustRevalidate = false
    /// `no-store` doesn't apply to a cache that understands the status code.
    package private(set) var mustUnderstand = false
    /// The response may be stored whatever its status.
    package private(set) var isPublic = false
    /// The response is for one user.
    package private(set) var isPrivate = false
    /// The response doesn't change while it is fresh (RFC 8246).
    package private(set) var isImmutable = false
    /// The request wants a stored response or none.
    package private(set) var onlyIfCached = false
    /// The freshness lifetime, or the highest acceptable age, in seconds.
    package private(set) var maxAge: Double?
    /// The time for which a stale response is acceptable, in seconds; infinite if the directive has no argument.
    package private(set) var maxStale: Double?
    /// The time for which the response must stay fresh, in seconds.
    package private(set) var minFresh: Double?
    /// The time for which a stale response may be used during validation, in seconds (RFC 5861, 3).
    package private(set) var staleWhileRevalidate: Double?
    /// The time for which a stale response may replace an error, in seconds (RFC 5861, 4).
    package private(set) var staleIfError: Double?

    /// Reads the directives of a message's `Cache-Control` fields.
    package init(_ fields: HTTPFields) {
        for field in fields where field.name == .cacheControl { read(field.value) }
    }

    /// The directives of a request. `Pragma: no-cache` counts if there is no `Cache-Control` (RFC 9111, 5.4).
    package init(ofRequest fields: HTTPFields) {
        var hasCacheControl = false
        var pragma: String?
        for field in fields {
            if field.name == .cacheControl {
                hasCacheControl = true
                read(field.value)
            } else if field.name == .pragma {
                pragma = pragma.map { "\($0),\(field.value)" } ?? field.value
            }
        }
        if !hasCacheControl, let pragma {
            noCache = pragma.lowercased().split(separator: ",").contains { $0.filter { $0 != " " } == "no-cache" }
        }
    }

    private enum Argument {
        case none
        case text(String)
        case malformed

        /// A number of seconds, at most 2^31 (RFC 9111, 1.2.2).
        var seconds: Double {
            guard case .text(let text) = self, let seconds = Int(digits: text) else { return 0 }
            return min(Double(seconds), 2_147_483_648)
        }
    }

    private mutating func read(_ text: String) {
        var reader = FieldReader(text)
        while true {
            reader.skipSpace(and: ",")
            guard reader.next != nil else { return }
            let name = reader.token().lowercased()
            var argument = Argument.none
            if reader.skip("=") { argument = reader.value().map { .text($0) } ?? .malformed }
            reader.skipSpace()
            if let next = reader.next, next != UInt8(ascii: ",") {
                argument = .malformed
                reader.skipElement()
            }
            apply(name, argument)
        }
    }

    private mutating func apply(_ name: String, _ argument: Argument) {
        switch name {
        case "no-store": noStore = true
        case "no-cache":
            if case .text(let fields) = argument {
                noCacheFields.formUnion(fields.split(separator: ",").map { $0.filter { $0 != " " }.lowercased() })
            } else {
                noCache = true
            }
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = true
        case "private": isPrivate = true
        case "immutable": isImmutable = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": maxAge = min(maxAge ?? .infinity, argument.seconds)
        case "max-stale":
            if case .none = argument { maxStale = maxStale ?? .infinity } else { limit(&maxStale, argument.seconds) }
        case "min-fresh": minFresh = max(minFresh ?? 0, argument.seconds)
        case "stale-while-revalidate": limit(&staleWhileRevalidate, argument.seconds)
        case "stale-if-error": limit(&staleIfError, argument.seconds)
        default: break
        }
    }

    private func limit(_ value: inout Double?, _ seconds: Double) {
        value = min(value ?? .infinity, seconds)
    }
}

extension FieldReader {
    /// Skips the rest of a list's element. A comma in quotes doesn't end it.
    fileprivate mutating func skipElement() {
        while let byte = next, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = value() } else { position += 1 }
        }
    }
}
