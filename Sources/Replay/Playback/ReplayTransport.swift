public import BeagleNet
import BeagleNetHTTP

/// Answers messages from a recording: the place of the network below a pipeline, so that retries, credentials, stores and
/// redirects above it work as they do over the network.
///
/// `ReplayClient` is a client over it; to replay below a pipeline of your own, hand it to a `NetworkClientDefault`:
/// `NetworkClientDefault(dependencies: dependencies, transport: ReplayTransport(recording))`.
///
/// An answer is what was recorded: its status, its fields but for those that tell how the body was coded, its body
/// decoded, or the failure. Redirects are followed by what is recorded of where they lead. Limits of the request's own
/// hold; what `TransferOptions` says of connections has no meaning here.
///
/// The same message asked several times gets the recorded answers in their order; who of several at the same time gets
/// which is nobody's to say, but together they get each once.
public final class ReplayTransport: HTTPTransport {
    /// What a `ReplayClient` says of the operation that is being performed.
    @TaskLocal static var kind: String?

    let recording: Recording
    private let playback: Playback
    let webSockets: Playback
    let mode: ReplayMode
    let rules: [MatchRule]
    let timing: ReplayTiming
    let redactor: Redactor
    let clock: any Clock<Duration>

    /// A transport that answers from a recording.
    ///
    /// - Parameters:
    ///   - recording: what was recorded; `Recording(contentsOf:)` reads a log or an archive.
    ///   - mode: who answers; the recording alone by default.
    ///   - matching: what two messages must have in common to be taken for the same.
    ///   - repeats: what is answered when a message is asked more often than it was recorded.
    ///   - timing: how long recorded answers take; no time by default.
    ///   - redactor: what takes secrets out of messages before they are compared: the one with which they were recorded.
    ///   - clock: what answers wait by.
    public init(
        _ recording: Recording,
        mode: ReplayMode = .offline,
        matching: [MatchRule] = .standard,
        repeats: ReplayRepeats = .sequenceThenLast,
        timing: ReplayTiming = .none,
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

    /// Entries that have answered nothing so far, in their order.
    public var unused: [LogEntry] {
        (playback.unusedPlaces + webSockets.unusedPlaces).sorted().map { recording.entries[$0] }
    }

    /// Checks that every entry has answered something.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` that names the first that have not.
    public func assertAllUsed() throws(NetworkError) {
        try recording.checkUse(unused: unused, redactor)
    }

    /// Starts an answer and returns at once. The entry is chosen before it returns, unless the body is a file or a stream,
    /// which has to be read first.
    @discardableResult
    public func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        let asked = Asked(request: request, kind: Self.kind)
        let isAtHand = request.body == nil || request.body?.data != nil
        let chosen = isAtHand && mode.asksRecording ? Result { () throws(NetworkError) in try choose(for: asked) } : nil
        return AnyRequestToken(
            Task {
                completion(
                    await Result.catching { () throws(NetworkError) in try await self.answer(asked, chosen) }
                )
            }
        )
    }
}

extension ReplayTransport: CookieTransport {
    /// What cookies did to recorded answers is in the recording.
    package var keepsCookies: Bool { mode.base.map { ($0 as? any CookieTransport)?.keepsCookies ?? true } ?? false }
}

extension ReplayTransport: OfflineTransport {
    /// Whether the recording alone answers.
    package var isOffline: Bool { mode.base == nil }
}

extension ReplayMode {
    /// Whether the recording has anything to do with answers.
    fileprivate var asksRecording: Bool {
        if case .refresh = self { return false }
        return true
    }
}

extension ReplayTransport {
    /// A message, and what a client says of it.
    private struct Asked: Sendable {
        var request: TransferRequest
        let kind: String?
    }

    private typealias Chosen = (index: Int, entry: LogEntry)

    private func choose(for asked: Asked) throws(NetworkError) -> Chosen {
        do throws(NetworkError) {
            let body = asked.request.body?.data
            let logged = LoggedRequest(asked.request, body: body)
            return try playback.take(MatchSubject(logged, data: body, kind: asked.kind, isRecorded: false, redactor))
        } catch {
            var error = error
            error.request = asked.request.head
            throw error
        }
    }

