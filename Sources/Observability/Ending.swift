import BeagleNet
import BeagleNetHTTP

/// How an attempt ended.
struct Ending: Sendable {
    var status: Int?
    /// Why there is no answer, or none that is whole.
    var failure: NetworkError?
    var metrics: TransferMetrics?
    /// Whether the answer came to its end.
    var isWhole = true

    init(_ error: NetworkError) {
        status = error.response?.status.code
        failure = error.kind == .status ? nil : error
        metrics = error.metrics
        isWhole = error.kind == .status
    }

    init(_ result: NetworkOperation.Result) {
        status = result.status?.code
        switch result.content {
        case .response(let response): metrics = response.metrics
        case .stream(let stream): metrics = stream.metrics
        case .progress, .connection: break
        }
    }

    /// The end of a streamed body. Who lets it go has had enough of it, which is no failure.
    init(_ stream: StreamingResponse, _ error: NetworkError?) {
        status = stream.response.status.code
        failure = error.flatMap { $0.isCancelled ? nil : $0 }
        metrics = stream.metrics
        isWhole = error == nil
    }

    /// What went wrong, in a few words only: an error's kind or a status from 400 on.
    var errorType: String? {
        if let failure { return failure.kind.rawValue }
        return status.flatMap { $0 >= 400 ? String($0) : nil }
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// The same outcome, whose end is told once: at once, or where its body is streamed when that has ended.
    func tellingItsEnd(_ tell: @escaping @Sendable (Ending) -> Void) -> Self {
        switch self {
        case .failure(let error):
            tell(Ending(error))
            return self
        case .success(var result):
            guard case .stream(var stream) = result.content, case .stream = stream.body.content else {
                tell(Ending(result))
                return self
            }
            var told = stream
            told.body = HTTPBody()
            stream.body = stream.body.tellingItsEnd { [told] _, error in tell(Ending(told, error)) }
            result.content = .stream(stream)
            return .success(result)
        }
    }
}
