import ArgumentParser

/// A command that sends one request, with the groups of options that such commands share.
///
/// The groups aren't nested in one group: in debug builds, ArgumentParser validates each group four times for each
/// group around it, which took three quarters of the time of a short run.
protocol RequestCommand: AsyncParsableCommand {
    var general: GeneralFlags { get }
    var speed: SpeedFlags { get }
    var access: AccessFlags { get }
    var connection: ConnectionFlags { get }
    var recording: RecordingFlags { get }
    var replay: ReplayFlags { get }
}

extension RequestCommand {
    var flags: CommonFlags {
        CommonFlags(
            general: general,
            speed: speed,
            access: access,
            connection: connection,
            recording: recording,
            replay: replay
        )
    }
}
