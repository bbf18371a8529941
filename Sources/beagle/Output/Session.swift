import BeagleNet
import BeagleNetCurl
import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// A run of a command, which sends its request, shows progress, and collects data for `--json`.
final class Session: Sendable {
    let console: Console
    let flags: CommonFlags
    /// The file of `-o`, or `nil` if the body is written to standard output.
    let file: String?
    private let configuration: CurlTransport.Configuration
    private let transport: CurlTransport
    let interceptors: [any Interceptor]
    /// The transport that replays a recording instead of using the network, if there is one.
    private let replay: Result<ReplayTransport?, NetworkError>
    /// The log in which requests are recorded, if there is one.
    private let recording: Result<RequestLog?, NetworkError>
    /// The cache, if there is one.
    private let cache: Result<SessionCache?, NetworkError>
    /// The result of the last attempt to use the network.
    private let attempt = Lock<CacheReport.Attempt?>(nil)
    private let hasNotedUser = Lock(false)
    private let start = ContinuousClock.now
    private let metrics = Lock(TransferMetrics())
    /// The first bytes of an image, or `nil` if the response had no image or only a part of one.
    let imageHead = Lock<Data?>(nil)

    /// The purpose of a request, which retries, recordings and `--verbose` use.
    struct Subject: Sendable {
        var kind = NetworkOperation.Kind.raw
        /// The name of the GraphQL operation, or `nil` if it has none.
        var operationName: String?
    }

    /// - Parameters:
    ///   - interceptors: The interceptors for the request.
    ///   - kind: The kind of the request.
    ///   - cache: The options for the cache, for commands that have them.
    ///   - file: The file of `-o`, or `nil` if the body is written to standard output.
    ///   - isOffline: Whether the request is shown instead of sent.
    init(
        _ flags: CommonFlags,
        _ interceptors: [any Interceptor] = [],
        kind: NetworkOperation.Kind = .raw,
        cache: CacheFlags? = nil,
        file: String? = nil,
        isOffline: Bool = false
    ) {
        (self.flags, self.file) = (flags, file)
        self.interceptors = interceptors
        configuration = flags.access.configuration
        let transport = CurlTransport(configuration)
        self.transport = transport
        let console = Console(flags.color)
        self.console = console
        replay = Result { () throws(NetworkError) in
            isOffline ? nil : try flags.replay.transport(transport, console)
        }
        recording = Result { () throws(NetworkError) in isOffline ? nil : try flags.recording.openLog(console) }
        // A recording isn't stored; the command reports that the options exclude each other.
        let usesCache = !isOffline && flags.replay.path == nil
        // The page of a screen has images too.
        let servesStale = [.component, .image, .query].contains(kind)
        self.cache = Result { () throws(NetworkError) in
            usesCache ? try .open(cache, servesStale: servesStale, console) : nil
        }
    }

    /// Returns the log in which requests are recorded, or `nil` if they aren't recorded.
    func log() throws(NetworkError) -> RequestLog? { try recording.get() }

    /// Returns the interceptors, including a recorder if requests are recorded.
    func recorded(_ interceptors: [any Interceptor]) throws(NetworkError) -> [any Interceptor] {
        guard let log = try log() else { return interceptors }
        return interceptors + [RecordInterceptor(log)]
    }

