import BeagleNetHTTP
import Dispatch
import Foundation

/// A child process that uses this process's terminal, and to which signals are forwarded.
final class ChildProcess {
    private let process: pid_t
    private let sources: [any DispatchSourceSignal]

    /// The signals that are forwarded. At a terminal, the typed ones already reach both processes.
    private static let forwarded = [SIGHUP, SIGTERM, SIGUSR1, SIGUSR2]
    private static let typed = [SIGINT, SIGQUIT]

    /// Starts a program, which is searched for in `PATH`.
    ///
    /// - Parameter variables: The environment variables that are set in addition to those of this process.
    init(_ command: [String], setting variables: [String: String]) throws(SpawnError) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The program doesn't inherit ignored or blocked signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in Self.forwarded + Self.typed + [SIGPIPE] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        var arguments = command.map { strdup($0) } + [nil]
        var lines = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + lines { free(text) } }
        let relay = Lock(SignalRelay())
        let isAtTerminal = Self.isAtTerminal
        sources = Self.sources(of: isAtTerminal ? Self.forwarded : Self.forwarded + Self.typed, to: relay)
        if isAtTerminal { for number in Self.typed { signal(number, SIG_IGN) } }
        var process = pid_t()
        let code = posix_spawnp(&process, command[0], nil, &attributes, &arguments, &lines)
        guard code == 0 else { throw SpawnError(code: code) }
        self.process = process
        for number in relay.withLock({ [process] in $0.begin(process) }) { kill(process, number) }
    }

    /// Creates the sources that receive signals. They are active when this returns.
    private static func sources(of numbers: [Int32], to relay: Lock<SignalRelay>) -> [any DispatchSourceSignal] {
        let registered = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "beagle.signals")
        let sources = numbers.map { number -> any DispatchSourceSignal in
            // On Darwin, a source receives a signal only if its default action, ending the process, is turned off. On
            // Linux, the source turns it off itself. An earlier signal then ends this process, which hasn't started
            // anything yet. If it were ignored, it would be lost.
            #if canImport(Darwin)
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if let process = relay.withLock({ $0.receive(number) }) { kill(process, number) }
            }
            source.setRegistrationHandler { registered.signal() }
            source.resume()
            return source
        }
        for _ in sources { registered.wait() }
        return sources
    }

    /// Waits for the process to end.
    ///
    /// - Returns: The exit code, or 128 plus the number of the signal that ended the process, as in a shell.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        sources.forEach { $0.cancel() }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    /// Whether typed signals reach both processes.
    private static var isAtTerminal: Bool {
        [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { tcgetpgrp($0) == getpgrp() }
    }
}

/// Routes signals to a process. Signals that arrive before it is started are queued.
struct SignalRelay {
    private var process: pid_t?
    private var waiting: [Int32] = []

    /// Returns the process that receives a signal now, or `nil` if it isn't started yet.
    mutating func receive(_ signal: Int32) -> pid_t? {
        if process == nil { waiting.append(signal) }
        return process
    }

    /// Sets the process.
    ///
    /// - Returns: The queued signals, which the process receives now.
    mutating func begin(_ process: pid_t) -> [Int32] {
        defer { waiting = [] }
        self.process = process
        return waiting
    }
}

extension ChildProcess {
    /// The reason that a program wasn't started.
    struct SpawnError: Error {
        let code: Int32

        /// The exit code that a shell would return.
        var exit: Int32 { code == ENOENT ? 127 : 126 }
        var message: String { String(cString: strerror(code)) }
    }
}
