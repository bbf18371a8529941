package import BeagleNetHTTP

/// What `BEAGLENET_REPLAY=MODE:PATH` asks for.
///
/// There is no `refresh`: a program does not say when it has asked for all, so that nobody could put the new recording in the
/// place of the old one. `BEAGLENET_LOG` records into another.
package struct ReplaySwitch: Sendable {
    private enum Mode: String, CaseIterable {
        case fallback, live, offline
        case recordNew = "record-new"
    }

    /// The variable's value.
    package let text: String
    private let mode: Mode
    private let path: String

    /// nil where the variable is not set.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` where there is no such mode.
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

    /// The recording, and who answers.
    ///
    /// - Parameters:
    ///   - base: what asks the network.
    ///   - report: hears of answers that are not what was recorded.
    /// - Throws: why the recording cannot be read, or written into.
    package func open(
        _ base: any HTTPTransport,
        _ report: @escaping @Sendable (ReplayComparison) -> Void
    ) throws(NetworkError) -> (Recording, ReplayMode) {
        let replay: ReplayMode
        switch mode {
        case .offline: replay = .offline
        case .fallback: replay = .fallback(to: base)
        case .live: replay = .live(from: base, report: report)
        // Opened first: a log to record into need not be there.
        case .recordNew: replay = .recordNew(from: base, into: try RequestLog(directory: path))
        }
        return (try Recording(contentsOf: path), replay)
    }
}
