import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetRequestBuilder
import Foundation

/// The `beagle listen` command, which receives server-sent events and reconnects when needed.
struct ListenCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Receive server-sent events.",
        discussion: """
            Writes the data of each event as a line. If the stream ends or the connection is lost, the command \
            reconnects and continues after the last event, with growing delays until an event arrives, and reports \
            this on standard error. The command ends after status 204 or --count events; any status other than 200 and \
            204 is an error.

            With --json, each event is a line {"type", "id", "data"}, and the last line is the object
            with "ok" (see 'beagle --help').

            EXAMPLE
              beagle listen http://127.0.0.1:8080/events --count 3
            """
    )

    @OptionGroup var address: Address

    @Option(name: .long, help: "Exit after this many events.")
    var count: Int?

    @Option(
        name: .customLong("last-event-id"),
        help: ArgumentHelp("Receive the events after this one.", valueName: "id")
    )
    var lastEventID = ""

    @Option(name: .long, help: "Maximum number of consecutive connections without an event.")
    var retry = 10

    @OptionGroup var preview: PreviewFlags
    @OptionGroup var flags: CommonFlags

    func validate() throws {
        if let count, count < 1 { throw ValidationError("'--count' must be greater than 0.") }
        if retry < 0 { throw ValidationError("'--retry' must be 0 or greater.") }
        if lastEventID.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw ValidationError("'--last-event-id' contains a control character.")
        }
    }
}

extension ListenCommand {
    func run() async throws {
        let session = Session(flags, isOffline: preview.offline)
        do {
            let request = try request()
            guard !preview.offline else {
                return session.show(try await OfflineRequest(request, showsSecrets: preview.showSecrets).result)
            }
            let written = try await session.withSavedState {
                try await Interrupt.cancelling { try await follow(request, in: session) }
            }
            if flags.json { session.show(CommandResult(json: ["events": .integer(Int64(written))])) }
        } catch {
            var failure = flags.failure(for: error)
            switch (error as? NetworkError)?.kind {
            // The maximum size of an event has no option.
            case .tooLarge: failure.advice = nil
            case .decoding: failure.exit = ExitCode.weirdReply
            default: break
            }
            session.show(failure)
            throw ExitCode(failure.exit)
        }
    }

    private func request() throws -> TransferRequest {
        var request = try address.build(.rawRequest(.init()))
        flags.apply(to: &request.head)
        for field in EventSource.fields(after: lastEventID) { request.head.headerFields[field.name] = field.value }
        request.options = try flags.options()
        return request
    }

    /// Writes events until there are no more or `--count` is reached, and returns their number.
    private func follow(_ request: TransferRequest, in session: Session) async throws -> Int {
        let recorder: (any HTTPTransport)? = try session.log().map { RecordingTransport(session, log: $0) }
        var source = EventSource(request, over: recorder ?? session)
        source.lastEventID = lastEventID
        source.backoff.limit = retry
        source.onReconnect = { cause, delay in
            let seconds = Double(Int(delay / .milliseconds(100))) / 10
            session.console.note(
                "beagle: \(flags.replacingAPINames(cause.message).printable); reconnecting in \(seconds) s"
            )
        }
        guard let maxTime = flags.maxTime else { return try await write(source, to: session.console) }
        return try await withThrowingTaskGroup(of: Int.self) { [source] group in
            group.addTask { try await write(source, to: session.console) }
            group.addTask {
                try await Task.sleep(for: .seconds(maxTime))
                throw NetworkError(
                    .timeout,
                    during: .body,
                    "listening took longer than \(Duration.seconds(maxTime))",
                    advice: "allow more time with --max-time"
                )
            }
            defer { group.cancelAll() }
            return try await group.next() ?? 0
        }
    }

    private func write(_ source: EventSource, to console: Console) async throws -> Int {
        var written = 0
        for try await event in source {
            console.line(flags.json ? "\(event.json)" : event.data)
            written += 1
            if written == count { break }
        }
        return written
    }
}

extension EventStream.Event {
    fileprivate var json: JSONValue {
        ["type": .string(type), "id": .string(id), "data": .string(data)]
    }
}
