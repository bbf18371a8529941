#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A subscription that can be stored behind a lock.
///
/// `@unchecked Sendable` is sound because of the subscription's three uses: Combine allows cancelling it on any thread,
/// requesting more values is allowed wherever a subscriber wants more, and releasing it is always safe.
struct SendableSubscription: @unchecked Sendable {
    let subscription: any Subscription

    init(_ subscription: any Subscription) {
        self.subscription = subscription
    }

    func request(_ demand: Subscribers.Demand) { subscription.request(demand) }

    func cancel() { subscription.cancel() }
}
