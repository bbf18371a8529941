/// The namespace of the app's dependencies, where an app sets them and all other code reads them.
public enum Beagle {
    @TaskLocal static var slot: Slot?
    static let processSlot = Slot(BeagleDependencies())

    /// The dependencies of the current scope, or the app's dependencies outside of any scope.
    ///
    /// They may be set at start-up or later; code that reads them afterwards gets the new ones. Inside
    /// `withDependencies`, only that scope's dependencies are replaced.
    public static var dependencies: BeagleDependencies {
        get { scope.dependencies }
        set { scope.slot.container = newValue }
    }

    /// The current scope, which can be carried to a thread that has no scope.
    public static var scope: Scope { Scope(slot ?? processSlot) }

    /// Runs an operation, and the tasks that it starts, with its own dependencies.
    ///
    /// - Parameters:
    ///   - context: The context of default values, or `nil` for the current context.
    ///   - change: Changes the dependencies, which are otherwise the current ones.
    ///   - operation: The operation to run.
    public static func withDependencies<R>(
        _ context: BeagleDependencies.Context? = nil,
        _ change: (BeagleDependencies) throws -> Void,
        operation: () throws -> R
    ) rethrows -> R {
        try Scope(dependencies.scoped(context, change)).run(operation)
    }

    // A separate overload, because a default value for `change` would require `try` even if nothing throws.
    /// Runs an operation, and the tasks that it starts, with its own context but the current dependencies.
    public static func withDependencies<R>(
        _ context: BeagleDependencies.Context? = nil,
        operation: () throws -> R
    ) rethrows -> R {
        try withDependencies(context, { _ in }, operation: operation)
    }

    /// Runs an asynchronous operation, and the tasks that it starts, with its own dependencies.
    ///
    /// - Parameters:
    ///   - isolation: The caller's actor, on which the operation runs.
    ///   - context: The context of default values, or `nil` for the current context.
    ///   - change: Changes the dependencies, which are otherwise the current ones.
    ///   - operation: The operation to run.
    public static func withDependencies<R>(
        isolation: isolated (any Actor)? = #isolation,
        _ context: BeagleDependencies.Context? = nil,
        _ change: (BeagleDependencies) throws -> Void,
        operation: () async throws -> R
    ) async rethrows -> R {
        try await Scope(dependencies.scoped(context, change)).run(operation)
    }

    /// Runs an asynchronous operation, and the tasks that it starts, with its own context but the current dependencies.
    public static func withDependencies<R>(
        isolation: isolated (any Actor)? = #isolation,
        _ context: BeagleDependencies.Context? = nil,
        operation: () async throws -> R
    ) async rethrows -> R {
        try await withDependencies(context, { _ in }, operation: operation)
    }

    /// A scope of dependencies, as a value that can be passed to other threads.
    ///
    /// A dispatch queue or a thread of a C library doesn't have the task-local values of the caller.
    public struct Scope: Sendable {
        fileprivate let slot: Slot

        fileprivate init(_ slot: Slot) {
            self.slot = slot
        }

        /// Creates a scope with these dependencies.
        public init(_ dependencies: BeagleDependencies) {
            slot = Slot(dependencies)
        }

        /// The current dependencies of the scope, including later changes.
        public var dependencies: BeagleDependencies { slot.container }

        /// Runs `body` in this scope, on the current thread.
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

    /// The storage of a scope's container.
    ///
    /// Setting `Beagle.dependencies` in a scope replaces only this container.
    final class Slot: Sendable {
        private let held: RecursiveLock<BeagleDependencies>

        init(_ container: BeagleDependencies) {
            held = RecursiveLock(container)
        }

        var container: BeagleDependencies {
            get { held.withLock { $0 } }
            set {
                // The replaced container is released after unlocking.
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

/// The set-up of Beagle, with the names of Beagle 2.
public struct BeagleConfigurator {
    /// Sets `Beagle.dependencies`.
    public static func setup(dependencies: BeagleDependencies) {
        Beagle.dependencies = dependencies
    }
}
