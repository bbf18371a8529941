import ArgumentParser
import BeagleNetHTTP
import Foundation

/// The setting for colored output.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never

    /// Returns whether output to this file descriptor is colored.
    ///
    /// `auto` uses color on a terminal, unless `NO_COLOR` isn't empty (https://no-color.org) or the terminal is a dumb
    /// one.
    func isOn(for descriptor: Int32, in environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto:
            Terminal.exists(on: descriptor) && environment["NO_COLOR", default: ""].isEmpty
                && environment["TERM"] != "dumb"
        }
    }
}
