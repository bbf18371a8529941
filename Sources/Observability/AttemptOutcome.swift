import BeagleNet
import BeagleNetHTTP

/// The outcome of an attempt.
struct AttemptOutcome: Sendable {
    var status: Int?
    /// The reason why there is no complete response.
    var failure: NetworkError?
    var metrics: TransferMetrics?
    /// Whether the response is complete.
    var isComplete = true

    init(_ error: NetworkError) {
        status = error.response?.status.code
        failure = error.kind == .status ? nil : error
        metrics = error.metrics
        isComplete = error.kind == .status
    }

    init(_ result: NetworkOperation.Result) {
        status = result.status?.code
        switch result.content {
        case .response(let response): metrics = response.metrics
        case .stream(let stream): metrics = stream.metrics
        case .progress, .connection: break
        }
    }

    /// Creates the outcome of a streamed body; releasing the body early isn't a failure.
    init(_ stream: StreamingResponse, _ error: NetworkError?) {
        status = stream.response.status.code
        failure = error.flatMap { $0.isCancelled ? nil : $0 }
        metrics = stream.metrics
        isComplete = error == nil
    }

    /// The `error.type` attribute, which has few distinct values: the kind of the error, or a status of 400 or above.
    var errorType: String? {
        if let failure { return failure.kind.rawValue }
        return status.flatMap { $0 >= 400 ? String($0) : nil }
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// Calls `report` once with the outcome: immediately, or if the body is streamed, when that has ended.
    ///
    /// - Returns: The same result.
    func onEnd(_ report: @escaping @Sendable (AttemptOutcome) -> Void) -> Self {
        switch self {
        case .failure(let error):
            report(AttemptOutcome(error))
            return self
        case .success(var result):
            guard case .stream(var stream) = result.content, case .stream = stream.body.content else {
                report(AttemptOutcome(result))
                return self
            }
            var told = stream
            told.body = HTTPBody()
            stream.body = stream.body.onEnd { [told] _, error in report(AttemptOutcome(told, error)) }
            result.content = .stream(stream)
            return .success(result)
        }
    }
}
