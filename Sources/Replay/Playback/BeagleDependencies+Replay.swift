import BeagleNet
import BeagleNetCurl
import BeagleNetDependencies
import BeagleNetHTTP

extension BeagleDependencies {
    /// Puts a client that replays in the place of the network client, where `BEAGLENET_REPLAY=MODE:PATH` says so.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` where there is no such mode, or why the recording cannot be
    ///   read.
    func replay(asSaidIn environment: [String: String]) throws(NetworkError) {
        guard let replay = try ReplaySwitch(in: environment) else { return }
        let logger = logger
        let (recording, mode) = try replay.open(CurlTransport()) { logger.log(AnswerDiffers(comparison: $0)) }
        networkClient = ReplayClient(recording, mode: mode, dependencies: self)
        logger.log(ReplayBegun(text: replay.text))
    }
}

/// What a logger hears when the environment has switched replay on.
private struct ReplayBegun: LogType {
    let text: String

    var category: String { "Recording" }
    var level: LogLevel { .info }
    var message: String { "replaying a recording, because BEAGLENET_REPLAY=\(text) is set" }
}

/// What a logger hears of an answer that is not what was recorded.
private struct AnswerDiffers: LogType {
    let comparison: ReplayComparison

    var category: String { "Recording" }
    var level: LogLevel { .warning }
    var message: String { "\(comparison)" }
}
