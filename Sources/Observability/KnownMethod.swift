import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The methods that are shown by name. Others are `_OTHER`, as anybody may make them up.
enum KnownMethod {
    static let all = named(by: ProcessInfo.processInfo.environment["OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"])

    /// - Parameter list: names with commas in between, which take the place of HTTP's own.
    static func named(by list: String?) -> Set<String> {
        let names = (list ?? "").split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        if !names.isEmpty { return Set(names) }
        return ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
    }
}

extension HTTPRequest.Method {
    /// The method where it is known, else `_OTHER`.
    var attribute: String { KnownMethod.all.contains(rawValue) ? rawValue : AttributeName.other }
}
