import BeagleNet
import BeagleNetCurl
import BeagleNetDependencies
import BeagleNetHTTP

extension BeagleDependencies {
    /// Puts a client that replays in the place of the network client, where `BEAGLENET_REPLAY=MODE:PATH` says so.
    ///
    /// Modes are `offline`, `fallback` and `record-new`, which adds to a log what it lacks.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` where there is no such mode, or why the recording cannot be
    ///   read.
    func replay(asSaidIn environment: [String: String]) throws(NetworkError) {
        guard let text = environment["BEAGLENET_REPLAY"], !text.isEmpty else { return }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty, let makeMode = Self.replayModes[parts[0]] else {
            let modes = Self.replayModes.keys.sorted().joined(separator: ", ")
            throw NetworkError(
                .badConfiguration,
                during: .build,
                "BEAGLENET_REPLAY is not MODE:PATH with one of these modes: \(modes)",
                advice: "set it to offline:NAME.bglog, or unset it"
            )
        }
        // Opened first: a log to record into need not be there.
        let (path, mode) = (parts[1], try makeMode(parts[1]))
        networkClient = ReplayClient(try Recording(contentsOf: path), mode: mode, dependencies: self)
        logger.log(ReplayBegun(text: text))
    }

    private static let replayModes: [String: @Sendable (_ path: String) throws(NetworkError) -> ReplayMode] = [
        "offline": { _ in .offline },
        "fallback": { _ in .fallback(to: CurlTransport()) },
        "record-new": { path throws(NetworkError) in .recordNew(into: try RequestLog(directory: path)) },
    ]
}

/// What a logger hears when the environment has switched replay on.
private struct ReplayBegun: LogType {
    let text: String

    var category: String { "Recording" }
    var level: LogLevel { .info }
    var message: String { "a recording answers, as BEAGLENET_REPLAY=\(text) says" }
}
