/// Keeps all messages, for tests and for screens that show them.
public final class MemoryLogger: BeagleLogger {
    private let kept = RecursiveLock<[any LogType]>([])

    /// A logger that has no message yet.
    public init() {}

    /// The messages so far, oldest first.
    public var logs: [any LogType] { kept.withLock { $0 } }

    /// The texts of the messages so far, oldest first.
    public var messages: [String] { logs.map(\.message) }

    /// Keeps the message.
    public func log(_ log: any LogType) {
        kept.withLock { $0.append(log) }
    }

    /// Forgets all messages.
    public func removeAll() {
        kept.withLock { $0.removeAll() }
    }
}
