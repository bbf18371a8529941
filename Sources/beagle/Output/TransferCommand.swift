import ArgumentParser
import BeagleNetHTTP
import Foundation

/// A command that sends one request and tells what came of it.
protocol TransferCommand: AsyncParsableCommand, Sendable {
    var flags: CommonFlags { get }

    /// The message to send.
    func request() throws -> TransferRequest

    /// What a response with a status below 400 means.
    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult

    /// Whether the body of an error is a result as well. No by default.
    var showsErrorBody: Bool { get }

    /// Whether `result` reads a body that goes to a file. No by default.
    var keepsBody: Bool { get }
}

extension TransferCommand {
    var showsErrorBody: Bool { false }
    var keepsBody: Bool { false }

    func run() async throws {
        let session = Session(flags)
        do {
            // Reading standard input cannot be cancelled: until it is read, a signal just ends the program.
            let request = try request()
            let result = try await Interrupt.cancelling { try await outcome(of: request, in: session) }
            tell(result, in: session)
        } catch {
            var failure = Failure(wrapping: error)
            if let error = error as? NetworkError { failure.advice = flags.advice(for: error) }
            tell(failure, in: session)
            throw ExitCode(failure.exit)
        }
    }

    private func outcome(of request: TransferRequest, in session: Session) async throws -> CommandResult {
        var request = request
        flags.apply(to: &request.head)
        request.options = try flags.options()
        guard !flags.offline else {
            return try await OfflineRequest(request, showsSecrets: flags.showSecrets).result
        }
        let received = try await session.receive(request, keepsBody: keepsBody)
        guard received.head.status.code < 400 else {
            var failure = Failure(received)
            if showsErrorBody { failure.output = head(of: received) + received.output }
            throw failure
        }
        var result = try self.result(of: received, on: session.console)
        result.output = head(of: received) + result.output
        return result
    }

    private func head(of received: ReceivedResponse) -> Data {
        flags.include ? Data(received.headText.utf8) : Data()
    }

    private func tell(_ result: CommandResult, in session: Session) {
        let console = session.console
        if flags.json {
            console.line("\(result.envelope(timing: session.timing))")
        } else {
            if let note = result.note { console.note(note) }
            console.write(result.output)
        }
    }

    private func tell(_ failure: Failure, in session: Session) {
        let console = session.console
        if flags.json {
            console.line("\(failure.envelope(timing: session.timing))")
        } else {
            console.write(failure.output)
            console.note(failure)
        }
    }
}
