import BeagleNetHTTP
import CBeagleNetCurl
import Synchronization

/// One request from start to end, over as many hops as redirects make it. It is the token that its caller holds.
///
/// `@unchecked Sendable` is sound because everything but `state`, `loop` and `started` is reached only on the loop's
/// thread, to which the transfer is handed through the loop's inbox. Before that only its maker has it, and one that
/// the loop refused is ended by the only task that has it; its token reaches no more than `state` and `loop`. The
/// outcome is written before `state` says that there is one, and read after, by the task that waited for it.
final class Transfer: RequestToken, @unchecked Sendable {
    typealias Outcome = Result<TransferResponse, NetworkError>

    /// Who waits for the outcome.
    enum Completion {
        /// Called on the loop's thread.
        case callback(@Sendable (Outcome) -> Void)
        /// Resumed at the end of the loop's turn, to take the outcome itself: a turn's tasks are woken together.
        case continuation(UnsafeContinuation<Void, Never>)
    }

    private enum State {
        static let cancelled: UInt8 = 1
        static let started: UInt8 = 2
        /// There is an outcome; a body that is read goes on.
        static let answered: UInt8 = 4
    }

    let loop: EventLoop
    /// When the caller asked.
    let started: UInt64
    private let state = Atomic<UInt8>(0)

    private(set) var request: TransferRequest
    private(set) var hop: Hop?
    private(set) var redirects = 0
    private var resends = 0
    /// Whether the server may have acted on a message of this transfer.
    private var hasReachedServer = false
    private var pipe: BodyPipe?
    /// What a streamed response reads when its body has ended. Not of the pipe, which would stay with the response.
    private var metricsAtEnd: Lock<TransferMetrics?>?
    private var completion: Completion?
    private var outcome = Outcome.failure(.noOutcome)
    private let entry: Ledger.Entry
    /// Place among the loop's active transfers; nil before it is one of them.
    var index: Int?
    /// Whether the loop is about to report progress.
    var isProgressDue = false

    init(_ request: TransferRequest, on loop: EventLoop) {
        self.request = request
        self.loop = loop
        entry = Ledger.Entry(.transfer, in: loop.ledger)
        started = EventLoop.clock()
    }

    /// Hands the transfer to its loop; called once.
    func start(_ completion: Completion) {
        self.completion = completion
        state.bitwiseOr(State.started, ordering: .acquiringAndReleasing)
        loop.post(.start(self))
    }

    /// The outcome, for the task whose continuation was resumed.
    func takeOutcome() -> Outcome {
        guard state.load(ordering: .acquiring) & State.answered != 0 else { return .failure(.noOutcome) }
        defer { outcome = .failure(.noOutcome) }
        return outcome
    }

    // MARK: any thread

    func cancel() {
        let before = state.bitwiseOr(State.cancelled, ordering: .acquiringAndReleasing).oldValue
        // One that is cancelled before it starts is ended when it does.
        if before & (State.started | State.cancelled) == State.started { loop.post(.cancel(self)) }
    }

    func resume() {
        loop.post(.resume(self))
    }

    // MARK: the loop's thread

    var wasCancelled: Bool { state.load(ordering: .acquiring) & State.cancelled != 0 }
    /// Whether a message that a dead connection swallowed may go out once more.
    var mayResend: Bool { resends == 0 }

    /// Makes the hop that is to go out next.
    func prepare(freshly: Bool = false) throws(NetworkError) -> Hop {
        try MessageCheck.check(request)
        let hop = try Hop(of: self, on: loop, freshly: freshly)
        self.hop = hop
        return hop
    }

    func makePipe() -> BodyPipe {
        BodyPipe(
            ledger: loop.ledger,
            resume: { [weak self] in self?.resume() },
            cancel: { [weak self] in self?.cancel() }
        )
    }

    func deliverHead(_ response: RawHead, from hop: Hop, body pipe: BodyPipe) {
        self.pipe = pipe
        let reader = BodyPipeReader(pipe)
        let length = response.isEncoded ? nil : hop.announcedLength
        let body = HTTPBody(
            .stream(length: length, isReplayable: false) { { try await reader.next() } }
        )
        let metricsAtEnd = Lock<TransferMetrics?>(nil)
        self.metricsAtEnd = metricsAtEnd
        complete(.success(answer(response, body: body, from: hop) { metricsAtEnd.withLock { $0 } }))
    }

