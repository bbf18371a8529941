public import BeagleNetHTTP

/// Makes a failure of kind `.status` of each whole answer whose status is outside 200...299, so that everything above
/// it has one way to fail. A streamed answer passes whatever its status.
public struct StatusInterceptor: BriefInterceptor {
    /// `.status`.
    public var place: Pipeline.Place? { .status }

    /// Lets 200...299 pass.
    public init() {}

    /// Goes on, and throws where the status is outside 200...299.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let result = try await next(operation, emit)
        try check(result, of: operation)
        return result
    }

    /// Fails where the result is refused.
    func check(_ result: NetworkOperation.Result, of operation: NetworkOperation) throws(NetworkError) {
        if result.isRefused { throw result.refusal(of: operation) }
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
