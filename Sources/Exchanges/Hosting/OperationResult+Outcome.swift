import BeagleNet
import BeagleNetGraphQL
import BeagleNetHTTP
import Foundation

extension OperationResult {
    /// Returns the outcome for the pipeline: its own outcome, or a response built from an exchange's result.
    ///
    /// - Parameter run: The number of the run. An outcome of another run was stored.
    func outcome(in run: Int) -> Result<NetworkOperation.Result, NetworkError> {
        guard let hosted else { return builtOutcome }
        guard case .success(var result) = hosted.outcome else { return hosted.outcome }
        result.isStale = stale == true
        result.hasNext = hasNext == true
        if hosted.run != run { result.source = .cache }
        return .success(result)
    }

    /// Whether this is a failure without a response. It ends an operation of a pipeline, even if `stale` or `hasNext`
    /// is set.
    var isFailure: Bool {
        if let hosted {
            if case .failure = hosted.outcome { return true }
            return false
        }
        return switch error {
        case .network, .unknown: true
        case .graphql, nil: false
        }
    }

    private var builtOutcome: Result<NetworkOperation.Result, NetworkError> {
        var members: [String: JSONValue] = ["data": data]
        switch error {
        case nil: break
        case .graphql(let errors): members["errors"] = .array(errors.map(\.raw))
        case .network, .unknown: return .failure(error?.networkError ?? .noResult)
        }
        members["extensions"] = extensions.map { .object($0) }
        do throws(NetworkError) {
            let response = try NetworkResponse(json: .object(members))
            return .success(
                NetworkOperation.Result(
                    .response(response),
                    from: .cache,
                    isStale: stale == true,
                    hasNext: hasNext == true
                )
            )
        } catch {
            return .failure(error)
        }
    }
}

extension NetworkError {
    /// An exchange reported a failure without a reason.
    fileprivate static let noResult = NetworkError(.other, during: .response, "an exchange returned no result")

    /// The waiting task was cancelled.
    static let hostedRunCancelled = NetworkError(.cancelled, during: .queue, "the operation was cancelled")
}
