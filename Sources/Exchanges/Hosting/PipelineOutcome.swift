import BeagleNet
import BeagleNetHTTP

/// The outcome of a pipeline. Its data and errors are decoded when an exchange first reads them.
final class PipelineOutcome: Sendable {
    struct Values: Sendable {
        var data: AnyCodable = .null
        var extensions: [String: AnyCodable]?
        var error: CombinedError?
    }

    let outcome: Result<NetworkOperation.Result, NetworkError>
    /// The number of the run that produced the outcome.
    let run: Int
    let isGraphQL: Bool
    private let read = InlineLock(Values?.none)

    init(_ outcome: Result<NetworkOperation.Result, NetworkError>, run: Int, isGraphQL: Bool) {
        self.outcome = outcome
        self.run = run
        self.isGraphQL = isGraphQL
    }

    var values: Values {
        if let values = read.withLock({ $0 }) { return values }
        let values = makeValues()
        read.withLock { $0 = values }
        return values
    }

    private func makeValues() -> Values {
        switch outcome {
        case .failure(let error): return Values(error: CombinedError(error))
        case .success(let result):
            guard let response = result.response else { return Values() }
            do throws(NetworkError) {
                let body = try response.json()
                guard isGraphQL else { return Values(data: body) }
                let executionResult = try ExecutionResult(body)
                return Values(
                    data: executionResult.data,
                    extensions: executionResult.extensions,
                    error: executionResult.errors.map { .graphql($0) }
                )
            } catch {
                // The response may be an image, for example, which isn't JSON but is no error.
                return isGraphQL ? Values(error: .unknown(error)) : Values()
            }
        }
    }
}
