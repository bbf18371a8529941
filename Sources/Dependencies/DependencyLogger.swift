/// A container that has a logger, such as `BeagleDependencies`.
@preconcurrency
public protocol DependencyLogger: Sendable {
    /// The current logger.
    var logger: any BeagleLogger { get }
}

extension BeagleDependencies: DependencyLogger {
    /// The logger for all messages: `SwiftLogLogger` by default in an app, `OffLogger` in tests and previews.
    public var logger: any BeagleLogger {
        get { self[LoggerKey.self] }
        set { self[LoggerKey.self] = newValue }
    }
}

package enum LoggerKey: DependencyDefault {
    package static func live(_ dependencies: BeagleDependencies) -> any BeagleLogger { SwiftLogLogger() }
    package static func test(_ dependencies: BeagleDependencies) -> any BeagleLogger { OffLogger() }
}
