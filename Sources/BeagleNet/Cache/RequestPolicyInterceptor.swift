import BeagleNetHTTP

/// An interceptor that limits the age of stored responses.
///
/// An older one is emitted as stale, and the network is used, as with `RequestPolicy.cacheAndNetwork`.
///
/// ```swift
/// dependencies.interceptors.add(RequestPolicyInterceptor(ttl: .seconds(60)))
/// ```
///
/// It applies to operations of the policy `.cacheFirst` without their own `maxAge`.
public struct RequestPolicyInterceptor: RequestObserver {
    /// The interceptor's place: `.requestPolicy`.
    public var place: Pipeline.Place? { .requestPolicy }
    /// The time for which a stored response is fresh.
    public let ttl: Duration
    private let shouldUpgrade: @Sendable (NetworkOperation) -> Bool

    /// Creates a limit on the age of stored responses.
    ///
    /// - Parameters:
    ///   - ttl: The time for which a stored response is fresh; 0 for never, five minutes by default, as in urql.
    ///   - shouldUpgrade: Returns whether the limit applies to an operation; to all by default.
    public init(
        ttl: Duration = .seconds(300),
        shouldUpgrade: @escaping @Sendable (NetworkOperation) -> Bool = { _ in true }
    ) {
        self.ttl = ttl
        self.shouldUpgrade = shouldUpgrade
    }

    /// Returns `true` for operations that would accept a stored response of any age.
    public func applies(to operation: NetworkOperation) -> Bool {
        operation.policy == .cacheFirst && operation.maxAge == nil && operation.kind.isStorable
    }

    /// Limits the age of a stored response.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        operation = limited(operation)
        return nil
    }

    /// Returns the operation with a limit on the age of a stored response.
    func limited(_ operation: NetworkOperation) -> NetworkOperation {
        guard shouldUpgrade(operation) else { return operation }
        var operation = operation
        operation.maxAge = ttl
        return operation
    }
}
