public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Tells the client's logger of each operation: what was asked and what came of it, without secrets.
///
/// Outermost, it logs one exchange however often retries asked, which tell of each new attempt themselves. Levels are those of `Log`: `.info`, and `.error` for failures and statuses from 500 on.
public struct LogInterceptor: BriefInterceptor {
    /// How an operation is told.
    public enum Style: Sendable {
        /// A message for the request, one for each redirect, and one for the answer, with their header fields.
        case messages
        /// One line when it is over, without header fields.
        case exchanges
        /// As `messages`, the request as the command that repeats it with `curl`. Secrets are left out of it, and so are
        /// bodies: `@body` stands for one. What a GraphQL operation is stands in a comment before it: `# query Home`.
        case commands
    }

    /// `.log`.
    public var place: Pipeline.Place? { .log }
    private let style: Style

    /// Tells operations in this style; `.messages` by default.
    public init(_ style: Style = .messages) {
        self.style = style
    }

    /// Where the logger accepts anything: what accepts no failures accepts nothing.
    public func applies(to operation: NetworkOperation) -> Bool { operation.logger.accepts(.error) }

    /// Logs the message, goes on, and logs what came of it.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let log = operation.surroundings.log(of: operation.request, style, title: operation.title)
        log.request(operation.transfer)
        let start = ContinuousClock.now
        do {
            return log.result(try await next(operation, emit), of: operation.transfer.head, since: start)
        } catch {
            log.failure(error, of: operation.transfer.head, since: start)
            throw error
        }
    }
}