    /// The entry that answers a message whose body may still have to be read: what can be read but once is in memory
    /// afterwards.
    private func choose(reading asked: inout Asked) async throws(NetworkError) -> Chosen {
        guard let body = asked.request.body, body.data == nil else { return try choose(for: asked) }
        var whole = asked
        whole.request.body = HTTPBody(try await body.collect())
        if !body.isReplayable { asked = whole }
        return try choose(for: whole)
    }

    private func answer(
        _ asked: Asked,
        _ early: Result<Chosen, NetworkError>?
    ) async throws(NetworkError) -> TransferResponse {
        if Task.isCancelled { throw .replayCancelled }
        switch mode {
        case .offline: return try await replay(asked, early, else: nil)
        case .fallback(let base): return try await replay(asked, early, else: base)
        case .refresh(let base): return try await base.perform(asked.request)
        case .live(let base, let rules, let report):
            var asked = asked
            let shadow = await shadow(of: &asked, early, rules, report)
            do throws(NetworkError) {
                return shadow.watching(try await base.perform(asked.request), asked.request.delivery)
            } catch {
                shadow.failed(error)
                throw error
            }
        }
    }

    /// Answers by the recording, along recorded redirects.
    ///
    /// - Parameter base: who is asked for what the recording lacks.
    private func replay(
        _ first: Asked,
        _ early: Result<Chosen, NetworkError>?,
        else base: (any HTTPTransport)?
    ) async throws(NetworkError) -> TransferResponse {
        var (asked, early, hops) = (first, early, [TransferHop]())
        while true {
            let chosen: Chosen
            do throws(NetworkError) {
                chosen = if let known = early { try known.get() } else { try await choose(reading: &asked) }
            } catch {
                guard let base, error.kind == .notInRecording else { throw error }
                return try await base.perform(asked.request)
            }
            early = nil
            var metrics = TransferMetrics(chosen.entry)
            (metrics.hops, metrics.redirects) = (hops, hops.count)
            do throws(NetworkError) {
                let waits = timing.waits(for: chosen.entry.timings, index: chosen.index)
                let timeouts = asked.request.options.timeouts
                let limit = [timeouts.firstByte, timeouts.total].compactMap(\.self).min()
                try await clock.pass(waits.head, limit: limit, during: .firstByte)
                let answer = try ReplayAnswer(chosen.entry)
                guard var next = try answer.redirect(of: asked.request, after: hops.count) else {
                    return try await deliver(answer, to: asked.request, waits, metrics)
                }
                next.tellRedirect(answer.head, after: hops.count)
                hops.append(TransferHop(asked.request, answer, metrics))
                asked.request = next
            } catch {
                var error = error
                error.request = error.request ?? asked.request.head
                error.repetition = asked.request.repetition
                error.metrics = error.metrics ?? metrics
                throw error
            }
        }
    }

    /// What the recording has for a message, at the end of its redirects, to be compared.
    private func shadow(
        of asked: inout Asked,
        _ early: Result<Chosen, NetworkError>?,
        _ rules: ComparisonRules,
        _ report: @escaping @Sendable (ReplayComparison) -> Void
    ) async -> ReplayShadow {
        var found: Result<LogEntry, NetworkError>
        do throws(NetworkError) {
            var entry = if let early { try early.get().entry } else { try await choose(reading: &asked).entry }
            var (hop, count) = (asked, 0)
            while let next = try ReplayAnswer(entry).redirect(of: hop.request, after: count) {
                hop.request = next
                entry = try choose(for: hop).entry
                count += 1
            }
            found = .success(entry)
        } catch {
            found = .failure(error)
        }
        let url = redactor.redact(url: asked.request.head.urlText)
        return ReplayShadow(
            title: "\(asked.request.head.method.rawValue) \(url)",
            recorded: found,
            recording: recording,
            rules: rules,
            report: report
        )
    }

