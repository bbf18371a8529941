public import BeagleNetHTTP

/// Makes a failure of kind `.status` of each whole answer whose status is outside 200...299, so that everything above
/// it has one way to fail. A streamed answer passes whatever its status.
public struct StatusInterceptor: BriefInterceptor {
    public var place: Pipeline.Place? { .status }

    /// Lets 200...299 pass.
    public init() {}

    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let result = try await next(operation, emit)
        if let response = result.response { _ = try response.result(of: operation.transfer.head).get() }
        return result
    }
}
