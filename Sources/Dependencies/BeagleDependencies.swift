/// A container of dependencies for an app, a test or a part of either.
///
/// It has the values that were set, and default values, which are created on first access, once per container.
///
/// ```swift
/// let dependencies = BeagleDependencies()
/// dependencies.networkClient = CustomNetworkClient()
/// Beagle.dependencies = dependencies
/// ```
///
/// Scopes made from the container share the values that were set. Register a factory if each scope needs its own value:
///
/// ```swift
/// dependencies.register(\.networkClient) { container in
///     CountingClient(NetworkClientDefault(dependencies: container))
/// }
/// ```
///
/// Values may be read and set from any thread at any time.
public final class BeagleDependencies: Sendable {
    /// The context of default values, which isn't detected from the process but passed to the container.
    public enum Context: Sendable, Hashable, CaseIterable {
        /// An app.
        case live
        /// A test, in which default values don't access the network.
        case test
        /// A preview of the user interface.
        case preview
    }

    private struct State: Sendable {
        var setValues = DependencyTable()
        var defaultValues = DependencyTable()
        /// The registrations by the key of their values.
        var registered: [ObjectIdentifier: Registration] = [:]
        /// The registrations whose key isn't known until their first value is stored.
        var pending: [Registration] = []
        /// The registration whose value is being stored, and the value.
        var storing: (registration: Registration, value: any Sendable)?
        /// The key and value that the registration stored.
        var stored: (key: ObjectIdentifier, value: any AnyDependencyBox)?
        /// The keys for which a registration is creating a value.
        var registering: Set<ObjectIdentifier> = []
        var making: [any DependencyDefault.Type] = []
        /// The keys whose values are kept after the container is released.
        var followed: Set<ObjectIdentifier> = []
        /// Whether the container was released, after which nothing would break a retain cycle.
        var isReleased = false
        var version = 0

        subscript(key: ObjectIdentifier) -> (any AnyDependencyBox)? { setValues[key] ?? defaultValues[key] }

        /// Returns whether the container was released and the value of this key isn't kept.
        func drops(_ key: ObjectIdentifier) -> Bool { isReleased && !followed.contains(key) }

        /// Removes and returns the first registration that may have this key, unless the dependency was set since.
        mutating func takePending(_ key: ObjectIdentifier, _ type: Any.Type) -> Registration? {
            let index = pending.firstIndex { registration in
                registration.types.contains { $0 == type } && !registration.overridden.contains(key)
            }
            return index.map { pending.remove(at: $0) }
        }

        /// Notes in pending registrations that a dependency was set or reset after them.
        mutating func override(_ key: ObjectIdentifier, isSet: Bool) {
            for index in pending.indices {
                if isSet { pending[index].overridden.insert(key) } else { pending[index].overridden.remove(key) }
            }
        }

        /// Returns the initial state of a scope.
        ///
        /// - Parameter isLeavingLive: Whether the scope is for tests or previews but its container is live.
        func inherited(isLeavingLive: Bool) -> State {
            var state = State(setValues: setValues, registered: registered, pending: pending)
            guard isLeavingLive else { return state }
            state.setValues.removeLiveOnly()
            state.registered = registered.filter { !$0.value.isLiveOnly }
            return state
        }
    }

    /// A factory of a dependency for each container that needs one.
    private struct Registration: Sendable {
        /// The possible types of its key: that of the name, or its optional.
        let types: [any Any.Type]
        /// The function that creates a value for a container.
        let make: @Sendable (BeagleDependencies) -> any Sendable
        /// The function that stores a value under the dependency's name.
        let store: @Sendable (BeagleDependencies, any Sendable) -> Void
        /// Whether its key is `isLiveOnly`.
        var isLiveOnly = false
        /// The keys of dependencies that were set after the registration.
        var overridden: Set<ObjectIdentifier> = []
    }

    /// The context of this container's default values.
    public let context: Context
    private let state: RecursiveLock<State>
    private let isFollower: Bool

    /// Creates an empty container.
    public convenience init(_ context: Context = .live) {
        self.init(context, RecursiveLock(State()))
    }

    private init(_ context: Context, _ state: RecursiveLock<State>, isFollower: Bool = false) {
        self.context = context
        self.state = state
        self.isFollower = isFollower
    }

