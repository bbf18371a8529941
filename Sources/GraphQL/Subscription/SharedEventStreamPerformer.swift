import BeagleNet
import BeagleNetHTTP

/// Performs operations over a single event stream that the operations of an endpoint share.
///
/// Source: https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md (single connection mode)
struct SharedEventStreamPerformer: AttemptPerformer {
    static let name = "a shared event stream"

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        let operation = SharedOperation(attempt)
        let stream = try attempt.endpoint.state.eventStreams.join(operation, attempt)
        defer {
            operation.leave()
            stream.leave(operation, attempt.operation.clock)
        }
        let response = try await operation.wait()
        if let response { try await operation.conclude(with: response, stream) }
    }
}
