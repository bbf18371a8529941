import BeagleNetHTTP

/// The names of attributes that spans and metrics share, defined by OpenTelemetry.
///
/// Source: https://opentelemetry.io/docs/specs/semconv/http/
enum AttributeName {
    static let method = "http.request.method"
    static let status = "http.response.status_code"
    static let address = "server.address"
    static let port = "server.port"
    static let protocolVersion = "network.protocol.version"
    static let errorType = "error.type"
    static let template = "url.template"
    /// The value that replaces all values beyond a limit.
    static let other = "_OTHER"
}

extension Origin {
    /// The host, which for an IPv6 address is without brackets.
    var address: String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