    // MARK: deadlines

    /// When the transfer runs out of time if nothing happens; nil where it may go on for ever.
    func deadline(at now: UInt64) -> UInt64? {
        let overall = request.options.timeouts.total.map { started.advanced(by: $0) }
        let ofHop = hop?.deadline ?? hop?.earliestDeadline(at: now)
        guard let overall, let ofHop else { return overall ?? ofHop }
        return min(overall, ofHop)
    }

    /// The error for a deadline that has passed.
    func timeout(at now: UInt64) -> NetworkError {
        let timeouts = request.options.timeouts
        let phase = hop?.phase ?? .queue
        let what: String
        let limit: (name: String, duration: Duration?)
        if let total = timeouts.total, started.advanced(by: total) <= now {
            (what, limit) = ("the whole transfer took longer than", ("total", total))
        } else if phase == .body {
            (what, limit) = ("nothing more of the body came for", ("idle", timeouts.idle))
        } else {
            (what, limit) = ("the response head did not come within", ("firstByte", timeouts.firstByte))
        }
        var error = NetworkError(
            .timeout,
            during: phase,
            "\(what) \(limit.duration ?? .zero)",
            advice: "raise Timeouts.\(limit.name), or look at the server"
        )
        error.transportCode = 28
        return error
    }

    func reportProgress() {
        isProgressDue = false
        if let hop { request.onProgress?(hop.progress) }
    }

    /// The hop left the multi: what follows. Gives the next hop, if there is one.
    func conclude(_ hop: Hop, _ code: CURLcode) -> Hop? {
        note(hop)
        do throws(NetworkError) {
            if hop.isStale || hop.isSentAway || shouldResend(hop, code) { return try resend(after: hop) }
            if let failure = hop.failure, !hop.isCutShort { throw failure }
            guard code == CURLE_OK || hop.isCutShort else {
                throw CurlFailure.error(code, hop.errorText, during: hop.phase, trusting: request.options.trust)
            }
            let body = try hop.finish()
            switch hop.route {
            case .final: finish(hop, body)
            case .redirect(let next): return try follow(next)
            case .resend: return try resend(after: hop)
            }
        } catch {
            fail(error)
        }
        return nil
    }

    /// What a hop leaves behind when it is over.
    private func note(_ hop: Hop) {
        if hop.sends > 0 && !hop.isStale { hasReachedServer = true }
        if isProgressDue { reportProgress() }
    }

    /// An HTTP/2 connection that went away before it took the request (GOAWAY, REFUSED_STREAM): libcurl 7.88 gives up.
    private func shouldResend(_ hop: Hop, _ code: CURLcode) -> Bool {
        (code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM) && hop.response == nil && hop.failure == nil
            && hop.sends == 1 && request.mayBeSentTwice && mayResend
    }

    private func resend(after hop: Hop) throws(NetworkError) -> Hop {
        resends += max(1, hop.sends - 1)
        return try prepare(freshly: true)
    }

    private func follow(_ next: TransferRequest) throws(NetworkError) -> Hop {
        redirects += 1
        request = next
        return try prepare()
    }

    private func finish(_ hop: Hop, _ body: Data) {
        if let pipe {
            let metrics = metrics(of: hop)
            metricsAtEnd?.withLock { $0 = metrics }
            pipe.end(.success(()))
            self.pipe = nil
        } else if let response = hop.response {
            complete(.success(answer(response, body: HTTPBody(body), from: hop)))
        }
        release()
    }

    /// Ends the transfer with an error: given to the completion, or to the reader of a body already handed over.
    func fail(_ error: NetworkError) {
        var error = error
        error.request = request.head
        if let hop {
            error.response = hop.response?.head
            error.metrics = metrics(of: hop)
            note(hop)
            let partial = hop.abandon()
            if !partial.isEmpty { error.data = partial }
        }
        error.mayHaveReachedServer = hasReachedServer
        if let pipe {
            let metrics = error.metrics
            metricsAtEnd?.withLock { $0 = metrics }
            pipe.end(.failure(error))
            self.pipe = nil
        }
        complete(.failure(error))
        release()
    }

