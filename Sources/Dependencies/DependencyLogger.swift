/// Something that has a logger. `BeagleDependencies` is one.
@preconcurrency
public protocol DependencyLogger: Sendable {
    /// The logger as it is now.
    var logger: any BeagleLogger { get }
}

extension BeagleDependencies: DependencyLogger {
    /// Where messages go. In an app `SwiftLogLogger`, in tests and previews nowhere.
    public var logger: any BeagleLogger {
        get { self[LoggerKey.self] }
        set { self[LoggerKey.self] = newValue }
    }
}

package enum LoggerKey: DependencyDefault {
    package static func live(_ dependencies: BeagleDependencies) -> any BeagleLogger { SwiftLogLogger() }
    package static func test(_ dependencies: BeagleDependencies) -> any BeagleLogger { OffLogger() }
}
