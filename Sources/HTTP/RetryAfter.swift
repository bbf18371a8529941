#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HTTPResponse {
    /// The time that the server asks a client to wait (`Retry-After`: seconds, or a date, RFC 9110, 10.2.3), or `nil` if there is
    /// none that can be read. Of several the longest counts. A date is a distance from the server's own `Date`, since clocks
    /// differ.
    package var retryAfter: Duration? {
        headerFields[values: .retryAfter].compactMap(duration).max()
    }

    private func duration(_ text: String) -> Duration? {
        if let seconds = Int(digits: text) { return .seconds(min(Int64(seconds), 1 << 40)) }
        let now = headerFields[single: .date].flatMap { HTTPDate($0) }?.seconds ?? Int64(Date().timeIntervalSince1970)
        return HTTPDate(text, now: now).map { .seconds(max(0, $0.seconds - now)) }
    }
}
