import BeagleNet
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A field that a filter can test.
enum FilterField: Sendable, Hashable {
    case kind, method, host, path, url, status, time, size, error, operation, id, body
    /// The header fields with this name, of the request and the response.
    case header(String)

    var isNumber: Bool {
        switch self {
        case .status, .time, .size: true
        default: false
        }
    }

    /// Whether `==` is case-sensitive.
    var hasCase: Bool {
        switch self {
        case .kind, .method, .host, .header: false
        default: true
        }
    }
}
