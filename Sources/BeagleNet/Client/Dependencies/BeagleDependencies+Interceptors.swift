public import BeagleNetDependencies

extension BeagleDependencies {
    /// The interceptors of each `NetworkClientDefault` that follows this container, outermost first.
    ///
    /// By default they log, enforce a deadline, limit the pixels of images, retry requests that are safe to repeat,
    /// apply the origin policy, and turn error statuses into failures.
    ///
    /// ```swift
    /// dependencies.interceptors.insert(Signature(), at: 0)
    /// ```
    ///
    /// If the list isn't in the order of `Pipeline.Place`, each request fails with `.badConfiguration`.
    public var interceptors: [any Interceptor] {
        get { self[InterceptorsKey.self] }
        set { self[InterceptorsKey.self] = newValue }
    }

    /// The clock for the delays of interceptors, the system's continuous clock by default.
    public var clock: any Clock<Duration> {
        get { self[ClockKey.self] }
        set { self[ClockKey.self] = newValue }
    }

    /// The request policy of operations that don't set one, `.cacheFirst` by default.
    public var policy: RequestPolicy? {
        get { self[PolicyKey.self] }
        set { self[PolicyKey.self] = newValue }
    }

    /// The user of operations that don't set a `partition` themselves; empty, the default, without one.
    ///
    /// Set it when a user signs in, to a name that stays the same when a token is renewed, and clear it at sign-out. With
    /// it, responses are stored although interceptors or cookies identify the user.
    ///
    /// ```swift
    /// dependencies.partition = account.id
    /// ```
    public var partition: String {
        get { self[PartitionKey.self] }
        set { self[PartitionKey.self] = newValue }
    }

    /// The partition of a request that has this one of its own; empty if it has none.
    func partition(or own: String) -> String { own.isEmpty ? partition : own }

    /// The scope that owns all operations of a `NetworkClientDefault` that follows this container, or `nil`, the
    /// default.
    ///
    /// Closing the scope cancels operations in flight and prevents new ones. Its rule applies only to `scoped(in:)`.
    public var operationScope: OperationScope? {
        get { self[OperationScopeKey.self] }
        set { self[OperationScopeKey.self] = newValue }
    }
}

// The keys are one table, so they share this file.

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

enum PartitionKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> String { "" }
}

enum OperationScopeKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> OperationScope? { nil }
}

extension [any Interceptor] {
    /// Inserts an interceptor in the order of `Pipeline.Place`.
    ///
    /// An interceptor without a place is inserted directly outside the origin policy, so that the policy sees the
    /// fields that it adds.
    public mutating func add(_ interceptor: any Interceptor) {
        let place = interceptor.place ?? .headers
        let index = firstIndex { other in other.place.map { $0 > place } ?? false } ?? endIndex
        insert(interceptor, at: index)
    }

    /// Replaces all interceptors of the same type with this one, or adds it if the list has no interceptor of that
    /// type.
    public mutating func replace<One: Interceptor>(with interceptor: One) {
        removeAll { $0 is One }
        add(interceptor)
    }
}
