import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An interceptor that logs each operation and its result at level `.debug`, without secrets.
///
/// If the logger doesn't accept that level, as swift-log's doesn't by default, it costs one comparison. An operation is
/// logged once, however often it was retried. The `RetryInterceptor` logs each new attempt.
public struct LogInterceptor: RequestObserver {
    /// The format of the log messages for an operation.
    public enum Style: Sendable {
        /// A message for the request, one for each redirect, and one for the response, with their header fields.
        case messages
        /// One line at the end, without header fields: `GET https://api.example.com/home -> 200 in 12 ms`.
        case exchanges
        /// As `messages`, but with the request as a `curl` command that repeats it. The command contains no secrets and
        /// no body, for which it has `@body`. For a GraphQL operation, a comment with its name precedes the command:
        /// `# query Home`.
        case commands
    }

    /// The interceptor's place: `.log`.
    public var place: Pipeline.Place? { .log }
    private let style: Style

    /// Creates an interceptor that logs in this style; `.exchanges` by default.
    public init(_ style: Style = .exchanges) {
        self.style = style
    }

    /// Returns whether the logger accepts the level `.debug`.
    public func applies(to operation: NetworkOperation) -> Bool { operation.logs(.debug) }

    /// Logs the request, and its outcome when it is available.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        let log = NetworkLog(of: operation, style)
        log.request()
        return log
    }
}
