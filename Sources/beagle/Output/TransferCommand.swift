import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// A command that sends one request and tells what came of it.
protocol TransferCommand: AsyncParsableCommand, Sendable {
    var flags: CommonFlags { get }
    var retries: RetryFlags { get }

    /// What the request goes through; retries by default.
    var interceptors: [any Interceptor] { get }

    /// The message to send.
    func request() throws -> TransferRequest

    /// Sends the message and receives the whole response; through the session by default.
    func receive(_ request: TransferRequest, in session: Session) async throws -> ReceivedResponse

    /// What a response with a status below 400 means.
    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult

    /// What a response with a status from 400 on means; by default that the server refused, which is thrown.
    func outcome(ofRefusal received: ReceivedResponse, on console: Console) throws -> CommandResult

    /// Whether the body of an error is a result as well. No by default.
    var showsErrorBody: Bool { get }

    /// Where a download goes on; nil where it begins.
    var continuation: Continuation? { get }

    /// What the request asks for. Anything by default.
    var kind: NetworkOperation.Kind { get }

    /// Whether `result` reads a body that goes to a file. No by default.
    var keepsBody: Bool { get }
}

extension TransferCommand {
    var showsErrorBody: Bool { false }
    var keepsBody: Bool { false }
    var interceptors: [any Interceptor] { retries.interceptors }
    var kind: NetworkOperation.Kind { .raw }
    var continuation: Continuation? { nil }

    func outcome(ofRefusal received: ReceivedResponse, on console: Console) throws -> CommandResult {
        throw Failure(received)
    }

    func receive(_ request: TransferRequest, in session: Session) async throws -> ReceivedResponse {
        try await session.receive(request, keepsBody: keepsBody, from: continuation, asking: .init(kind: kind))
    }

    func run() async throws {
        let session = Session(flags, interceptors)
        do {
            // Reading standard input cannot be cancelled: until it is read, a signal just ends the program.
            let request = try request()
            let result = try await Interrupt.cancelling { try await outcome(of: request, in: session) }
            session.tell(result)
        } catch {
            let failure = flags.failure(for: error)
            session.tell(failure)
            throw ExitCode(failure.exit)
        }
    }

    private func outcome(of request: TransferRequest, in session: Session) async throws -> CommandResult {
        var request = request
        flags.apply(to: &request.head)
        request.options = try flags.options()
        // What is read as it is sent takes the time it takes, as long as it goes on.
        if flags.maxTime == nil, let body = request.body, body.data == nil { request.options.timeouts.total = nil }
        guard !flags.offline else {
            return try await OfflineRequest(request, showsSecrets: flags.showSecrets).result
        }
        if let continuation { try continuation.check(request, flags) }
        let received = try await receive(request, in: session)
        var result: CommandResult
        do {
            result =
                try received.isRefused
                ? outcome(ofRefusal: received, on: session.console) : self.result(of: received, on: session.console)
        } catch var failure as Failure where received.isRefused {
            if showsErrorBody { failure.output = head(of: received) + received.output }
            throw failure
        }
        result.output = head(of: received) + result.output
        return result
    }

    private func head(of received: ReceivedResponse) -> Data {
        flags.include ? Data(received.headText.utf8) : Data()
    }
}