    /// Breaks a retain cycle: a value in this container may hold a follower, which holds the state.
    deinit {
        if isFollower { return }
        let dropped = state.withLock { state in
            let dropped = state
            state.isReleased = true
            state.version += 1
            state.setValues.keep(state.followed)
            state.defaultValues.keep(state.followed)
            state.registered = state.registered.filter { state.followed.contains($0.key) }
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// The value of a dependency: the value that was set, otherwise its default.
    @inlinable public subscript<Key: DependencyDefault>(key: Key.Type) -> Key.Value {
        get { held(key) ?? make(key) }
        set { replace(key, with: DependencyBox(newValue, isLiveOnly: Key.isLiveOnly)) }
    }

    /// Removes the value of a dependency; the next read creates a new one, by its registration or by default.
    public func reset<Key: DependencyDefault>(_ key: Key.Type) {
        replace(key, with: nil)
    }

    /// Returns a new container with the values and registrations of this one, changed by `change`.
    ///
    /// Registered and default values are created again in the new container, so that scopes don't share connections.
    ///
    /// A scope for tests or previews doesn't inherit dependencies that are `isLiveOnly`, such as the network client,
    /// from a live container.
    ///
    /// - Parameters:
    ///   - context: The context of default values, or `nil` for this container's context.
    ///   - change: Changes the dependencies of the new container.
    public func scoped(
        _ context: Context? = nil,
        _ change: (BeagleDependencies) throws -> Void
    ) rethrows -> BeagleDependencies {
        let isLeavingLive = self.context == .live && context ?? .live != .live
        if isLeavingLive { storeAllPending() }
        let inherited = RecursiveLock(state.withLock { $0.inherited(isLeavingLive: isLeavingLive) })
        let container = BeagleDependencies(context ?? self.context, inherited)
        try change(container)
        return container
    }

    // A separate overload, because a default value for `change` would require `try` even if nothing throws.
    /// Returns a new container with the values and registrations of this one; registered and default values are created
    /// again.
    ///
    /// - Parameter context: The context of default values, or `nil` for this container's context.
    public func scoped(_ context: Context? = nil) -> BeagleDependencies {
        scoped(context) { _ in }
    }

    /// Returns the same dependencies for an object that this container may hold, without keeping this container alive.
    ///
    /// After this container is released, they have the last values of `keys`, and new default values for other keys.
    package func follower(keeping keys: [any DependencyDefault.Type]) -> BeagleDependencies {
        state.withLock { $0.followed.formUnion(keys.map { ObjectIdentifier($0) }) }
        return BeagleDependencies(context, state, isFollower: true)
    }

    /// The number of changes so far; anything computed from the dependencies stays valid until it changes.
    package var version: Int { state.withLock { $0.version } }

    // Inlinable like the subscript, because generic code that isn't specialized looks up its types at each read.
    @inlinable func held<Key: DependencyDefault>(_ key: Key.Type) -> Key.Value? {
        (held(ObjectIdentifier(key)) as? DependencyBox<Key.Value>)?.value
    }

    @usableFromInline func held(_ key: ObjectIdentifier) -> AnyObject? {
        // A pending registration may have this key; its value replaces the stored one.
        state.withLock { $0.pending.isEmpty ? $0[key] : nil }
    }

    /// Creates the value of a dependency while the lock is held, so that only one is created and a cycle is always
    /// detected.
    @usableFromInline func make<Key: DependencyDefault>(_ key: Key.Type) -> Key.Value {
        state.whileHeld {
            // Setting a computed property through its key path reads it first.
            if let storing = state.withLock({ $0.storing }), let value = storing.value as? Key.Value { return value }
            storePending(key)
            let (held, isRegistering) = state.withLock { state in
                (state[ObjectIdentifier(key)], state.registering.contains(ObjectIdentifier(key)))
            }
            if let held = held as? DependencyBox<Key.Value> { return held.value }
            if isRegistering { return defaultValue(key) }
            begin(key)
            let value = registeredValue(key) ?? defaultValue(key)
            state.withLock { state in
                state.making.removeLast()
                if state.drops(ObjectIdentifier(key)) { return }
                state.defaultValues[ObjectIdentifier(key)] = DependencyBox(value, isLiveOnly: Key.isLiveOnly)
            }
            return value
        }
    }

    private func defaultValue<Key: DependencyDefault>(_ key: Key.Type) -> Key.Value {
        switch context {
        case .live: Key.live(self)
        case .test: Key.test(self)
        case .preview: Key.preview(self)
        }
    }

    private func begin(_ key: any DependencyDefault.Type) {
        let making = state.withLock { state in
            state.making.append(key)
            return state.making
        }
        guard making.dropLast().contains(where: { $0 == key }) else { return }
        // A bug in the app. `precondition` isn't used, because an optimized build drops its message.
        let chain = making.map { "\($0)" }.joined(separator: " -> ")
        fatalError(
            "the defaults of these dependencies depend on each other: \(chain); set one of them or break the cycle"
        )
    }

    /// Replaces a value; the old values are released after unlocking, because their `deinit` may use this container.
    @usableFromInline func replace<Key: DependencyDefault>(_ key: Key.Type, with value: DependencyBox<Key.Value>?) {
        let isLiveOnly = Key.isLiveOnly
        let key = ObjectIdentifier(key)
        let replaced = state.withLock { state in
            let replaced = ([state.setValues[key], state.defaultValues[key]], state.registered[key])
            guard var registration = state.storing?.registration, let value else {
                state.setValues[key] = value
                state.defaultValues[key] = nil
                state.override(key, isSet: value != nil)
                state.version += 1
                return replaced
            }
            registration.isLiveOnly = isLiveOnly
            state.registered[key] = registration
            state.stored = (key, value)
            if registration.overridden.contains(key) { return ([], replaced.1) }
            state.setValues[key] = nil
            state.defaultValues[key] = state.drops(key) ? nil : value
            return replaced
        }
        withExtendedLifetime(replaced) {}
    }
}

// MARK: - Registrations

extension BeagleDependencies {
    /// Registers a factory of a dependency, which replaces the value that was set and the default.
    ///
    /// Each container, this one and each inner scope, creates its own value on first access. Setting the dependency
    /// replaces the registration.
    ///
    /// ```swift
    /// dependencies.register(\.networkClient) { container in
    ///     CountingClient(NetworkClientDefault(dependencies: container))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The dependency, such as `\.networkClient`. Its property stores the value as shown in
    ///     `DependencyDefault`.
    ///   - make: Creates the value for a container, while that is locked. It reads other dependencies from the
    ///     container; the registered dependency itself has its default value there. It must not retain the container,
    ///     because the container retains the value.
    public func register<Value: Sendable>(
        _ name: any ReferenceWritableKeyPath<BeagleDependencies, Value> & Sendable,
        _ make: @escaping @Sendable (_ container: BeagleDependencies) -> Value
    ) {
        let registration = Registration(types: [Value.self, Value?.self], make: make) { container, value in
            // The cast succeeds, because `make` created the value.
            if let value = value as? Value { container[keyPath: name] = value }
        }
        state.withLock { state in
            state.pending.append(registration)
            state.version += 1
        }
    }

    /// Creates the value of a registration and stores it, which reveals its key.
    private func store(_ registration: Registration) -> (key: ObjectIdentifier, value: any AnyDependencyBox) {
        let value = registration.make(self)
        // The setter of another dependency may have read this one.
        let (outerStoring, outerStored) = state.withLock { ($0.storing, $0.stored) }
        state.withLock { state in
            state.storing = (registration, value)
            state.stored = nil
        }
        registration.store(self, value)
        let stored = state.withLock { $0.stored }
        state.withLock { state in
            state.storing = outerStoring
            state.stored = outerStored
        }
        // A bug in the app, which would otherwise lose `make`. `precondition` isn't used, because an optimized build
        // drops its message.
        guard let stored else {
            fatalError("a registered \(type(of: value)) is not stored with a DependencyDefault key")
        }
        return stored
    }

    /// Stores the values of registrations that may have this key.
    private func storePending<Key: DependencyDefault>(_ key: Key.Type) {
        while let registration = state.withLock({ $0.takePending(ObjectIdentifier(key), Key.Value.self) }) {
            _ = store(registration)
        }
    }

    /// Stores the values of all registrations whose key isn't known yet.
    private func storeAllPending() {
        state.whileHeld {
            while let registration = state.withLock({ $0.pending.isEmpty ? nil : $0.pending.removeFirst() }) {
                _ = store(registration)
            }
        }
    }

    /// Returns a value from the registration of this key, or `nil` without a registration.
    private func registeredValue<Key: DependencyDefault>(_ key: Key.Type) -> Key.Value? {
        let id = ObjectIdentifier(key)
        guard let registration = state.withLock({ $0.registered[id] }) else { return nil }
        state.withLock { _ = $0.registering.insert(id) }
        defer { state.withLock { _ = $0.registering.remove(id) } }
        return (store(registration).value as? DependencyBox<Key.Value>)?.value
    }
}

@usableFromInline
final class DependencyBox<Value: Sendable>: AnyDependencyBox {
    @usableFromInline let value: Value
    let isLiveOnly: Bool

    @usableFromInline init(_ value: Value, isLiveOnly: Bool) {
        self.value = value
        self.isLiveOnly = isLiveOnly
    }
}
