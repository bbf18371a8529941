import BeagleNetHTTP

/// Says how long stored answers are good: one that is older is given as stale, and the network asked, as with
/// `RequestPolicy.cacheAndNetwork`.
///
/// ```swift
/// dependencies.interceptors.add(RequestPolicyInterceptor(ttl: .seconds(60)))
/// ```
///
/// It counts for operations of the policy `.cacheFirst` that say no `maxAge` of their own.
public struct RequestPolicyInterceptor: RequestObserver {
    /// `.requestPolicy`.
    public var place: Pipeline.Place? { .requestPolicy }
    /// How long a stored answer is good.
    public let ttl: Duration
    private let shouldUpgrade: @Sendable (NetworkOperation) -> Bool

    /// A limit on the age of stored answers.
    ///
    /// - Parameters:
    ///   - ttl: how long a stored answer is good, 0 for never; five minutes by default, as with urql.
    ///   - shouldUpgrade: which operations are meant; all by default.
    public init(
        ttl: Duration = .seconds(300),
        shouldUpgrade: @escaping @Sendable (NetworkOperation) -> Bool = { _ in true }
    ) {
        self.ttl = ttl
        self.shouldUpgrade = shouldUpgrade
    }

    /// With those that a stored answer is enough for, however old it is.
    public func applies(to operation: NetworkOperation) -> Bool {
        operation.policy == .cacheFirst && operation.maxAge == nil && operation.kind.isStorable
    }

    /// Limits the age of a stored response.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        operation = limited(operation)
        return nil
    }

    /// The operation with a limit on the age of a stored answer.
    func limited(_ operation: NetworkOperation) -> NetworkOperation {
        guard shouldUpgrade(operation) else { return operation }
        var operation = operation
        operation.maxAge = ttl
        return operation
    }
}
