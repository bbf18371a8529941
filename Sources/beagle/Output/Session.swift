import BeagleNet
import BeagleNetCurl
import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// One run of a command: sends its request, shows how it goes, and remembers what `--json` tells of it.
final class Session: Sendable {
    let console: Console
    let flags: CommonFlags
    private let configuration: CurlConfiguration
    private let transport: CurlTransport
    private let interceptors: [any Interceptor]
    /// What answers instead of the network, if anything does.
    private let replay: Result<ReplayTransport?, NetworkError>
    /// Where requests are recorded, if they are.
    private let recording: Result<RequestLog?, NetworkError>
    private let start = ContinuousClock.now
    private let metrics = Lock(TransferMetrics())
    /// The first bytes of an image; `nil` if there was none, or only a part of one.
    let imageHead = Lock<Data?>(nil)

    /// What a request asks for: retries, recordings and `--verbose` go by it.
    struct Subject: Sendable {
        var kind = NetworkOperation.Kind.raw
        /// The name of a GraphQL operation, where it has one.
        var operationName: String?
    }

    /// - Parameter interceptors: what the request goes through on its way.
    init(_ flags: CommonFlags, _ interceptors: [any Interceptor] = []) {
        self.flags = flags
        self.interceptors = interceptors
        configuration = flags.access.configuration
        let transport = CurlTransport(configuration)
        self.transport = transport
        let console = Console(flags.color)
        self.console = console
        replay = Result { () throws(NetworkError) in
            flags.offline ? nil : try flags.replay.transport(transport, console)
        }
        recording = Result { () throws(NetworkError) in flags.offline ? nil : try flags.recording.openLog(console) }
    }

    /// Where requests are recorded; nil where they are not.
    func log() throws(NetworkError) -> RequestLog? { try recording.get() }

    /// What requests go through on their way, the recorder included where they are recorded.
    func recorded(_ interceptors: [any Interceptor]) throws(NetworkError) -> [any Interceptor] {
        guard let log = try log() else { return interceptors }
        return interceptors + [RecordInterceptor(log)]
    }

    /// Sends the request and receives the whole response; a body that `-o` names a file for goes there, unless the
    /// status is no success.
    ///
    /// - Parameters:
    ///   - keepsBody: whether a body that goes to a file is kept in memory as well.
    ///   - continuation: where a download goes on; at its begin where nil.
    ///   - subject: what the request asks for.
    func receive(
        _ request: TransferRequest,
        keepsBody: Bool,
        from continuation: Continuation?,
        asking subject: Subject
    ) async throws -> ReceivedResponse {
        defer { console.showBar("") }
        do {
            let received = try await remembering {
                switch (continuation, flags.file) {
                case (.rest, let path?): try await resume(request, to: path, asking: subject)
                case (.offset(let offset), _) where offset > 0:
                    try await receive(request, from: offset, asking: subject)
                default: try await take(begin(request, asking: subject), to: request, keepsBody: keepsBody)
                }
            }
            if flags.verbose {
                for (name, value) in Redactor().redact(received.trailers) {
                    console.note("< \(name): \(value)".printable)
                }
                noteTimes(bytes: Int64(received.count))
            }
            return received
        } catch {
            if let metrics = (error as? NetworkError)?.metrics {
                record(metrics)
                if flags.verbose { note(metrics.hops) }
            }
            if flags.verbose { noteTimes(bytes: metrics.withLock { $0.decodedBytes }) }
            throw error
        }
    }

    /// Does this between reading what the last run remembered and writing what the next is to know. What an answer had
    /// us remember counts however the transfer ended.
    func remembering<R>(_ work: () async throws -> R) async throws -> R {
        try flags.access.load(into: configuration, console)
        let result: R
        do {
            result = try await work()
        } catch {
            do throws(NetworkError) {
                try flags.access.save(configuration)
            } catch {
                console.note("beagle: \(error.message)")
            }
            throw error
        }
        try flags.access.save(configuration)
        return result
    }

    /// Sends the request and gives the response as soon as its head is there.
    func begin(_ request: TransferRequest, asking subject: Subject) async throws -> StreamingResponse {
        var request = request
        request.delivery = .stream
        if console.hasTerminal {
            let bar = ProgressBar(on: console)
            request.onProgress = { bar.show($0) }
        }
        var operation = NetworkOperation.of(request, kind: subject.kind, logger: logger)
        operation.operationName = subject.operationName
        if flags.verbose, let title = operation.title { console.note("* \(title)") }
        let response = try await Pipeline(recorded(interceptors), transport: self).stream(operation)
        return subject.kind == .image ? try await checked(response, to: request) : response
    }

    /// Shows what interceptors do, with `-v`.
    var logger: any BeagleLogger { flags.verbose ? NoteLogger(console: console) : OffLogger() }

    /// Receives the whole body; a part of it that wasn't asked for is no whole file.
    private func take(
        _ response: StreamingResponse,
        to request: TransferRequest,
        keepsBody: Bool
    ) async throws -> ReceivedResponse {
        let isPart = response.response.status == .partialContent && !request.head.headerFields.contains(.range)
        if isPart, flags.file != nil { throw NetworkError.unaskedPart }
        return try await take(response, keepsBody: keepsBody)
    }