    private func deliver(
        _ answer: ReplayAnswer,
        to request: TransferRequest,
        _ waits: ReplayTiming.Waits,
        _ metrics: TransferMetrics
    ) async throws(NetworkError) -> TransferResponse {
        let left = request.options.timeouts.total.map { $0 - waits.head }
        let limits = (time: left, bytes: request.options.maxBodyBytes)
        let body = try ReplayBody(answer, of: recording, waits, clock, limits: limits)
        let end = Lock<TransferEnd?>(nil)
        let told = Progress(
            request.onProgress,
            announced: answer.head.headerFields[single: .contentLength].flatMap(Int64.init)
        )
        let stream = body.stream({ told.add($0) }) {
            told.end()
            end.withLock { $0 = TransferEnd(metrics: metrics, trailers: answer.trailers) }
        }
        var delivered = HTTPBody()
        do throws(NetworkError) {
            switch request.delivery {
            case .stream: delivered = stream
            case .file(let path) where answer.head.status.kind == .successful:
                try await FileSink(path: path, mayWait: false).write(contentsOf: stream) { _ in }
            case .collect, .file:
                delivered = HTTPBody(try await stream.collect(upTo: .max))
            }
        } catch {
            var error = error
            error.response = answer.head
            throw error
        }
        let isStream = request.delivery == .stream
        let lateEnd: @Sendable () -> TransferEnd? = { end.withLock { $0 } }
        return TransferResponse(
            head: answer.head,
            body: delivered,
            url: request.head.urlText,
            interim: answer.interim,
            trailers: isStream ? [:] : answer.trailers,
            metrics: metrics,
            end: isStream ? lateEnd : nil
        )
    }
}

extension ReplayAnswer {
    /// The message that this answer to a message leads to; nil where it is no redirect that is followed.
    fileprivate func redirect(of request: TransferRequest, after count: Int) throws(NetworkError) -> TransferRequest? {
        try Redirect.next(after: RawHead(head), to: request, followed: count)
    }
}

extension TransferHop {
    fileprivate init(_ request: TransferRequest, _ answer: ReplayAnswer, _ metrics: TransferMetrics) {
        self.init(
            method: request.head.method.rawValue,
            url: request.head.urlText,
            status: answer.head.status.code,
            duration: metrics.total
        )
    }
}

/// Tells of bytes as they come.
private final class Progress: Sendable {
    private let tell: (@Sendable (TransferProgress) -> Void)?
    private let announced: Int64?
    private let received = Lock<Int64>(0)

    init(_ tell: (@Sendable (TransferProgress) -> Void)?, announced: Int64?) {
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

extension TransferProgress {
    fileprivate static func received(_ count: Int64, of total: Int64?) -> TransferProgress {
        TransferProgress(bytesSent: 0, bytesToSend: nil, bytesReceived: count, bytesToReceive: total)
    }
}

extension Recording {
    /// The entries by what they answer.
    func playback(
        of kind: PlayedKind,
        _ rules: [MatchRule],
        _ repeats: ReplayRepeats,
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

    /// - Throws: `NetworkError` of kind `.notInRecording` that names the first entries without use.
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

    /// The bytes of a request's body as they were sent; nil where there are none, or nobody knows: then any are the same.
    fileprivate func bytes(of request: LoggedRequest) -> Data? {
        switch request.body?.content {
        case .data(let data)?: data
        case .file?: request.body.flatMap { try? data(of: $0) }
        case nil, .omitted?, .parameters?: nil
        }
    }
}

extension LoggedRequest {
    /// A message as it is asked, before secrets are taken out.
    init(_ request: TransferRequest, body: Data?) {
        self.init(
            method: request.head.method.rawValue,
            url: request.head.urlText,
            fields: [LoggedField](request.head.headerFields),
            body: body.map { LoggedBody(.data($0), mediaType: request.head.headerFields[.contentType] ?? "") }
        )
    }
}

extension NetworkError {
    fileprivate static let replayCancelled = NetworkError(.cancelled, during: .queue, "the request was cancelled")
}
