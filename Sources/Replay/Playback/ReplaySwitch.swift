package import BeagleNetHTTP

/// The settings in `BEAGLENET_REPLAY=MODE:PATH`.
///
/// There is no `refresh` mode: it isn't known when a program has sent its last request, so the new recording couldn't
/// replace the old one. `BEAGLENET_LOG` records into another log.
package struct ReplaySwitch: Sendable {
    private enum Mode: String, CaseIterable {
        case fallback, live, offline
        case recordNew = "record-new"
    }

    /// The value of the variable.
    package let text: String
    private let mode: Mode
    private let path: String

    /// Reads the variable; returns `nil` if it is not set.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` if the mode is unknown.
    package init?(in environment: [String: String]) throws(NetworkError) {
        guard let text = environment["BEAGLENET_REPLAY"], !text.isEmpty else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty, let mode = Mode(rawValue: parts[0]) else {
            let modes = Mode.allCases.map(\.rawValue).sorted().joined(separator: ", ")
            throw NetworkError(
                .badConfiguration,
                during: .build,
                "BEAGLENET_REPLAY must be MODE:PATH with one of these modes: \(modes)",
                advice: parts[0] == "refresh"
                    ? "record into another log with BEAGLENET_LOG, then replace this one with it"
                    : "set it to offline:NAME.bglog, or unset it"
            )
        }
        (self.text, self.mode, path) = (text, mode, parts[1])
    }

    /// Returns the recording and the mode.
    ///
    /// - Parameters:
    ///   - base: the transport to the network.
    ///   - report: called for responses that differ from the recorded ones.
    /// - Throws: the error if the recording cannot be read, or the log cannot be written.
    package func open(
        _ base: any HTTPTransport,
        _ report: @escaping @Sendable (ReplayTransport.Comparison) -> Void
    ) throws(NetworkError) -> (Recording, ReplayTransport.Mode) {
        let replay: ReplayTransport.Mode
        switch mode {
        case .offline: replay = .offline
        case .fallback: replay = .fallback(to: base)
        case .live: replay = .live(from: base, report: report)
        // Opened before the recording is read, so that a missing log is created.
        case .recordNew: replay = .recordNew(from: base, into: try RequestLog(directory: path))
        }
        return (try Recording(contentsOf: path), replay)
    }
}
