/// The place where an app sets up its dependencies and where everything else finds them.
public enum Beagle {
    @TaskLocal static var slot: Slot?
    static let processSlot = Slot(BeagleDependencies())

    /// The dependencies of the current scope, or the app's outside of any scope.
    ///
    /// Set it at start-up, or at any time: code that asks afterwards finds the new ones. Inside
    /// `withDependencies` only that scope's are replaced.
    public static var dependencies: BeagleDependencies {
        get { scope.dependencies }
        set { scope.slot.container = newValue }
    }

    /// The current scope, to be carried to a thread that has none.
    public static var scope: Scope { Scope(slot ?? processSlot) }

    /// Runs an operation with dependencies of its own. Tasks that it starts have them too.
    ///
    /// - Parameters:
    ///   - context: what defaults are made for; the current context where nil.
    ///   - change: sets what differs from the current dependencies.
    ///   - operation: what to run.
    public static func withDependencies<R>(
        _ context: BeagleDependencies.Context? = nil,
        _ change: (BeagleDependencies) throws -> Void,
        operation: () throws -> R
    ) rethrows -> R {
        try Scope(dependencies.scoped(context, change)).run(operation)
    }

    // Functions of their own: a default for `change` would ask for `try` where nothing throws.
    /// Runs an operation with nothing but a context of its own. Tasks that it starts have it too.
    public static func withDependencies<R>(
        _ context: BeagleDependencies.Context? = nil,
        operation: () throws -> R
    ) rethrows -> R {
        try withDependencies(context, { _ in }, operation: operation)
    }

    /// Runs an asynchronous operation with dependencies of its own. Tasks that it starts have them too.
    ///
    /// - Parameters:
    ///   - isolation: the caller's actor, on which the operation stays.
    ///   - context: what defaults are made for; the current context where nil.
    ///   - change: sets what differs from the current dependencies.
    ///   - operation: what to run.
    public static func withDependencies<R>(
        isolation: isolated (any Actor)? = #isolation,
        _ context: BeagleDependencies.Context? = nil,
        _ change: (BeagleDependencies) throws -> Void,
        operation: () async throws -> R
    ) async rethrows -> R {
        try await Scope(dependencies.scoped(context, change)).run(operation)
    }

    /// Runs an asynchronous operation with nothing but a context of its own. Tasks that it starts have it too.
    public static func withDependencies<R>(
        isolation: isolated (any Actor)? = #isolation,
        _ context: BeagleDependencies.Context? = nil,
        operation: () async throws -> R
    ) async rethrows -> R {
        try await withDependencies(context, { _ in }, operation: operation)
    }

    /// The dependencies in force at some point, as a value that crosses threads: a dispatch queue or a thread of a C
    /// library does not know the task that gave it work.
    public struct Scope: Sendable {
        fileprivate let slot: Slot

        fileprivate init(_ slot: Slot) {
            self.slot = slot
        }

        /// A new scope with these dependencies.
        public init(_ dependencies: BeagleDependencies) {
            slot = Slot(dependencies)
        }

        /// The dependencies of the scope, those set later included.
        public var dependencies: BeagleDependencies { slot.container }

        /// Runs `body` in this scope, whichever thread it is on.
        public func run<R>(_ body: () throws -> R) rethrows -> R {
            if (Beagle.slot ?? processSlot) === slot { return try body() }
            return try Beagle.$slot.withValue(slot, operation: body)
        }

        /// Runs an asynchronous `body` in this scope, on the caller's actor.
        public func run<R>(
            isolation: isolated (any Actor)? = #isolation,
            _ body: () async throws -> R
        ) async rethrows -> R {
            try await Beagle.$slot.withValue(slot, operation: body)
        }
    }

    /// Where a scope keeps its container. Setting `Beagle.dependencies` in a scope replaces this container only.
    final class Slot: Sendable {
        private let held: RecursiveLock<BeagleDependencies>

        init(_ container: BeagleDependencies) {
            held = RecursiveLock(container)
        }

        var container: BeagleDependencies {
            get { held.withLock { $0 } }
            set {
                // The replaced container is released when the lock is free again.
                let replaced = held.withLock { container in
                    let replaced = container
                    container = newValue
                    return replaced
                }
                withExtendedLifetime(replaced) {}
            }
        }
    }
}
