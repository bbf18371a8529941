public import BeagleNet
import BeagleNetHTTP

/// A transport that returns responses from a recording.
///
/// Retries, credentials, stores and redirects above it work as they do over the network.
///
/// `ReplayClient` is a client with this transport. To use it below a pipeline of your own, pass it to a
/// `NetworkClientDefault`: `NetworkClientDefault(dependencies: dependencies, transport: ReplayTransport(recording))`.
///
/// A response has the recorded status, the recorded header fields except for those about content coding, and the
/// decoded body; or the recorded failure is thrown. Redirects are followed within the recording. The limits of requests
/// apply; connection settings in `TransferOptions` have no effect.
///
/// A request that is sent several times receives the recorded responses in order. For concurrent requests, the order is
/// undefined, but each response is used once.
public final class ReplayTransport: HTTPTransport {
    /// The kind of the operation that a `ReplayClient` is performing.
    @TaskLocal static var kind: String?

    let recording: Recording
    private let playback: Playback
    let webSockets: Playback
    let mode: Mode
    let rules: [MatchRule]
    let timing: Timing
    let redactor: Redactor
    let clock: any Clock<Duration>

    /// Creates a transport that replays a recording.
    ///
    /// - Parameters:
    ///   - recording: the recording; `Recording(contentsOf:)` reads a log or an archive.
    ///   - mode: the source of responses; only the recording by default.
    ///   - matching: the rules that determine which requests match.
    ///   - repeats: the response to a request that is sent more often than it was recorded.
    ///   - timing: the timing of recorded responses; immediate by default.
    ///   - redactor: the redactor that removes secrets from requests before they are compared; it should be the one
    ///     used for recording.
    ///   - clock: the clock that measures delays.
    public init(
        _ recording: Recording,
        mode: Mode = .offline,
        matching: [MatchRule] = .standard,
        repeats: Repeats = .sequenceThenLast,
        timing: Timing = .none,
        redactor: Redactor = Redactor(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.recording = recording
        self.mode = mode
        rules = matching
        self.timing = timing
        self.redactor = redactor
        self.clock = clock
        playback = recording.playback(of: .messages, matching, repeats, redactor)
        webSockets = recording.playback(of: .webSockets, matching, repeats, redactor)
    }

    /// The entries that have not been used, in their order.
    public var unused: [LogEntry] {
        (playback.unusedPlaces + webSockets.unusedPlaces).sorted().map { recording.entries[$0] }
    }

    /// Checks that every entry was used.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` that names the first unused entries.
    public func assertAllUsed() throws(NetworkError) {
        try recording.checkUse(unused: unused, redactor)
    }

    /// Starts a request and returns immediately.
    ///
    /// The entry is chosen before this method returns, unless the body is a file or a stream, which has to be read
    /// first.
    @discardableResult
    public func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        let pending = PendingRequest(request: request, kind: Self.kind)
        let isAtHand = request.body == nil || request.body?.data != nil
        let chosen =
            isAtHand && mode.usesRecording ? Result { () throws(NetworkError) in try choose(for: pending) } : nil
        return AnyRequestToken(
            Task {
                completion(
                    await Result.catching { () throws(NetworkError) in try await self.response(pending, chosen) }
                )
            }
        )
    }
}

extension ReplayTransport: CookieTransport {
    /// Whether cookies are handled by the base.
    ///
    /// In recorded requests and responses they have already taken effect.
    package var storesCookies: Bool { mode.base.map { ($0 as? any CookieTransport)?.storesCookies ?? true } ?? false }
}

extension ReplayTransport: OfflineTransport {
    /// Whether only the recording is used.
    package var isOffline: Bool { mode.base == nil }
}

extension ReplayTransport.Mode {
    /// Whether the mode uses the recording.
    fileprivate var usesRecording: Bool {
        if case .refresh = self { return false }
        return true
    }
}

extension ReplayTransport {
    /// A request, with the kind of its operation.
    private struct PendingRequest: Sendable {
        var request: TransferRequest
        let kind: String?
    }

    private typealias Chosen = (index: Int, entry: LogEntry)

    private func choose(for pending: PendingRequest) throws(NetworkError) -> Chosen {
        do throws(NetworkError) {
            let body = pending.request.body?.data
            let logged = LogEntry.Request(pending.request, body: body)
            return try playback.take(MatchSubject(logged, data: body, kind: pending.kind, isRecorded: false, redactor))
        } catch {
            var error = error
            error.request = pending.request.head
            throw error
        }
    }

