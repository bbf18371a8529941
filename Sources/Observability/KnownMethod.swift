import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

enum KnownMethod {
    /// The methods that are shown by name. Others are `_OTHER`, as anybody may make them up.
    static let all: Set<String> = {
        let variable = ProcessInfo.processInfo.environment["OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"]
        guard let variable, !variable.isEmpty else {
            return ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
        }
        return Set(variable.split(separator: ",").map { $0.filter { $0 != " " } })
    }()
}

extension HTTPRequest.Method {
    /// The method where it is known, else `_OTHER`.
    var attribute: String { KnownMethod.all.contains(rawValue) ? rawValue : AttributeName.other }
}
