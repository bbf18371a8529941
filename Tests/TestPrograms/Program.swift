package import BeagleNetHTTP
package import Foundation

/// A program that a test runs in a separate process.
///
/// Tests don't use Foundation's `Process`: in Swift 6.3, it reads beyond the end of a buffer when the test process has about a
/// thousand open files (`findMaximumOpenFromProcSelfFD`).
package final class Program: Sendable {
    /// The exit code, or the signal that ended the program.
    package enum Ending: Sendable, Equatable {
        case exit(Int32)
        case signal(Int32)

        /// The exit code, or 128 and the signal, as in a shell.
        package var code: Int32 {
            switch self {
            case .exit(let code): code
            case .signal(let number): 128 + number
            }
        }
    }

    private enum State {
        case running([CheckedContinuation<Ending, Never>])
        case ended(Ending)
    }

    package let identifier: pid_t
    private let state = Lock(State.running([]))

    /// Starts a program. It inherits no other files than its standard streams, which stay open here: close the ends of
    /// pipes that belong to the program.
    ///
    /// - Parameters:
    ///   - path: The path of the program, or a name to look for in `PATH`.
    ///   - environment: All of its environment, by default the environment of the tests.
    ///   - input: Its standard input, `/dev/null` by default.
    package init(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        input: FileHandle = .nullDevice,
        output: FileHandle = .standardOutput,
        errors: FileHandle = .standardError
    ) throws {
        #if canImport(Darwin)
            var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
        #else
            var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (descriptor, stream) in [input, output, errors].enumerated() {
            if stream === FileHandle.nullDevice {
                posix_spawn_file_actions_addopen(&actions, Int32(descriptor), "/dev/null", O_RDWR, 0)
            } else {
                posix_spawn_file_actions_adddup2(&actions, stream.fileDescriptor, Int32(descriptor))
            }
        }
        var flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        #if canImport(Darwin)
            flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            _ = Self.closeFrom?(&actions, 3)
        #endif
        // The test process ignores SIGPIPE, and blocks the signals that it has sources for.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        for signal in [SIGKILL, SIGSTOP] { sigdelset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var arguments = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var identifier = pid_t()
        let code = posix_spawnp(&identifier, path, &actions, &attributes, &arguments, &variables)
        guard code == 0 else {
            throw NetworkError(
                .other,
                during: .build,
                "\(path) could not be started: \(String(cString: strerror(code)))"
            )
        }
        self.identifier = identifier
        Thread.detachNewThread { [self] in awaitEnding() }
    }

    #if !canImport(Darwin)
        /// A function of glibc 2.34 that Swift's module of glibc lacks. The cast is safe: its type is the one in `spawn.h`, where
        /// `posix_spawn_file_actions_addclosefrom_np` takes a pointer to the actions and an `int`, and returns an `int`.
        private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
            unsafeBitCast(
                $0,
                to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self
            )
        }
    #endif

    /// Waits for the end of the process. The process stays a zombie until the lock is held, so that `send` never reaches
    /// another process with the same identifier.
    private func awaitEnding() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let (ending, continuations) = state.withLock { state -> (Ending, [CheckedContinuation<Ending, Never>]) in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            let ending = signal == 0 ? Ending.exit(status >> 8 & 0xFF) : .signal(signal)
            guard case .running(let continuations) = state else { return (ending, []) }
            state = .ended(ending)
            return (ending, continuations)
        }
        for continuation in continuations { continuation.resume(returning: ending) }
    }

    /// Sends a signal, unless the program has ended.
    package func send(_ signal: Int32) {
        state.withLock { if case .running = $0 { kill(identifier, signal) } }
    }

    /// Waits until the program has ended.
    package var ending: Ending {
        get async {
            await withCheckedContinuation { continuation in
                let ending: Ending? = state.withLock { state in
                    switch state {
                    case .ended(let ending): return ending
                    case .running(let continuations):
                        state = .running(continuations + [continuation])
                        return nil
                    }
                }
                if let ending { continuation.resume(returning: ending) }
            }
        }
    }

    /// Runs a program and waits until it exits.
    ///
    /// - Parameters:
    ///   - includesErrors: Whether the output includes standard error, in the order of writing.
    ///   - errors: Its standard error otherwise.
    package static func run(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        includesErrors: Bool = false,
        errors: FileHandle = .standardError
    ) async throws -> (ending: Ending, output: Data) {
        let (reader, writer) = try pipe()
        let program = try Program(
            path,
            arguments,
            environment: environment,
            output: writer,
            errors: includesErrors ? writer : errors
        )
        try writer.close()
        let output = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var output = Data()
                while case let bytes = reader.nextBytes(), !bytes.isEmpty { output += bytes }
                continuation.resume(returning: output)
            }
        }
        return (await program.ending, output)
    }

    /// Opens a pipe that no program inherits unless it's one of its standard streams.
    package static func pipe() throws -> (reader: FileHandle, writer: FileHandle) {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else {
            throw NetworkError(.other, during: .build, "no pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (
            FileHandle(fileDescriptor: ends[0], closeOnDealloc: true),
            FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        )
    }
}

extension FileHandle {
    /// Reads the bytes that are available, or waits for some. Returns an empty value at the end.
    ///
    /// `availableData` can't be used: it ends the process if a signal interrupts it.
    package func nextBytes() -> Data {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Foundation.read(fileDescriptor, &buffer, buffer.count)
            if count >= 0 { return Data(buffer[..<count]) }
            if errno != EINTR { return Data() }
        }
    }
}
