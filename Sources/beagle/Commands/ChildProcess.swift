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
        // What we ignore or hold back the program does not.
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

    /// What hears signals, from its return on.
    private static func sources(of numbers: [Int32], to relay: Lock<SignalRelay>) -> [any DispatchSourceSignal] {
        let registered = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "beagle.signals")
        let sources = numbers.map { number -> any DispatchSourceSignal in
            // Darwin's sources see a signal only where its default, to end us, is off. Those of Linux turn it off
            // themselves: what comes before ends us, who have started nothing, and would be lost were it ignored.
            #if canImport(Darwin)
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if let process = relay.withLock({ $0.hear(number) }) { kill(process, number) }
            }
            source.setRegistrationHandler { registered.signal() }
            source.resume()
            return source
        }
        for _ in sources { registered.wait() }
        return sources
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

/// Which signals a program gets: what comes before there is one waits for it.
struct SignalRelay {
    private var process: pid_t?
    private var waiting: [Int32] = []

    /// Who gets this one now; nobody where there is no program yet.
    mutating func hear(_ signal: Int32) -> pid_t? {
        if process == nil { waiting.append(signal) }
        return process
    }

    /// There is a program.
    ///
    /// - Returns: what it gets of what came before.
    mutating func begin(_ process: pid_t) -> [Int32] {
        defer { waiting = [] }
        self.process = process
        return waiting
    }
}

/// Why a program was not started.
struct SpawnError: Error {
    let code: Int32

    /// As a shell has it.
    var exit: Int32 { code == ENOENT ? 127 : 126 }
    var message: String { String(cString: strerror(code)) }
}
