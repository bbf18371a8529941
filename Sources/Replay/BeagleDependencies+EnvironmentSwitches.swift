public import BeagleNet
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension BeagleDependencies {
    /// Environment variables that may change an app's behavior, if the app allows them.
    public struct EnvironmentSwitches: OptionSet, Sendable {
        /// The switches as bits.
        public let rawValue: Int

        /// Creates switches from bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Records requests into a directory: `BEAGLENET_LOG=DIRECTORY`.
        ///
        /// `beagle record -- COMMAND` sets this variable.
        public static let log = EnvironmentSwitches(rawValue: 1)
        /// Replaces the network client with a `ReplayClient`: `BEAGLENET_REPLAY=MODE:RECORDING`.
        ///
        /// The modes are `offline`, `fallback`, `live`, which logs responses that differ, and `record-new`, which adds
        /// missing requests to a log.
        public static let replay = EnvironmentSwitches(rawValue: 2)
    }
}

extension BeagleDependencies {
    /// Lets environment variables turn on features.
    ///
    /// Variables have no effect unless the app calls this method.
    ///
    /// ```swift
    /// try dependencies.allow([.log, .replay])
    /// ```
    /// - Parameters:
    ///   - switches: the allowed switches.
    ///   - environment: the variables; those of the process by default.
    /// - Throws: `NetworkError` if a requested feature cannot be set up, such as recording into a directory that isn't
    ///   writable, or replaying a recording that cannot be read.
    public func allow(
        _ switches: EnvironmentSwitches,
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(NetworkError) {
        if switches.contains(.log), let directory = environment["BEAGLENET_LOG"], !directory.isEmpty {
            var options = RequestLog.Options()
            options.logger = logger
            requestLog = try RequestLog(directory: directory, options: options)
            logger.log(RecordingStarted(directory: directory))
        }
        if switches.contains(.replay) { try replay(from: environment) }
    }
}

/// The log message when the environment has turned on recording.
private struct RecordingStarted: LogType {
    let directory: String

    var category: String { "Recording" }
    var level: LogLevel { .info }
    var message: String { "recording requests in \(directory), because BEAGLENET_LOG is set" }
}
