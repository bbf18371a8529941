/// A handle that calls a closure, for clients and transports that the app provides.
public struct AnyRequestToken: RequestToken {
    private let onCancel: @Sendable () -> Void

    /// Creates a handle.
    ///
    /// - Parameter cancel: Called by each `cancel()`. By default it does nothing, as for a request that has ended.
    public init(_ cancel: @escaping @Sendable () -> Void = {}) {
        onCancel = cancel
    }

    /// Creates a handle that cancels a task.
    public init(_ task: Task<Void, Never>) {
        onCancel = { task.cancel() }
    }

    /// Calls the closure, or cancels the task.
    public func cancel() {
        onCancel()
    }
}
