import BeagleNet
import BeagleNetHTTP

/// What a pipeline gave, of which data and errors are read when an exchange looks.
final class HostedAnswer: Sendable {
    struct Values: Sendable {
        var data: AnyCodable = .null
        var extensions: [String: AnyCodable]?
        var error: CombinedError?
    }

    let outcome: Result<NetworkOperation.Result, NetworkError>
    /// The number of the run that it is of.
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
                let answer = try ExecutionResult(body)
                return Values(
                    data: answer.data,
                    extensions: answer.extensions,
                    error: answer.errors.map { .graphql($0) }
                )
            } catch {
                // An image is no JSON, and that is no fault of it.
                return isGraphQL ? Values(error: .unknown(error)) : Values()
            }
        }
    }
}
