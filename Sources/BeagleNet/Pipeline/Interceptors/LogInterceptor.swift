public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Tells the client's logger of each operation: what was asked and what came of it, without secrets.
///
/// Outermost, it logs one exchange however often retries asked; each redirect and each new attempt has a line of its
/// own.
public struct LogInterceptor: BriefInterceptor {
    /// `.log`.
    public var place: Pipeline.Place? { .log }

    /// Logs messages at the levels of `Log`: `.info`, and `.error` for failures and statuses from 400 on.
    public init() {}

    /// Where the logger accepts anything: what accepts no failures accepts nothing.
    public func applies(to operation: NetworkOperation) -> Bool { operation.logger.accepts(.error) }

    /// Logs the message, goes on, and logs what came of it.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let log = operation.surroundings.log(of: operation.request)
        log.request(operation.transfer)
        let start = ContinuousClock.now
        do {
            return log.result(try await next(operation, emit), since: start)
        } catch {
            log.failure(error, of: operation.transfer.head)
            throw error
        }
    }
}
