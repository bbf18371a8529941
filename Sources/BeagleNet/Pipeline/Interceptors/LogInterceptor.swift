import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Logs each operation and its result at level `.debug`, without secrets. If the logger doesn't accept that level, as
/// swift-log's doesn't by default, it costs one comparison.
///
/// An operation is logged once, however often it was retried; the `RetryInterceptor` logs each new attempt.
public struct LogInterceptor: RequestObserver {
    /// The lines that are logged for an operation.
    public enum Style: Sendable {
        /// A message for the request, one for each redirect, and one for the response, with their header fields.
        case messages
        /// One line at the end, without header fields: `GET https://api.example.com/home -> 200 in 12 ms`.
        case exchanges
        /// As `messages`, the request as the command that repeats it with `curl`. Secrets are left out of it, and so are
        /// bodies: `@body` stands for one. What a GraphQL operation is stands in a comment before it: `# query Home`.
        case commands
    }

    /// `.log`.
    public var place: Pipeline.Place? { .log }
    private let style: Style

    /// Logs operations in this style; `.exchanges` by default.
    public init(_ style: Style = .exchanges) {
        self.style = style
    }

    /// Whether the logger accepts the level `.debug`.
    public func applies(to operation: NetworkOperation) -> Bool { operation.logs(.debug) }

    /// Logs the request, and its outcome when that is there.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        let log = NetworkLog(of: operation, style)
        log.request()
        return log
    }
}
