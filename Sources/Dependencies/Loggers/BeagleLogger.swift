/// Takes messages. Ours are `SwiftLogLogger`, `ConsoleLogger`, `MemoryLogger`, `MultiplexLogger`, `LevelLogger` and
/// `.off`.
@preconcurrency
public protocol BeagleLogger: Sendable {
    /// Takes one message, on any thread. Its `message` is put together when it is read.
    func log(_ log: any LogType)

    /// Whether messages of this level are wanted. Where they are not, none is made. Yes by default.
    func accepts(_ level: LogLevel) -> Bool

    /// The logger for the messages of a request that begins now, which are logged on other threads too: a logger that reads
    /// task-local values returns one that holds them.
    ///
    /// - Returns: `nil`, the default, if that is the logger itself.
    func captured() -> (any BeagleLogger)?
}

extension BeagleLogger {
    /// Yes, whatever the level.
    public func accepts(_ level: LogLevel) -> Bool { true }

    /// The logger itself.
    public func captured() -> (any BeagleLogger)? { nil }
}