    /// Returns the entry that matches a request whose body may have to be read first. A body that can be read only once
    /// is stored in memory.
    private func choose(reading pending: inout PendingRequest) async throws(NetworkError) -> Chosen {
        guard let body = pending.request.body, body.data == nil else { return try choose(for: pending) }
        var whole = pending
        whole.request.body = HTTPBody(try await body.collect())
        if !body.isReplayable { pending = whole }
        return try choose(for: whole)
    }

    private func response(
        _ pending: PendingRequest,
        _ early: Result<Chosen, NetworkError>?
    ) async throws(NetworkError) -> TransferResponse {
        if Task.isCancelled { throw .cancelled(during: .queue) }
        switch mode {
        case .offline: return try await replay(pending, early, else: nil)
        case .fallback(let base): return try await replay(pending, early, else: base)
        case .refresh(let base): return try await base.perform(pending.request)
        case .live(let base, let rules, let report):
            var pending = pending
            let shadow = await shadow(of: &pending, early, rules, report)
            do throws(NetworkError) {
                return shadow.comparing(try await base.perform(pending.request), pending.request.delivery)
            } catch {
                shadow.failed(error)
                throw error
            }
        }
    }

    /// Returns a response from the recording, following recorded redirects.
    ///
    /// - Parameter base: the transport for requests that the recording lacks.
    private func replay(
        _ first: PendingRequest,
        _ early: Result<Chosen, NetworkError>?,
        else base: (any HTTPTransport)?
    ) async throws(NetworkError) -> TransferResponse {
        var (pending, early, hops) = (first, early, [TransferMetrics.Hop]())
        while true {
            let chosen: Chosen
            do throws(NetworkError) {
                chosen = if let known = early { try known.get() } else { try await choose(reading: &pending) }
            } catch {
                guard let base, error.kind == .notInRecording else { throw error }
                return try await base.perform(pending.request)
            }
            early = nil
            var metrics = TransferMetrics(chosen.entry)
            (metrics.hops, metrics.redirects) = (hops, hops.count)
            do throws(NetworkError) {
                let delays = timing.delays(for: chosen.entry.timings, index: chosen.index)
                let timeouts = pending.request.options.timeouts
                let limit = [timeouts.firstByte, timeouts.total].compactMap(\.self).min()
                try await clock.wait(delays.head, limit: limit, during: .firstByte)
                let replayed = try ReplayResponse(chosen.entry)
                guard var next = try replayed.redirect(of: pending.request, after: hops.count) else {
                    return try await deliver(replayed, to: pending.request, delays, metrics)
                }
                next.notifyRedirect(replayed.head, after: hops.count)
                hops.append(TransferMetrics.Hop(pending.request, replayed, metrics))
                pending.request = next
            } catch {
                var error = error
                error.request = error.request ?? pending.request.head
                error.resendPolicy = pending.request.resendPolicy
                error.metrics = error.metrics ?? metrics
                throw error
            }
        }
    }

    /// Returns the recorded response for a comparison, after following its redirects.
    private func shadow(
        of pending: inout PendingRequest,
        _ early: Result<Chosen, NetworkError>?,
        _ rules: ComparisonRules,
        _ report: @escaping @Sendable (Comparison) -> Void
    ) async -> ReplayShadow {
        var found: Result<LogEntry, NetworkError>
        do throws(NetworkError) {
            var entry = if let early { try early.get().entry } else { try await choose(reading: &pending).entry }
            var (hop, count) = (pending, 0)
            while let next = try ReplayResponse(entry).redirect(of: hop.request, after: count) {
                hop.request = next
                entry = try choose(for: hop).entry
                count += 1
            }
            found = .success(entry)
        } catch {
            found = .failure(error)
        }
        let url = redactor.redact(url: pending.request.head.urlText)
        return ReplayShadow(
            title: "\(pending.request.head.method.rawValue) \(url)",
            recorded: found,
            recording: recording,
            rules: rules,
            report: report
        )
    }

