import BeagleNetDependencies

/// The caller's dependency scope and task-local values, for its callbacks.
struct Caller: Sendable {
    private let scope = Beagle.scope
    private let values: CallerValues?

    /// Captures the current caller of a client that has this container.
    init(of container: BeagleDependencies) {
        values = container.callerContexts.capture()
    }

    func run(_ body: () -> Void) {
        scope.run { values.run(body) }
    }
}

extension CallerValues? {
    /// Runs a body with the values, if there are any.
    func run(_ body: () -> Void) {
        if let self { self(body) } else { body() }
    }
}
