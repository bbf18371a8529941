public import BeagleNet
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Variables of the environment that may change what an app does, where it allows them.
public struct EnvironmentSwitches: OptionSet, Sendable {
    /// The switches as bits.
    public let rawValue: Int

    /// Switches of these bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// `BEAGLENET_LOG=DIRECTORY`: what is sent is recorded there, as `beagle record -- COMMAND` asks a program to.
    public static let log = EnvironmentSwitches(rawValue: 1)
    /// `BEAGLENET_REPLAY=MODE:RECORDING`: a `ReplayClient` takes the place of the network client. Modes are `offline`,
    /// `fallback`, `live`, which tells the logger of answers that differ, and `record-new`, which adds to a log what it lacks.
    public static let replay = EnvironmentSwitches(rawValue: 2)
}

extension BeagleDependencies {
    /// Lets the environment switch things on: nothing of it is looked at where an app does not say so, and nothing is
    /// changed where the variables are not set.
    ///
    /// ```swift
    /// try dependencies.allow([.log, .replay])
    /// ```
    /// - Parameters:
    ///   - switches: which ones.
    ///   - environment: the variables; those of the process by default.
    /// - Throws: `NetworkError` where what a variable asks for cannot be done, as recording into a directory that cannot be
    ///   written, or replaying what cannot be read.
    public func allow(
        _ switches: EnvironmentSwitches,
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(NetworkError) {
        if switches.contains(.log), let directory = environment["BEAGLENET_LOG"], !directory.isEmpty {
            var options = RequestLog.Options()
            options.logger = logger
            requestLog = try RequestLog(directory: directory, options: options)
            logger.log(RecordingBegun(directory: directory))
        }
        if switches.contains(.replay) { try replay(asSaidIn: environment) }
    }
}

/// What a logger hears when the environment has switched recording on.
private struct RecordingBegun: LogType {
    let directory: String

    var category: String { "Recording" }
    var level: LogLevel { .info }
    var message: String { "recording requests in \(directory), because BEAGLENET_LOG is set" }
}
