/// Holds the dependencies of an app, a test or a part of either: values that were set, and defaults made when they are
/// first asked for, once per container.
///
/// ```swift
/// let dependencies = BeagleDependencies()
/// dependencies.networkClient = CustomNetworkClient()
/// Beagle.dependencies = dependencies
/// ```
///
/// A value that is set is shared with the scopes made from the container. What each scope is to make for itself is
/// registered:
///
/// ```swift
/// dependencies.register(\.networkClient) { container in
///     CountingClient(NetworkClientDefault(dependencies: container))
/// }
/// ```
///
/// Values may be read and set from any thread at any time.
public final class BeagleDependencies: Sendable {
    /// What defaults are made for. Nothing is guessed from the process: whoever makes the container says it.
    public enum Context: Sendable, Hashable, CaseIterable {
        /// An app.
        case live
        /// A test: defaults do not reach the network.
        case test
        /// A preview of user interface.
        case preview
    }

    private struct State: Sendable {
        var given = HeldTable()
        var made = HeldTable()
        /// Registrations by the key under which their values are stored.
        var registered: [ObjectIdentifier: Registration] = [:]
        /// Registrations whose key isn't known before their first value is stored.
        var pending: [Registration] = []
        /// The registration whose value is being stored, and the value.
        var storing: (registration: Registration, value: any Sendable)?
        /// The value that it stored.
        var stored: (key: ObjectIdentifier, value: any Held)?
        /// The keys for which a registration is making a value.
        var registering: Set<ObjectIdentifier> = []
        var making: [any DependencyDefault.Type] = []
        /// What stays when the container goes.
        var followed: Set<ObjectIdentifier> = []
        /// Whether the container has gone, so that nobody would cut a circle any more.
        var isOrphaned = false
        var version = 0

        subscript(key: ObjectIdentifier) -> (any Held)? { given[key] ?? made[key] }

        /// Whether the container has gone, and this key's value is not kept.
        func drops(_ key: ObjectIdentifier) -> Bool { isOrphaned && !followed.contains(key) }

        /// Removes the first registration that may be this key's, unless the dependency was set since.
        mutating func takePending(_ key: ObjectIdentifier, _ type: Any.Type) -> Registration? {
            let index = pending.firstIndex { registration in
                registration.types.contains { $0 == type } && !registration.overridden.contains(key)
            }
            return index.map { pending.remove(at: $0) }
        }

        /// Notes that a dependency was set, or reset, after what is pending was registered.
        mutating func override(_ key: ObjectIdentifier, isSet: Bool) {
            for index in pending.indices {
                if isSet { pending[index].overridden.insert(key) } else { pending[index].overridden.remove(key) }
            }
        }

        /// What a scope starts with.
        ///
        /// - Parameter isLeavingLive: whether the scope is made for tests or previews in a live container.
        func inherited(isLeavingLive: Bool) -> State {
            var state = State(given: given, registered: registered, pending: pending)
            guard isLeavingLive else { return state }
            state.given.removeLiveOnly()
            state.registered = registered.filter { !$0.value.isLiveOnly }
            return state
        }
    }

    /// Makes a dependency in each container that needs one.
    private struct Registration: Sendable {
        /// The types that its key may have: that of the name, or its optional.
        let types: [any Any.Type]
        /// Makes a value for a container.
        let make: @Sendable (BeagleDependencies) -> any Sendable
        /// Stores a value under the dependency's name.
        let store: @Sendable (BeagleDependencies, any Sendable) -> Void
        /// Whether its key is `isLiveOnly`.
        var isLiveOnly = false
        /// Keys of dependencies that were set after it was registered.
        var overridden: Set<ObjectIdentifier> = []
    }

    /// What defaults of this container are made for.
    public let context: Context
    private let state: RecursiveLock<State>
    private let isFollower: Bool

    /// A container in which nothing is set.
    public convenience init(_ context: Context = .live) {
        self.init(context, RecursiveLock(State()))
    }

    private init(_ context: Context, _ state: RecursiveLock<State>, isFollower: Bool = false) {
        self.context = context
        self.state = state
        self.isFollower = isFollower
    }

