/// A logger that accepts no messages, so that none are created; also written `.off`.
public struct OffLogger: BeagleLogger {
    /// Creates a logger that ignores messages.
    public init() {}

    /// Ignores the message.
    public func log(_ log: any LogType) {}

    /// Returns `false` for all levels.
    public func accepts(_ level: LogLevel) -> Bool { false }
}

extension BeagleLogger where Self == OffLogger {
    /// A logger that accepts no messages.
    public static var off: OffLogger { OffLogger() }
}
