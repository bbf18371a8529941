/// A logger that stores all messages, for tests and for screens that show them.
public final class MemoryLogger: BeagleLogger {
    private let kept = RecursiveLock<[any LogType]>([])

    /// Creates a logger without messages.
    public init() {}

    /// The messages so far, oldest first.
    public var logs: [any LogType] { kept.withLock { $0 } }

    /// The texts of the messages so far, oldest first.
    public var messages: [String] { logs.map(\.message) }

    /// Stores the message.
    public func log(_ log: any LogType) {
        kept.withLock { $0.append(log) }
    }

    /// Removes all messages.
    public func removeAll() {
        // Released after unlocking, because their `deinit` may log.
        let removed = kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
        withExtendedLifetime(removed) {}
    }
}
