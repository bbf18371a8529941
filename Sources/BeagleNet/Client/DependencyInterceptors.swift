public import BeagleNetDependencies

extension BeagleDependencies {
    /// What the operations of a `NetworkClientDefault` that follows this container pass through, outermost first:
    /// by default a log, a deadline, a limit on the pixels of images, retries of what is safe to ask again, the origin
    /// policy, and failures of statuses.
    ///
    /// ```swift
    /// dependencies.interceptors.insert(Signature(), at: 0)
    /// ```
    ///
    /// A list that is out of the order of `Pipeline.Place` fails each request with `.badConfiguration`.
    public var interceptors: [any Interceptor] {
        get { self[InterceptorsKey.self] }
        set { self[InterceptorsKey.self] = newValue }
    }

    /// What interceptors wait by. The system's continuous clock unless a test sets its own.
    public var clock: any Clock<Duration> {
        get { self[ClockKey.self] }
        set { self[ClockKey.self] = newValue }
    }

    /// Whether stored responses will do for operations that don't say. If `nil`, the default, the kind decides: `networkFirst` for
    /// screens, `http` for raw requests, `cacheFirst` for images and queries.
    public var policy: RequestPolicy? {
        get { self[PolicyKey.self] }
        set { self[PolicyKey.self] = newValue }
    }

    /// What owns all that a `NetworkClientDefault` that follows this container is asked for; nil, the default, for nothing.
    /// Closing it cancels what is under way and lets nothing more begin. Its rule is for `scoped(in:)` alone.
    public var operationScope: OperationScope? {
        get { self[OperationScopeKey.self] }
        set { self[OperationScopeKey.self] = newValue }
    }
}

enum InterceptorsKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> [any Interceptor] {
        [
            LogInterceptor(), DeadlineInterceptor(), ImageInterceptor(), RetryInterceptor(), OriginPolicyInterceptor(),
            StatusInterceptor(),
        ]
    }
}

enum ClockKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> any Clock<Duration> { ContinuousClock() }
}

enum PolicyKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> RequestPolicy? { nil }
}

enum OperationScopeKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> OperationScope? { nil }
}

extension [any Interceptor] {
    /// Puts an interceptor where it belongs: before those that `Pipeline.Place` has further in. One without a place comes
    /// right above the origin policy, which so sees the fields that it adds.
    public mutating func add(_ interceptor: any Interceptor) {
        let place = interceptor.place ?? .headers
        let index = firstIndex { other in other.place.map { $0 > place } ?? false } ?? endIndex
        insert(interceptor, at: index)
    }

    /// Puts an interceptor in the place of those of its own type, or where it belongs where there are none.
    public mutating func replace<One: Interceptor>(with interceptor: One) {
        removeAll { $0 is One }
        add(interceptor)
    }
}
