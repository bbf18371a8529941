import BeagleNetHTTP
import Dispatch
import Foundation

/// An interruption of the program by SIGINT or SIGTERM.
struct Interrupt: Error {
    /// SIGINT or SIGTERM.
    let signal: Int32
    /// The error of the work that was interrupted.
    let cause: any Error

    /// The exit code that a shell expects of a program that was ended by a signal.
    var exitCode: Int32 { 128 + signal }

    /// Runs `body` in a task that SIGINT and SIGTERM cancel. A second signal ends the program immediately.
    ///
    /// - Throws: `Interrupt` if a signal made `body` fail, or the error that `body` throws otherwise.
    static func cancelling<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
        guard CollectedOutput.current == nil else { return try await body() }
        let numbers = [SIGINT, SIGTERM]
        let (registrations, registered) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            // A signal that arrives before its source is registered would end the program silently or be lost.
            var missing = numbers.count
            for await _ in registrations {
                missing -= 1
                if missing == 0 { break }
            }
            return try await body()
        }
        let received = Lock<Int32?>(nil)
        let sources = numbers.map { number in
            // The source receives the signal only if its default action, ending the process, is turned off.
            Foundation.signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                let isSecond = received.withLock { received in
                    defer { received = number }
                    return received != nil
                }
                if isSecond { exit(128 + number) }
                task.cancel()
            }
            source.setRegistrationHandler { registered.yield() }
            source.resume()
            return source
        }
        defer { sources.forEach { $0.cancel() } }
        let result = await task.result
        if case .failure(let cause) = result, let signal = received.withLock({ $0 }) {
            throw Interrupt(signal: signal, cause: cause)
        }
        return try result.get()
    }
}
