/// Takes no message, so that none is made. Spelled `.off`.
public struct OffLogger: BeagleLogger {
    /// A logger that takes nothing.
    public init() {}

    /// Takes no notice.
    public func log(_ log: any LogType) {}

    /// No, whatever the level.
    public func accepts(_ level: LogLevel) -> Bool { false }
}

extension BeagleLogger where Self == OffLogger {
    /// Takes no message.
    public static var off: OffLogger { OffLogger() }
}
