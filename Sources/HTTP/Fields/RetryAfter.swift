#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HTTPResponse {
    /// The delay that the server asks for (`Retry-After`: seconds, or a date, RFC 9110, 10.2.3), or `nil` if there is
    /// no valid value.
    ///
    /// If there are several values, the longest is used. A date is relative to the server's own `Date`, because clocks
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
