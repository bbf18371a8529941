import BeagleNetHTTP

/// Makes a failure of kind `.status` of each whole answer whose status is outside 200...299, so that everything above
/// it has one way to fail. A streamed answer passes whatever its status.
public final class StatusInterceptor: RequestObserver, RequestObservation {
    /// `.status`.
    public var place: Pipeline.Place? { .status }

    /// Lets 200...299 pass.
    public init() {}

    /// Observes the outcome.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? { self }

    /// Makes a failure of a response whose status is outside 200...299.
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

    /// Never inlined: the frame of each operation would have room for it.
    @inline(never) fileprivate func refusal(of operation: NetworkOperation) -> NetworkError {
        response?.refusal(of: operation.transfer.head) ?? .unhandled(operation.kind)
    }
}
