import BeagleNetHTTP

/// Performs operations over one event stream that those of an endpoint share.
struct SharedEventsCarrier: SubscriptionCarrier {
    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        throw NetworkError(.unsupported, during: .build, "not written yet")
    }
}