    private func deliver(
        _ replayed: ReplayResponse,
        to request: TransferRequest,
        _ delays: Timing.Delays,
        _ metrics: TransferMetrics
    ) async throws(NetworkError) -> TransferResponse {
        let left = request.options.timeouts.total.map { $0 - delays.head }
        let limits = (time: left, bytes: request.options.maxBodyBytes)
        let body = try ReplayBody(replayed, of: recording, delays, clock, limits: limits)
        let end = Lock<TransferResponse.End?>(nil)
        let told = Progress(
            request.onProgress,
            announced: replayed.head.headerFields[single: .contentLength].flatMap(Int64.init)
        )
        let stream = body.stream({ told.add($0) }) {
            told.end()
            end.withLock { $0 = TransferResponse.End(metrics: metrics, trailers: replayed.trailers) }
        }
        var delivered = HTTPBody()
        do throws(NetworkError) {
            switch request.delivery {
            case .stream: delivered = stream
            case .file(let path) where replayed.head.status.kind == .successful:
                try await FileSink(path: path, mayBlock: false).write(contentsOf: stream) { _ in }
            case .collect, .file:
                delivered = HTTPBody(try await stream.collect(upTo: .max))
            }
        } catch {
            var error = error
            error.response = replayed.head
            throw error
        }
        let isStream = request.delivery == .stream
        let lateEnd: @Sendable () -> TransferResponse.End? = { end.withLock { $0 } }
        return TransferResponse(
            head: replayed.head,
            body: delivered,
            url: request.head.urlText,
            interim: replayed.interim,
            trailers: isStream ? [:] : replayed.trailers,
            metrics: metrics,
            end: isStream ? lateEnd : nil
        )
    }
}

extension ReplayResponse {
    /// Returns the next request of a redirect; `nil` if the response isn't a redirect that is followed.
    fileprivate func redirect(of request: TransferRequest, after count: Int) throws(NetworkError) -> TransferRequest? {
        try Redirect.next(after: RawHead(head), to: request, followed: count)
    }
}

extension TransferMetrics.Hop {
    fileprivate init(_ request: TransferRequest, _ replayed: ReplayResponse, _ metrics: TransferMetrics) {
        self.init(
            method: request.head.method.rawValue,
            url: request.head.urlText,
            status: replayed.head.status.code,
            duration: metrics.total
        )
    }
}

/// A reporter of progress as bytes arrive.
private final class Progress: Sendable {
    private let tell: (@Sendable (TransferRequest.Progress) -> Void)?
    private let announced: Int64?
    private let received = Lock<Int64>(0)

    init(_ tell: (@Sendable (TransferRequest.Progress) -> Void)?, announced: Int64?) {
        self.tell = tell
        self.announced = announced
    }

    func add(_ count: Int) {
        guard let tell else { return }
        let received = received.withLock { received in
            received += Int64(count)
            return received
        }
        tell(.received(received, of: announced))
    }

    func end() {
        let received = received.withLock { $0 }
        tell?(.received(received, of: received))
    }
}

extension TransferRequest.Progress {
    fileprivate static func received(_ count: Int64, of total: Int64?) -> TransferRequest.Progress {
        TransferRequest.Progress(bytesSent: 0, bytesToSend: nil, bytesReceived: count, bytesToReceive: total)
    }
}

extension Recording {
    /// Creates the playback of the entries.
    func playback(
        of kind: EntryKind,
        _ rules: [ReplayTransport.MatchRule],
        _ repeats: ReplayTransport.Repeats,
        _ redactor: Redactor
    ) -> Playback {
        Playback(entries, kind, rules, repeats) { entry in
            MatchSubject(
                kind == .webSockets ? entry.request.openingWebSocket : entry.request,
                data: bytes(of: entry.request),
                kind: entry.kind,
                isRecorded: true,
                redactor
            )
        }
    }

    /// Checks that there are no unused entries.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` that names the first unused entries.
    func checkUse(unused: [LogEntry], _ redactor: Redactor) throws(NetworkError) {
        guard !unused.isEmpty else { return }
        let names = unused.prefix(5).map { "\($0.request.method) \(redactor.redact(url: $0.request.url))" }
        let more = unused.count - names.count
        throw NetworkError(
            .notInRecording,
            during: .response,
            "\(unused.count) of \(entries.count) recorded responses were not used: "
                + (names + (more > 0 ? ["\(more) more"] : [])).joined(separator: ", "),
            advice: "remove them from the recording, or record it again"
        )
    }

    /// Returns the original bytes of a request's body; `nil` if the request has no body, or if the bytes are unknown
    /// and therefore match any body.
    fileprivate func bytes(of request: LogEntry.Request) -> Data? {
        switch request.body?.content {
        case .data(let data)?: data
        case .file?: request.body.flatMap { try? data(of: $0) }
        case nil, .omitted?, .parameters?: nil
        }
    }
}

extension LogEntry.Request {
    /// Creates a logged request before secrets are removed.
    init(_ request: TransferRequest, body: Data?) {
        self.init(
            method: request.head.method.rawValue,
            url: request.head.urlText,
            fields: [LogEntry.Field](request.head.headerFields),
            body: body.map { LogEntry.Body(.data($0), mediaType: request.head.headerFields[.contentType] ?? "") }
        )
    }
}
