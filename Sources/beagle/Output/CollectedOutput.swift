import BeagleNetHTTP
import Foundation

/// The output of commands that run inside another program, collected in place of the standard streams of the process.
/// Commands that run with it don't react to signals and have no terminal.
///
/// Tests run most commands this way, because starting a process takes longer than a command.
final class CollectedOutput: Sendable {
    /// The output of commands that this task runs; `nil` for the standard streams.
    @TaskLocal static var current: CollectedOutput?

    private let streams = Lock((output: Data(), errors: Data()))

    /// The bytes written to standard output.
    var output: Data { streams.withLock { $0.output } }
    /// The bytes written to standard error.
    var errors: Data { streams.withLock { $0.errors } }

    func append(_ bytes: Data, to descriptor: Int32) {
        streams.withLock { streams in
            if descriptor == STDOUT_FILENO { streams.output += bytes } else { streams.errors += bytes }
        }
    }
}
