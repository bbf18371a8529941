import BeagleNetHTTP

/// Performs operations over a WebSocket that those of an endpoint share.
struct SocketCarrier: SubscriptionCarrier {
    let options: GraphQLSocketOptions

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        throw NetworkError(.unsupported, during: .build, "not written yet")
    }
}
