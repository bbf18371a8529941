#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HTTPResponse {
    /// How long the server asks a client to wait (`Retry-After`: seconds, or a date, RFC 9110, 10.2.3); nil where it
    /// does not ask, or not in a form that can be read. A date is a distance from the server's own `Date`, since clocks
    /// differ.
    package var retryAfter: Duration? {
        guard let text = headerFields[.retryAfter] else { return nil }
        if let seconds = Int64(text), seconds >= 0 { return .seconds(min(seconds, 1 << 40)) }
        guard let date = HTTPDate(text) else { return nil }
        let now = headerFields[.date].flatMap { HTTPDate($0) }?.seconds ?? Int64(Date().timeIntervalSince1970)
        return .seconds(max(0, date.seconds - now))
    }
}
