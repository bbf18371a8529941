import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The methods that are reported by name; others are `_OTHER`, because their number isn't limited.
enum KnownMethod {
    static let all = named(by: ProcessInfo.processInfo.environment["OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"])

    /// Returns the methods of a list, or by default those of HTTP.
    ///
    /// - Parameter list: Method names separated by commas, which replace those of HTTP.
    static func named(by list: String?) -> Set<String> {
        let names = (list ?? "").split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        if !names.isEmpty { return Set(names) }
        return ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
    }
}

extension HTTPRequest.Method {
    /// The method if it is known, otherwise `_OTHER`.
    var attribute: String { KnownMethod.all.contains(rawValue) ? rawValue : AttributeName.other }
}
