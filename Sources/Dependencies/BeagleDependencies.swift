/// Holds the dependencies of an app, a test or a part of either: values that were set, and defaults made when they are
/// first asked for, once per container.
///
/// ```swift
/// let dependencies = BeagleDependencies()
/// dependencies.networkClient = CustomNetworkClient()
/// Beagle.dependencies = dependencies
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
        var making: [any DependencyDefault.Type] = []
        /// What stays when the container goes.
        var followed: Set<ObjectIdentifier> = []
        /// Whether the container has gone, so that nobody would cut a circle any more.
        var isOrphaned = false
        var version = 0

        subscript(key: ObjectIdentifier) -> (any Held)? { given[key] ?? made[key] }
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
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// The dependency of this key: the value set, else its default.
    @inlinable public subscript<Key: DependencyDefault>(key: Key.Type) -> Key.Value {
        get { held(key) ?? make(key) }
        set { replace(key, with: HeldValue(newValue)) }
    }

    /// Forgets the value set and the default made; the next read makes a new default.
    public func reset<Key: DependencyDefault>(_ key: Key.Type) {
        replace(key, with: nil)
    }

    /// A container with what is set in this one, changed by `change`, and with defaults of its own, so that
    /// connections of one scope never reach another.
    ///
    /// - Parameters:
    ///   - context: what defaults are made for; this container's context where nil.
    ///   - change: sets what differs.
    public func scoped(
        _ context: Context? = nil,
        _ change: (BeagleDependencies) throws -> Void
    ) rethrows -> BeagleDependencies {
        let inherited = RecursiveLock(State(given: state.withLock { $0.given }))
        let container = BeagleDependencies(context ?? self.context, inherited)
        try change(container)
        return container
    }

    // A function of its own: a default for `change` would ask for `try` where nothing throws.
    /// A container with what is set in this one, and with defaults of its own.
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

    @usableFromInline func held(_ key: ObjectIdentifier) -> AnyObject? { state.withLock { $0[key] } }

    /// The lock is held while a default is made: there is one of it, and a cycle is always met on one thread.
    @usableFromInline func make<Key: DependencyDefault>(_ key: Key.Type) -> Key.Value {
        state.whileHeld {
            if let value: Key.Value = held(key) { return value }
            begin(key)
            let value =
                switch context {
                case .live: Key.live(self)
                case .test: Key.test(self)
                case .preview: Key.preview(self)
                }
            state.withLock { state in
                state.making.removeLast()
                guard !state.isOrphaned || state.followed.contains(ObjectIdentifier(key)) else { return }
                state.made[ObjectIdentifier(key)] = HeldValue(value)
            }
            return value
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
        fatalError("the defaults of these dependencies need one another: \(chain); set one of them or break the chain")
    }

    /// The replaced values are released when the lock is free again: their `deinit` may ask this container.
    @usableFromInline func replace<Key: DependencyDefault>(_ key: Key.Type, with value: HeldValue<Key.Value>?) {
        let key = ObjectIdentifier(key)
        let replaced = state.withLock { state in
            let replaced = [state.given[key], state.made[key]]
            state.given[key] = value
            state.made[key] = nil
            state.version += 1
            return replaced
        }
        withExtendedLifetime(replaced) {}
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
}

/// A dependency in the container. A box, because a value of optional type cannot be told from a missing one.
private protocol Held: AnyObject, Sendable {}

@usableFromInline
final class HeldValue<Value: Sendable>: Held {
    @usableFromInline let value: Value

    @usableFromInline init(_ value: Value) {
        self.value = value
    }
}
