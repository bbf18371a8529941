import BeagleNet
import BeagleNetHTTP

/// Performs operations over one event stream that those of an endpoint share.
///
/// Source: https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md (single connection mode)
struct SharedEventsCarrier: SubscriptionCarrier {
    static let name = "a shared event stream"

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        let (stream, membership) = attempt.endpoint.memory.eventStreams.join(attempt)
        let operation = SharedOperation(attempt, membership)
        defer {
            operation.leave()
            stream.leave(membership.id, attempt.operation.clock)
        }
        for await message in membership.messages {
            switch message {
            case .ready(let token): try operation.send(with: token)
            case .answered(let answer):
                if try await operation.isOver(after: answer, stream) { return }
            case .payload(let payload): operation.give(payload)
            case .complete: return operation.noteEnd()
            case .lost(let error):
                operation.noteEnd()
                throw error
            }
        }
        throw NetworkError(.cancelled, during: .body, "the operation was cancelled")
    }
}
