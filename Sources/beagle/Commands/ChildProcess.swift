import BeagleNetHTTP
import Dispatch
import Foundation

/// A program that runs in our place, with our terminal and our signals.
final class ChildProcess {
    private let process: pid_t
    private let sources: [any DispatchSourceSignal]

    /// Those that are passed on. What is typed at a terminal goes to the program as well as to us.
    private static let forwarded = [SIGHUP, SIGTERM, SIGUSR1, SIGUSR2]
    private static let typed = [SIGINT, SIGQUIT]

    /// Starts a program, which is looked for in `PATH`.
    ///
    /// - Parameter variables: those of its environment that differ from ours.
    init(_ command: [String], setting variables: [String: String]) throws(SpawnError) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // What we ignore the program does not.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in Self.forwarded + Self.typed + [SIGPIPE] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        var arguments = command.map { strdup($0) } + [nil]
        var lines = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + lines { free(text) } }
        // What comes before there is a program waits for it.
        let started = Lock(pid_t(0))
        let queue = DispatchQueue(label: "beagle.signals", attributes: .initiallyInactive)
        defer { queue.activate() }
        sources = Self.passed.map { number in Self.source(number, on: queue, to: started) }
        var process = pid_t()
        let code = posix_spawnp(&process, command[0], nil, &attributes, &arguments, &lines)
        guard code == 0 else { throw SpawnError(code: code) }
        started.withLock { [process] in $0 = process }
        self.process = process
    }

    private static func source(
        _ number: Int32,
        on queue: DispatchQueue,
        to program: Lock<pid_t>
    ) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler {
            let process = program.withLock { $0 }
            if process > 0 { kill(process, number) }
        }
        source.resume()
        return source
    }

    private static var passed: [Int32] {
        for number in typed { signal(number, SIG_IGN) }
        return isAtTerminal ? forwarded : forwarded + typed
    }

    /// Waits for its end.
    ///
    /// - Returns: its exit code, or as a shell has it 128 and the signal that ended it.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        sources.forEach { $0.cancel() }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    /// Whether what is typed reaches both of us.
    private static var isAtTerminal: Bool {
        [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { tcgetpgrp($0) == getpgrp() }
    }
}

/// Why a program was not started.
struct SpawnError: Error {
    let code: Int32

    /// As a shell has it.
    var exit: Int32 { code == ENOENT ? 127 : 126 }
    var message: String { String(cString: strerror(code)) }
}
