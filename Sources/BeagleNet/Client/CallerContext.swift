public import BeagleNetDependencies

/// Carries task-local values of the caller to completions, watchers, `emit` of `run` and the end of a streamed body, which
/// run on threads and in tasks that don't have them.
///
/// Interceptors that run in a task have the caller's values; of callers who share a run, those of the first. An observer has
/// them in `willSend` of the first attempt. Loggers and traces of BeagleNetObservability keep theirs for all attempts.
public protocol CallerContext: Sendable {
    /// Takes the values up, in the task that asks.
    ///
    /// - Returns: runs a body with the values, on any thread.
    func capture() -> CallerValues
}

/// Runs a body with the task-local values that were captured.
public typealias CallerValues = @Sendable (_ body: () -> Void) -> Void

extension BeagleDependencies {
    /// What goes with each request besides the dependencies themselves; nothing by default. `BeagleNetObservability` has
    /// one for traces and one for swift-log's `Logger.current`.
    public var callerContexts: [any CallerContext] {
        get { self[CallerContextsKey.self] }
        set { self[CallerContextsKey.self] = newValue }
    }
}

enum CallerContextsKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> [any CallerContext] { [] }
}

extension [any CallerContext] {
    /// The values of all of them; nil where there are none.
    func capture() -> CallerValues? {
        guard let first else { return nil }
        return dropFirst().reduce(first.capture()) { outer, context in
            let inner = context.capture()
            return { body in outer { inner(body) } }
        }
    }

    /// The function with the values of whoever asks now.
    func carrying(_ emit: @escaping Interceptor.Emit) -> Interceptor.Emit {
        guard let caller = capture() else { return emit }
        return { result in caller { emit(result) } }
    }
}

/// Who asks: dependency scope and task-local values, to be brought to where the answer is heard.
struct Caller: Sendable {
    private let scope = Beagle.scope
    private let values: CallerValues?

    /// Whoever asks now a client of this container.
    init(of container: BeagleDependencies) {
        values = container.callerContexts.capture()
    }

    func run(_ body: () -> Void) {
        scope.run { values.run(body) }
    }
}

extension CallerValues? {
    /// Runs a body with the values, where there are any.
    func run(_ body: () -> Void) {
        if let self { self(body) } else { body() }
    }
}