    /// What this container holds may hold a follower, which holds the state: the circle is cut here.
    deinit {
        if isFollower { return }
        let dropped = state.withLock { state in
            let dropped = state
            state.isOrphaned = true
            state.version += 1
            state.given.keep(state.followed)
            state.made.keep(state.followed)
            state.registered = state.registered.filter { state.followed.contains($0.key) }
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// The dependency of this key: the value set, else its default.
    @inlinable public subscript<Key: DependencyDefault>(key: Key.Type) -> Key.Value {
        get { held(key) ?? make(key) }
        set { replace(key, with: HeldValue(newValue, isLiveOnly: Key.isLiveOnly)) }
    }

    /// Forgets the value set and the one made; the next read makes a new one, as registered or else by default.
    public func reset<Key: DependencyDefault>(_ key: Key.Type) {
        replace(key, with: nil)
    }

    /// A container with what is set and registered in this one, changed by `change`. Registered values and defaults are
    /// made anew in it, so that connections of one scope never reach another.
    ///
    /// A scope for tests or previews in a live container doesn't inherit dependencies that are `isLiveOnly`, as the
    /// network client.
    ///
    /// - Parameters:
    ///   - context: what defaults are made for; this container's context where nil.
    ///   - change: sets what differs.
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

    // A function of its own: a default for `change` would ask for `try` where nothing throws.
    /// A container with what is set and registered in this one; registered values and defaults are made anew in it.
    ///
    /// - Parameter context: what defaults are made for; this container's context where nil.
    public func scoped(_ context: Context? = nil) -> BeagleDependencies {
        scoped(context) { _ in }
    }

    /// The same dependencies for something that this container may hold: it does not keep this container alive, and
    /// when that has gone it has the values of `keys` as they were last, and new defaults for the rest.
    package func follower(keeping keys: [any DependencyDefault.Type]) -> BeagleDependencies {
        state.withLock { $0.followed.formUnion(keys.map { ObjectIdentifier($0) }) }
        return BeagleDependencies(context, state, isFollower: true)
    }

    /// Another one after each change: what was made of dependencies holds as long as this stays.
    package var version: Int { state.withLock { $0.version } }

    // Inlinable as the subscript: what is generic would look its types up at each read.
    @inlinable func held<Key: DependencyDefault>(_ key: Key.Type) -> Key.Value? {
        (held(ObjectIdentifier(key)) as? HeldValue<Key.Value>)?.value
    }

    @usableFromInline func held(_ key: ObjectIdentifier) -> AnyObject? {
        // A registration that isn't stored yet may be this key's, and replaces what is held.
        state.withLock { $0.pending.isEmpty ? $0[key] : nil }
    }

    /// The lock is held while a value is made: there is one of it, and a cycle is always met on one thread.
    @usableFromInline func make<Key: DependencyDefault>(_ key: Key.Type) -> Key.Value {
        state.whileHeld {
            // To set a computed property through its key path reads it first.
            if let storing = state.withLock({ $0.storing }), let value = storing.value as? Key.Value { return value }
            storePending(key)
            let (held, isRegistering) = state.withLock { state in
                (state[ObjectIdentifier(key)], state.registering.contains(ObjectIdentifier(key)))
            }
            if let held = held as? HeldValue<Key.Value> { return held.value }
            if isRegistering { return defaultValue(key) }
            begin(key)
            let value = registeredValue(key) ?? defaultValue(key)
            state.withLock { state in
                state.making.removeLast()
                if state.drops(ObjectIdentifier(key)) { return }
                state.made[ObjectIdentifier(key)] = HeldValue(value, isLiveOnly: Key.isLiveOnly)
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
        // An app's own bug. Not `precondition`, whose message an optimised build drops.
        let chain = making.map { "\($0)" }.joined(separator: " -> ")
        fatalError(
            "the defaults of these dependencies depend on each other: \(chain); set one of them or break the cycle"
        )
    }

    /// The replaced values are released when the lock is free again: their `deinit` may ask this container.
    @usableFromInline func replace<Key: DependencyDefault>(_ key: Key.Type, with value: HeldValue<Key.Value>?) {
        let isLiveOnly = Key.isLiveOnly
        let key = ObjectIdentifier(key)
        let replaced = state.withLock { state in
            let replaced = [state.given[key], state.made[key]]
            guard var registration = state.storing?.registration, let value else {
                state.given[key] = value
                state.made[key] = nil
                state.override(key, isSet: value != nil)
                state.version += 1
                return replaced
            }
            registration.isLiveOnly = isLiveOnly
            state.registered[key] = registration
            state.stored = (key, value)
            if registration.overridden.contains(key) { return [] }
            state.given[key] = nil
            state.made[key] = state.drops(key) ? nil : value
            return replaced
        }
        withExtendedLifetime(replaced) {}
    }
}

// MARK: - Registrations

extension BeagleDependencies {
    /// Registers what makes a dependency, in the place of the value set and the default: each container makes a value
    /// of its own, this one and each scope inside, when it is first read. Setting the dependency replaces it.
    ///
    /// ```swift
    /// dependencies.register(\.networkClient) { container in
    ///     CountingClient(NetworkClientDefault(dependencies: container))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the dependency, as `\.networkClient`. Its property stores the value as `DependencyDefault` shows.
    ///   - make: makes the value for a container, while that is locked. It doesn't keep the container, as that keeps the
    ///     value, and reads other dependencies from it; the registered one itself is the default there.
    public func register<Value: Sendable>(
        _ name: any ReferenceWritableKeyPath<BeagleDependencies, Value> & Sendable,
        _ make: @escaping @Sendable (_ container: BeagleDependencies) -> Value
    ) {
        let registration = Registration(types: [Value.self, Value?.self], make: make) { container, value in
            // Of this type, as `make` made it.
            if let value = value as? Value { container[keyPath: name] = value }
        }
        state.withLock { state in
            state.pending.append(registration)
            state.version += 1
        }
    }

    /// Makes the value of a registration and stores it, which tells its key.
    private func store(_ registration: Registration) -> (key: ObjectIdentifier, value: any Held) {
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
        // An app's own bug, and `make` would be forgotten. Not `precondition`, whose message an optimised build drops.
        guard let stored else {
            fatalError("a registered \(type(of: value)) is not stored with a DependencyDefault key")
        }
        return stored
    }

    /// Stores the values of registrations that may be this key's.
    private func storePending<Key: DependencyDefault>(_ key: Key.Type) {
        while let registration = state.withLock({ $0.takePending(ObjectIdentifier(key), Key.Value.self) }) {
            _ = store(registration)
        }
    }

    /// Stores the values of all registrations whose key isn't known.
    private func storeAllPending() {
        state.whileHeld {
            while let registration = state.withLock({ $0.pending.isEmpty ? nil : $0.pending.removeFirst() }) {
                _ = store(registration)
            }
        }
    }

    /// The value of the registration that this key has; nil without one.
    private func registeredValue<Key: DependencyDefault>(_ key: Key.Type) -> Key.Value? {
        let id = ObjectIdentifier(key)
        guard let registration = state.withLock({ $0.registered[id] }) else { return nil }
        state.withLock { _ = $0.registering.insert(id) }
        defer { state.withLock { _ = $0.registering.remove(id) } }
        return (store(registration).value as? HeldValue<Key.Value>)?.value
    }
}

/// Dependencies by their keys. They are few and often looked for, and to compare all keys costs less than to hash one.
private struct HeldTable: Sendable {
    private var keys: [ObjectIdentifier] = []
    private var values: [any Held] = []

    subscript(key: ObjectIdentifier) -> (any Held)? {
        get { keys.firstIndex(of: key).map { values[$0] } }
        set {
            let index = keys.firstIndex(of: key)
            switch (index, newValue) {
            case (let index?, let value?): values[index] = value
            case (let index?, nil):
                keys.remove(at: index)
                values.remove(at: index)
            case (nil, let value?):
                keys.append(key)
                values.append(value)
            case (nil, nil): break
            }
        }
    }

    /// Drops all others.
    mutating func keep(_ kept: Set<ObjectIdentifier>) {
        for key in keys where !kept.contains(key) { self[key] = nil }
    }

    /// Drops what scopes for tests and previews don't inherit.
    mutating func removeLiveOnly() {
        for (key, value) in zip(keys, values) where value.isLiveOnly { self[key] = nil }
    }
}

/// A dependency in the container. A box, because a value of optional type cannot be told from a missing one.
private protocol Held: AnyObject, Sendable {
    /// Whether scopes for tests and previews don't inherit it.
    var isLiveOnly: Bool { get }
}

@usableFromInline
final class HeldValue<Value: Sendable>: Held {
    @usableFromInline let value: Value
    let isLiveOnly: Bool

    @usableFromInline init(_ value: Value, isLiveOnly: Bool) {
        self.value = value
        self.isLiveOnly = isLiveOnly
    }
}
