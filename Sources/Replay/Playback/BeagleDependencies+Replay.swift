import BeagleNet
import BeagleNetCurl
import BeagleNetDependencies
import BeagleNetHTTP

extension BeagleDependencies {
    /// Replaces the network client with one that replays, if `BEAGLENET_REPLAY=MODE:PATH` is set.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` if the mode is unknown, or the error of reading the
    ///   recording.
    func replay(from environment: [String: String]) throws(NetworkError) {
        guard let replay = try ReplaySwitch(in: environment) else { return }
        let logger = logger
        let (recording, mode) = try replay.open(CurlTransport()) { logger.log(ResponseDiffers(comparison: $0)) }
        networkClient = ReplayClient(recording, mode: mode, dependencies: self)
        logger.log(ReplayStarted(text: replay.text))
    }
}

/// The log message when the environment has turned on replay.
private struct ReplayStarted: LogType {
    let text: String

    var category: String { "Recording" }
    var level: LogLevel { .info }
    var message: String { "replaying a recording, because BEAGLENET_REPLAY=\(text) is set" }
}

/// The log message for a response that differs from the recorded one.
private struct ResponseDiffers: LogType {
    let comparison: ReplayTransport.Comparison

    var category: String { "Recording" }
    var level: LogLevel { .warning }
    var message: String { "\(comparison)" }
}
