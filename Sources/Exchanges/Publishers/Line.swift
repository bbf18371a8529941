#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A subscription that was taken from a publisher, to be kept behind a lock.
///
/// `@unchecked Sendable` is sound because nothing is done with it but to cancel it, which any thread may (Combine's
/// contract), to ask it for more, which may be done wherever a subscriber wants more, and to let it go.
struct Line: @unchecked Sendable {
    let subscription: any Subscription

    init(_ subscription: any Subscription) {
        self.subscription = subscription
    }

    func request(_ demand: Subscribers.Demand) { subscription.request(demand) }

    func cancel() { subscription.cancel() }
}
