import BeagleNetHTTP
import Dispatch
import Foundation

/// The person at the terminal, or the system, wants the program to end.
struct Interrupt: Error {
    /// SIGINT or SIGTERM.
    let signal: Int32
    /// What the work under way failed with.
    let cause: any Error

    /// What a shell expects of a program that a signal ended.
    var exitCode: Int32 { 128 + signal }

    /// Runs `body` in a task that SIGINT and SIGTERM cancel; a second one ends the program at once.
    ///
    /// - Throws: `Interrupt` where a signal made `body` fail, else what `body` throws.
    static func cancelling<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
        let numbers = [SIGINT, SIGTERM]
        let (registrations, registered) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            // A signal that came before its source hears it would end the program without a word, or be lost.
            var missing = numbers.count
            for await _ in registrations {
                missing -= 1
                if missing == 0 { break }
            }
            return try await body()
        }
        let received = Lock<Int32?>(nil)
        let sources = numbers.map { number in
            // The source sees the signal only where its default, to end the process, is off.
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