    /// Ends a transfer that the loop does not take any more; called by the only one that has it.
    func refuse(_ error: NetworkError) {
        let waiting = completion
        completion = nil
        var error = error
        error.request = request.head
        release()
        switch waiting {
        case .callback(let call): call(.failure(error))
        case .continuation(let continuation):
            keep(.failure(error))
            continuation.resume()
        case nil: break
        }
    }

    private func complete(_ outcome: Outcome) {
        let waiting = completion
        completion = nil
        switch waiting {
        case .callback(let call): call(outcome)
        case .continuation(let continuation):
            keep(outcome)
            loop.resumeSoon(continuation)
        case nil: break
        }
    }

    private func keep(_ outcome: Outcome) {
        self.outcome = outcome
        state.bitwiseOr(State.answered, ordering: .releasing)
    }

    /// Lets go of what a token that is still held should not keep alive.
    private func release() {
        hop = nil
        request.body = nil
        request.onProgress = nil
    }

    private func answer(
        _ response: RawHead,
        body: HTTPBody,
        from hop: Hop,
        metricsAtEnd: (@Sendable () -> TransferMetrics?)? = nil
    ) -> TransferResponse {
        TransferResponse(
            response,
            body: body,
            url: request.head.urlText,
            interim: hop.interim,
            metrics: metrics(of: hop),
            metricsAtEnd: metricsAtEnd
        )
    }

    private func metrics(of hop: Hop) -> TransferMetrics {
        var metrics = TransferMetrics()
        let easy = hop.easy.pointer
        func mark(_ info: CURLINFO) -> Duration {
            var microseconds: curl_off_t = 0
            beagle_easy_get_offset(easy, info, &microseconds)
            return .microseconds(Int64(microseconds))
        }
        metrics.isConnectionReused = hop.sends > 0 && hop.easy.long(CURLINFO_NUM_CONNECTS) == 0
        metrics.nameLookup = mark(CURLINFO_NAMELOOKUP_TIME_T)
        if !metrics.isConnectionReused {
            metrics.connect = mark(CURLINFO_CONNECT_TIME_T)
            metrics.tlsHandshake = mark(CURLINFO_APPCONNECT_TIME_T)
        }
        metrics.requestStart = mark(CURLINFO_PRETRANSFER_TIME_T)
        metrics.firstByte = mark(CURLINFO_STARTTRANSFER_TIME_T)
        // Inside of a callback libcurl's total is that of before.
        metrics.total = max(mark(CURLINFO_TOTAL_TIME_T), metrics.firstByte)
        metrics.bytesSent = hop.bytesSent
        metrics.bytesReceived = hop.bytesReceived
        metrics.decodedBytes = hop.decodedBytes
        metrics.protocolName = protocolName(hop.easy.long(CURLINFO_HTTP_VERSION))
        metrics.remoteAddress = remoteAddress(of: hop)
        metrics.redirects = redirects
        metrics.resends = resends + max(0, hop.sends - 1)
        return metrics
    }

    private func protocolName(_ version: Int) -> String {
        switch version {
        case Int(CURL_HTTP_VERSION_1_0): "HTTP/1.0"
        case Int(CURL_HTTP_VERSION_1_1): "HTTP/1.1"
        case Int(CURL_HTTP_VERSION_2_0): "HTTP/2"
        case Int(CURL_HTTP_VERSION_3): "HTTP/3"
        default: ""
        }
    }

    private func remoteAddress(of hop: Hop) -> String {
        guard let address = hop.easy.string(CURLINFO_PRIMARY_IP), !address.isEmpty else { return "" }
        let port = hop.easy.long(CURLINFO_PRIMARY_PORT)
        return address.utf8.contains(UInt8(ascii: ":"))
            ? "[" + address + "]:" + String(port) : address + ":" + String(port)
    }
}

extension NetworkError {
    /// Stands where an outcome is not there yet, or was taken.
    fileprivate static let noOutcome = NetworkError(.other, during: .queue, "the transfer has no outcome")
}
