import BeagleNetHTTP

/// Performs each operation with a transfer of its own, whose body is a stream.
struct StreamCarrier: SubscriptionCarrier {
    enum Framing: Sendable {
        case events, parts
    }

    let framing: Framing

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        throw NetworkError(.unsupported, during: .build, "not written yet")
    }
}