    /// Receives the body.
    func take(_ response: StreamingResponse, keepsBody: Bool) async throws -> ReceivedResponse {
        let status = response.response.status
        let path = status.kind == .successful ? flags.file : nil
        var body = Data()
        var count = 0
        if let path {
            try await save(response, to: path) { chunk in
                count += chunk.count
                if keepsBody { body += chunk }
            }
        } else {
            if let file = flags.file { console.note("beagle: \(file) was not written: status \(status.code)") }
            // What goes to standard output the transport has held to its limit; a file would have had none.
            body = try await response.body.collect(upTo: TransferOptions().maxBodyBytes ?? .max)
            count = body.count
        }
        return ReceivedResponse(
            head: response.response,
            url: response.url,
            protocolName: response.metrics.protocolName,
            body: body,
            file: path,
            isForFile: flags.file != nil,
            count: count,
            trailers: response.trailers
        )
    }

    private func save(_ response: StreamingResponse, to path: String, onChunk: (Data) -> Void) async throws {
        let file = try FileSink(path: path, mayWait: true)
        do {
            try await file.write(contentsOf: response.body, of: PartialBody(response.response), onChunk: onChunk)
        } catch {
            let received = byteCount(file.position)
            let end =
                file.isUndone
                ? "is unchanged; the \(received) received are discarded" : "is incomplete: got \(received)"
            console.note("beagle: \(path) \(end)")
            throw error
        }
    }

    // MARK: - What is told of it

    func tell(_ result: CommandResult) {
        if flags.json {
            console.line("\(result.envelope(timing: timing))")
        } else {
            if let note = result.note { console.note(note) }
            console.write(result.output)
        }
    }

    func tell(_ failure: Failure) {
        if flags.json {
            console.line("\(failure.envelope(timing: timing))")
        } else {
            console.write(failure.output)
            console.note(failure)
        }
    }

    private func record(_ new: TransferMetrics) {
        metrics.withLock { $0 = new }
    }

    /// `timing` of the tool's `--json`, in milliseconds: marks from the start of the last hop, and the whole run.
    var timing: JSONValue {
        let metrics = metrics.withLock { $0 }
        return [
            "dnsMs": .number(metrics.nameLookup.milliseconds),
            "connectMs": .number(metrics.connect.milliseconds),
            "tlsMs": .number(metrics.tlsHandshake.milliseconds),
            "firstByteMs": .number(metrics.firstByte.milliseconds),
            "totalMs": .number(start.duration(to: .now).milliseconds),
        ]
    }

    private func note(_ head: HTTPRequest, _ fields: HTTPFields) {
        console.note(console.styledNote("> \(head.method.rawValue) \(Redactor().redact(url: head.urlText))", .bold))
        for (name, value) in Redactor().redact(fields) { console.note("> \(name): \(value)") }
    }

    private func note(_ hops: [TransferHop]) {
        let redactor = Redactor()
        for hop in hops { console.note("* \(hop.status) for \(hop.method) \(redactor.redact(url: hop.url))".printable) }
    }

    private func note(_ response: TransferResponse) {
        note(response.metrics.hops)
        let version = response.metrics.protocolName
        console.note(console.styledNote("< \(version) \(response.head.statusLine)", .bold))
        for (name, value) in Redactor().redact(response.head.headerFields) {
            console.note("< \(name): \(value)".printable)
        }
    }

    /// Which phases the transfer came through, and when; what moved, and over which connection.
    private func noteTimes(bytes: Int64) {
        let metrics = metrics.withLock { $0 }
        let phases = [
            ("dns", metrics.nameLookup), ("connect", metrics.connect), ("tls", metrics.tlsHandshake),
            ("first byte", metrics.firstByte), ("total", start.duration(to: .now)),
        ]
        let times = phases.filter { $1 > .zero }.map { "\($0) \(oneDecimal($1.milliseconds))" }
        var parts = ["\(times.joined(separator: " · ")) ms", byteCount(bytes)]
        if !metrics.remoteAddress.isEmpty {
            parts += [metrics.remoteAddress, metrics.isConnectionReused ? "reused connection" : "new connection"]
        }
        if !metrics.tlsVersion.isEmpty { parts += [metrics.tlsVersion, metrics.tlsCipher] }
        console.note("* \(parts.joined(separator: " · "))")
    }
}

/// Tells of attempts and waits.
private struct NoteLogger: BeagleLogger {
    let console: Console

    func log(_ log: any LogType) { console.note("* \(log.message)".printable) }
}

/// Sends what a command asks for, as often as it does, and shows each attempt.
extension Session: CookieTransport {
    var keepsCookies: Bool { transport.keepsCookies }

    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        // What cannot be sent the transport refuses with the same error.
        if flags.verbose, let fields = try? CurlTransport.wireFields(of: request, configuration) {
            note(request.head, fields)
        }
        let source: any HTTPTransport
        do throws(NetworkError) {
            source = try replay.get() ?? transport
        } catch {
            completion(.failure(error))
            return AnyRequestToken()
        }
        return source.perform(request) { result in
            if case .success(let response) = result {
                self.record(response.metrics)
                if self.flags.verbose { self.note(response) }
            }
            completion(result)
        }
    }
}

extension Session: OfflineTransport {
    /// Whether a recording alone answers. A recording that can't be read fails each request.
    var isOffline: Bool {
        if case .success(let transport?) = replay { return transport.isOffline }
        return false
    }
}

extension Duration {
    /// The duration in milliseconds.
    var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }
}