    /// Sends the request and receives the whole response. A body with a success status is written to the file of `-o`,
    /// if any.
    ///
    /// - Parameters:
    ///   - keepsBody: Whether a body that is written to a file is kept in memory as well.
    ///   - continuation: The position at which a download resumes, or `nil` to start from the beginning.
    ///   - subject: The purpose of the request.
    func receive(
        _ request: TransferRequest,
        keepsBody: Bool,
        from continuation: Continuation?,
        for subject: Subject
    ) async throws -> ReceivedResponse {
        defer { console.showBar("") }
        do {
            let received = try await withSavedState {
                switch (continuation, file) {
                case (.rest, let path?): try await resume(request, to: path, for: subject)
                case (.offset(let offset), _) where offset > 0:
                    try await receive(request, from: offset, for: subject)
                default: try await take(start(request, for: subject), to: request, keepsBody: keepsBody)
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

    /// Runs work between loading the state of the last run and saving it for the next one. The state is also saved if
    /// the work fails.
    func withSavedState<R>(_ work: () async throws -> R) async throws -> R {
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

    /// Sends the request, and returns the response as soon as its head has arrived.
    func start(_ request: TransferRequest, for subject: Subject) async throws -> StreamingResponse {
        var request = request
        request.delivery = .stream
        if console.hasTerminal {
            let bar = ProgressBar(on: console)
            request.onProgress = { bar.show($0) }
        }
        var interceptors = try recorded(interceptors)
        let cache = try cache.get()
        if let cache { interceptors.add(cache.interceptor) }
        var operation = NetworkOperation.of(
            request,
            kind: subject.kind,
            partition: cache?.user ?? "",
            policy: cache?.policy,
            logger: logger
        )
        operation.operationName = subject.operationName
        if flags.verbose, let title = operation.title { console.note("* \(title)") }
        if cache != nil { noteMissingUser(of: operation) }
        let response = try await Pipeline(interceptors, transport: self).stream(operation)
        if let status = response.cacheStatus { try check(response, with: status, against: request.options) }
        return subject.kind == .image ? try await checked(response, to: request) : response
    }

    /// Reports that a response can't be stored because it may belong to a user whom the command line doesn't name.
    private func noteMissingUser(of operation: NetworkOperation) {
        guard operation.partition.isEmpty, let key = operation.responseKey, storesCookies || !key.isPersistent,
            !hasNotedUser.withLock({ noted in
                defer { noted = true }
                return noted
            })
        else { return }
        console.note(
            "beagle: the response is not stored, because the request has credentials, cookies or other headers that "
                + "may identify a user; name the user with --cache-user"
        )
    }

    /// Shows the cache status of a response, and checks that a stored body isn't larger than the limit.
    private func check(
        _ response: StreamingResponse,
        with status: CacheStatus,
        against options: TransferOptions
    ) throws(NetworkError) {
        if flags.verbose {
            console.note("* cache: \(status)")
            if status.age != nil { note(response.response, "(stored)") }
        }
        guard status.age != nil, let limit = options.maxBodyBytes, let length = response.body.length, length > limit
        else { return }
        throw NetworkError(
            .tooLarge,
            during: .body,
            "the stored body has \(length) bytes, but the limit is \(limit) bytes",
            advice: "increase TransferOptions.maxBodyBytes"
        )
    }

    /// Waits until the cache has changed as the responses require.
    func finishCache() async {
        if case .success(let cache?) = cache { await cache.finish() }
    }

    /// The logger for interceptors, which writes notes if `-v` is given.
    var logger: any BeagleLogger { flags.verbose ? ConsoleNoteLogger(console: console) : OffLogger() }

    /// Receives the whole body. A partial response that wasn't requested is not written to a file.
    private func take(
        _ response: StreamingResponse,
        to request: TransferRequest,
        keepsBody: Bool
    ) async throws -> ReceivedResponse {
        let isPart = response.response.status == .partialContent && !request.head.headerFields.contains(.range)
        if isPart, file != nil { throw NetworkError.unexpectedPartialResponse }
        return try await take(response, keepsBody: keepsBody)
    }

    /// Receives the body.
    func take(_ response: StreamingResponse, keepsBody: Bool) async throws -> ReceivedResponse {
        let status = response.response.status
        let path = status.kind == .successful ? file : nil
        var body = Data()
        var count = 0
        if let path {
            try await save(response, to: path) { chunk in
                count += chunk.count
                if keepsBody { body += chunk }
            }
        } else {
            if let file { console.note("beagle: \(file) was not written: status \(status.code)") }
            // The transport has limited a body for standard output already. A body for a file isn't limited.
            body = try await response.body.collect(upTo: TransferOptions().maxBodyBytes ?? .max)
            count = body.count
        }
        return ReceivedResponse(
            head: response.response,
            url: response.url,
            protocolName: response.metrics.protocolName,
            body: body,
            file: path,
            isForFile: file != nil,
            count: count,
            trailers: response.trailers,
            cache: cacheReport(of: response)
        )
    }

    /// Returns the part that the cache had in a response, or `nil` without a cache.
    func cacheReport(of response: StreamingResponse) -> CacheReport? {
        response.cacheStatus.map { CacheReport($0, after: attempt.withLock { $0 }) }
    }

    private func save(_ response: StreamingResponse, to path: String, onChunk: (Data) -> Void) async throws {
        let file = try FileSink(path: path, mayBlock: true)
        do {
            try await file.write(contentsOf: response.body, of: PartialBody(response.response), onChunk: onChunk)
        } catch {
            let received = byteCount(file.position)
            let end =
                file.discardsIncompleteData
                ? "is unchanged; the \(received) received are discarded" : "is incomplete: got \(received)"
            console.note("beagle: \(path) \(end)")
            throw error
        }
    }

    // MARK: - Output

    func show(_ result: CommandResult) {
        if flags.json {
            console.line("\(result.envelope(timing: timing))")
        } else {
            if let note = result.note { console.note(note) }
            console.write(result.output)
        }
    }

    func show(_ failure: Failure) {
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

    /// The timing for `--json`, in milliseconds: times from the start of the last hop, and the total time of the run.
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

    private func note(_ hops: [TransferMetrics.Hop]) {
        let redactor = Redactor()
        for hop in hops { console.note("* \(hop.status) for \(hop.method) \(redactor.redact(url: hop.url))".printable) }
    }

    private func note(_ response: TransferResponse) {
        note(response.metrics.hops)
        note(response.head, response.metrics.protocolName)
    }

    private func note(_ head: HTTPResponse, _ version: String) {
        console.note(console.styledNote("< \(version) \(head.statusLine)", .bold))
        for (name, value) in Redactor().redact(head.headerFields) {
            console.note("< \(name): \(value)".printable)
        }
    }

    /// Writes the times of the transfer's phases, the number of bytes, and the connection.
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

/// Writes log messages, such as those for retries, as notes.
private struct ConsoleNoteLogger: BeagleLogger {
    let console: Console

    func log(_ log: any LogType) { console.note("* \(log.message)".printable) }
}

/// Sends the command's requests, and shows each attempt.
extension Session: CookieTransport {
    var storesCookies: Bool { transport.storesCookies }

    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        // If the request is invalid, the transport fails with the same error.
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
            switch result {
            case .success(let response):
                self.attempt.withLock { $0 = .status(response.head.status.code) }
                self.record(response.metrics)
                if self.flags.verbose { self.note(response) }
            case .failure(let error): self.attempt.withLock { $0 = .failure(error) }
            }
            completion(result)
        }
    }
}

extension Session: OfflineTransport {
    /// Whether all responses come from a recording. If the recording can't be read, each request fails.
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
