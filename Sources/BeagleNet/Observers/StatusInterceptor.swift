import BeagleNetHTTP

/// An interceptor that turns complete responses with a status outside 200...299 into errors of kind `.status`, so that
/// everything above it handles only one kind of failure.
///
/// A streamed response passes whatever its status.
public final class StatusInterceptor: RequestObserver, RequestObservation {
    /// The interceptor's place: `.status`.
    public var place: Pipeline.Place? { .status }

    /// Creates an interceptor that lets 200...299 pass.
    public init() {}

    /// Observes the outcome.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? { self }

    /// Turns a response with a status outside 200...299 into an error.
    public func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        guard case .success(let result) = outcome, result.isRefused else { return }
        outcome = .failure(result.refusal(of: operation))
    }
}

extension NetworkOperation.Result {
    fileprivate var isRefused: Bool {
        if case .response(let response) = content { return response.status.kind != .successful }
        return false
    }

    /// Returns the error for the response.
    ///
    /// Never inlined, because it would enlarge the frame of every operation.
    @inline(never) fileprivate func refusal(of operation: NetworkOperation) -> NetworkError {
        response?.statusError(for: operation.transfer.head) ?? .unhandled(operation.kind)
    }
}
