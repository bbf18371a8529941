public import BeagleNetDependencies

/// A context that carries task-local values of the caller to its callbacks.
///
/// Completions, watchers, the `emit` closure of `run` and the end of a streamed body run on threads and in tasks that
/// don't have these values.
///
/// Interceptors that run in a task have the caller's values. If callers share a run, they are those of the first
/// caller. An observer has them in `willSend` of the first attempt. The logger and trace contexts of
/// BeagleNetObservability keep their values for all attempts.
public protocol CallerContext: Sendable {
    /// Captures the values in the caller's task.
    ///
    /// - Returns: A function that runs a body with the values, on any thread.
    func capture() -> CallerValues
}

/// A function that runs a body with captured task-local values.
public typealias CallerValues = @Sendable (_ body: () -> Void) -> Void

extension BeagleDependencies {
    /// The contexts to carry with each request in addition to the dependencies, none by default.
    ///
    /// `BeagleNetObservability` has one for traces and one for swift-log's `Logger.current`.
    public var callerContexts: [any CallerContext] {
        get { self[CallerContextsKey.self] }
        set { self[CallerContextsKey.self] = newValue }
    }
}

enum CallerContextsKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> [any CallerContext] { [] }
}

extension [any CallerContext] {
    /// Captures the values of all contexts, or returns `nil` if there are no contexts.
    func capture() -> CallerValues? {
        guard let first else { return nil }
        return dropFirst().reduce(first.capture()) { outer, context in
            let inner = context.capture()
            return { body in outer { inner(body) } }
        }
    }

    /// Wraps `emit` so that it runs with the current caller's values.
    func carrying(_ emit: @escaping Interceptor.Emit) -> Interceptor.Emit {
        guard let caller = capture() else { return emit }
        return { result in caller { emit(result) } }
    }
}
