import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// A command that sends one request and shows the result.
protocol TransferCommand: AsyncParsableCommand, Sendable {
    var flags: CommonFlags { get }
    var response: ResponseFlags { get }
    var retries: RetryFlags { get }
    var cache: CacheFlags { get }

    /// The interceptors for the request. By default, those for retries.
    var interceptors: [any Interceptor] { get }

    /// Returns the request.
    func request() throws -> TransferRequest

    /// Sends the request and receives the whole response. Uses the session by default.
    func receive(_ request: TransferRequest, in session: Session) async throws -> ReceivedResponse

    /// Returns the result for a response with a status below 400.
    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult

    /// Returns the result for a response with a status of 400 or above. By default, throws a failure.
    func outcome(ofErrorResponse received: ReceivedResponse, on console: Console) throws -> CommandResult

    /// Whether the body of an error response is output too. The default is `false`.
    var showsErrorBody: Bool { get }

    /// The position at which a download resumes, or `nil` to start from the beginning.
    var continuation: Continuation? { get }

    /// The kind of the request. The default is `.raw`.
    var kind: NetworkOperation.Kind { get }

    /// Whether `result` reads the body even if it is written to a file. The default is `false`.
    var keepsBody: Bool { get }
}

extension TransferCommand {
    var showsErrorBody: Bool { false }
    var keepsBody: Bool { false }
    var interceptors: [any Interceptor] { retries.interceptors }
    var kind: NetworkOperation.Kind { .raw }
    var continuation: Continuation? { nil }

    func outcome(ofErrorResponse received: ReceivedResponse, on console: Console) throws -> CommandResult {
        throw Failure(received)
    }

    func receive(_ request: TransferRequest, in session: Session) async throws -> ReceivedResponse {
        try await session.receive(request, keepsBody: keepsBody, from: continuation, for: .init(kind: kind))
    }

    func run() async throws {
        let session = Session(
            flags,
            interceptors,
            kind: kind,
            cache: cache,
            file: response.file,
            isOffline: response.preview.offline
        )
        do {
            // Reading standard input can't be cancelled. Until it is read, a signal simply ends the program.
            let request = try request()
            let result = try await Interrupt.cancelling { try await outcome(of: request, in: session) }
            session.show(result)
            await session.finishCache()
        } catch {
            let failure = flags.failure(for: error)
            session.show(failure)
            await session.finishCache()
            throw ExitCode(failure.exit)
        }
    }

    private func outcome(of request: TransferRequest, in session: Session) async throws -> CommandResult {
        var request = request
        flags.apply(to: &request.head)
        request.options = try flags.options(isForFile: response.file != nil)
        // A streamed body may take any time, as long as data flows.
        if flags.maxTime == nil, let body = request.body, body.data == nil { request.options.timeouts.total = nil }
        guard !response.preview.offline else {
            return try await OfflineRequest(request, showsSecrets: response.preview.showSecrets).result
        }
        if let continuation { try continuation.check(request, file: response.file) }
        if cache.folder != nil, flags.replay.path != nil {
            throw Failure(
                exit: ExitCode.usage,
                code: "usage",
                phase: .build,
                "'--cache' and '--replay' cannot be used together",
                advice: "leave out one of them"
            )
        }
        let received = try await receive(request, in: session)
        var result: CommandResult
        do {
            result =
                try received.isErrorResponse
                ? outcome(ofErrorResponse: received, on: session.console)
                : self.result(of: received, on: session.console)
        } catch var failure as Failure where received.isErrorResponse {
            failure.details["cache"] = received.cache?.json
            if showsErrorBody { failure.output = head(of: received) + received.output }
            throw failure
        }
        result.output = head(of: received) + result.output
        if let report = received.cache { result.add(report) }
        return result
    }

    private func head(of received: ReceivedResponse) -> Data {
        response.include ? Data(received.headText.utf8) : Data()
    }
}
