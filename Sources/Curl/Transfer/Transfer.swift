import BeagleNetHTTP
import CBeagleNetCurl
import Synchronization

/// One request from start to end, including all redirect hops. The caller holds it as its request token.
///
/// `@exclusivity(unchecked)` is safe because these properties are read and set as a whole, or changed by code that
/// calls nothing else.
///
/// `@unchecked Sendable` is sound because everything but the constant `loop` and the atomic `state` is accessed only on
/// the loop's thread, which receives the transfer through the loop's inbox. Before that only its creator has it. If the
/// loop rejects it, the one task that has it ends it. The token's methods, `raise(to:)` among them, access only `state`
/// and `loop`. The outcome is written before `state` announces it, and read afterwards by the task that waited for it.
final class Transfer: RequestToken, @unchecked Sendable {
    typealias Outcome = Result<TransferResponse, NetworkError>

    /// The receiver of the outcome.
    enum Completion {
        /// A closure to call on the loop's thread.
        case callback(@Sendable (Outcome) -> Void)
        /// A task that is resumed at the end of the loop's turn and takes the outcome itself. All tasks of a turn are
        /// resumed together.
        case task(WaitingTask)
    }

    /// The next step after a hop.
    enum Next {
        case end
        /// Send a request to the same origin: the same one, perhaps on a new connection, or another.
        case sameOrigin(freshly: Bool)
        /// Send a request to another origin.
        case otherOrigin
    }

    private enum State {
        static let cancelled: UInt8 = 1
        static let started: UInt8 = 2
        /// The outcome is available; a streamed body may continue.
        static let completed: UInt8 = 4
    }

    let loop: EventLoop
    /// The time of the caller's request.
    var started: UInt64 { queueTime.started }
    /// The time that the transfer spends waiting.
    @exclusivity(unchecked) var queueTime: QueueTime
    private let state = Atomic<UInt8>(0)

    @exclusivity(unchecked) private(set) var message: Message
    var request: TransferRequest { message.request }
    /// The WebSocket that the connection becomes; `nil` for other requests.
    let webSocket: WebSocketLink?
    @exclusivity(unchecked) private(set) var hop: Hop?
    /// The place at its origin; `nil` before the transfer starts, and after it has given up its place.
    @exclusivity(unchecked) var slot: TransferScheduler<Transfer>.Slot?
    private(set) var redirects = 0
    /// The challenge of the server's 401 response.
    private(set) var digest: DigestSession?
    /// The hops before the current one.
    @exclusivity(unchecked) private var hops: [TransferMetrics.Hop] = []
    private var resends = 0
    /// Whether to connect to the origin itself because an alternative service failed.
    private var staysAtOrigin = false
    /// Whether the server may have processed a request of this transfer.
    private var hasReachedServer = false
    /// The body that the response streams; `nil` for other responses, and after its end.
    @exclusivity(unchecked) private var streamed: StreamedBody?
    @exclusivity(unchecked) private var completion: Completion?
    @exclusivity(unchecked) private var outcome: Outcome?
    private let entry: ResourceTracker.Entry
    /// The index among the loop's active transfers; `nil` before the transfer is active.
    @exclusivity(unchecked) var index: Int?
    /// Whether the loop is about to report progress.
    var isProgressDue = false
    /// Whether the transfer has been recorded as long-lived.
    var isKnownLongLived = false

    init(_ request: TransferRequest, on loop: EventLoop, as webSocket: WebSocketLink? = nil) {
        message = Message(request)
        self.loop = loop
        self.webSocket = webSocket
        entry = ResourceTracker.Entry(.transfer, in: loop.resourceTracker)
        queueTime = QueueTime(started: EventLoop.clock())
    }

    /// Passes the transfer to its loop. Call it once.
    func start(_ completion: Completion) {
        self.completion = completion
        state.bitwiseOr(State.started, ordering: .acquiringAndReleasing)
        loop.post(.start(self))
    }

    /// Returns the outcome to the task whose continuation was resumed.
    func takeOutcome() -> Outcome {
        guard state.load(ordering: .acquiring) & State.completed != 0, let outcome else { return .failure(.noOutcome) }
        self.outcome = nil
        return outcome
    }

    @inline(never) func takeResponse() throws(NetworkError) -> TransferResponse {
        try takeOutcome().get()
    }

    // MARK: any thread

    func cancel() {
        let before = state.bitwiseOr(State.cancelled, ordering: .acquiringAndReleasing).oldValue
        // A transfer that is cancelled before it starts ends when it starts.
        if before & (State.started | State.cancelled) == State.started { loop.post(.cancel(self)) }
    }

    func resume() {
        loop.post(.resume(self))
    }

    func raise(to priority: Priority) {
        loop.post(.raise(self, priority))
    }

    // MARK: the loop's thread

    /// The current phase of the transfer.
    var phase: NetworkError.Phase {
        webSocket?.isOpen == true ? .body : hop?.phase ?? .queue
    }

    var wasCancelled: Bool { state.load(ordering: .acquiring) & State.cancelled != 0 }
    /// Whether a request that was lost with a dead connection may be resent.
    var mayResend: Bool { resends == 0 }
    /// Returns whether the request was sent this long ago and the end of its response can't be foreseen: it hasn't
    /// begun, or its length is unknown.
    func isOpenEnded(after duration: Duration, at now: UInt64) -> Bool {
        guard let hop, hop.phase == .firstByte || hop.phase == .body else { return false }
        return hop.receiver.announcedLength == nil && hop.timing.lastSent.advanced(by: duration) <= now
    }

    /// Creates the next hop.
    func prepare(freshly: Bool = false) throws(NetworkError) -> Hop {
        if let memory = loop.memory, memory.upgrades(request.head) { message = message.changed { $0.head.upgrade() } }
        queueTime.begin(at: loop.now)
        let message = message
        let origin = try loop.parsedOrigins.origin(of: message)
        let extras = message.request.options.extras
        try MessageCheck.checkRest(of: message, extras === loop.checkedExtras ? nil : extras)
        if let extras, OptionsCheck.isLasting(extras) { loop.checkedExtras = extras }
        let mayLeave = !staysAtOrigin && webSocket == nil
        let alternative = mayLeave ? loop.memory?.alternative(for: message.request) : nil
        let hop = try Hop(of: self, to: origin, on: loop, via: alternative, freshly: freshly)
        self.hop = hop
        return hop
    }

    /// Waits because there is no room for its next request.
    func wait(since now: UInt64) {
        hop = nil
        queueTime.wait(since: now)
    }

    /// Raises the priority.
    ///
    /// - Returns: The error with which the hop ended in the meantime.
    func raisePriority(to priority: Priority) -> NetworkError? {
        message = message.changed { $0.options.priority = priority }
        return hop?.updateReceiveRate()
    }

    /// Begins with the priority of a control, which may raise it later.
    func attach(to control: Priority.Control) {
        let priority = control.attach(self)
        if priority != request.options.priority { message = message.changed { $0.options.priority = priority } }
    }

    func makePipe() -> BodyPipe {
        BodyPipe(
            in: loop.bufferBudget,
            resourceTracker: loop.resourceTracker,
            resume: { [weak self] in self?.resume() },
            cancel: { [weak self] in self?.cancel() }
        )
    }

    func deliverHead(_ response: RawHead, from hop: Hop, body pipe: BodyPipe) {
        let reader = BodyPipeReader(pipe)
        let length = response.isEncoded ? nil : hop.receiver.announcedLength
        let body = HTTPBody(
            .stream(length: length, isReplayable: false) { { try await reader.next() } }
        )
        let streamed = StreamedBody(pipe)
        self.streamed = streamed
        complete(.success(makeResponse(response, body: body, from: hop, end: streamed.response)))
    }

    /// Completes the opening of a WebSocket, to which the server has agreed.
    func open(_ response: RawHead) {
        guard let hop else { return }
        loop.memory?.take(response, to: request)
        complete(.success(makeResponse(response, body: HTTPBody(), from: hop)))
    }

    // MARK: deadlines

    /// Returns the time at which the transfer times out if nothing happens; `nil` if there is no limit.
    func deadline(at now: UInt64) -> UInt64? {
        if let webSocket, webSocket.isOpen { return webSocket.deadline }
        let message = message
        let overall = message.request.options.timeouts.total.map { started.advanced(by: $0) }
        let ofHop = hop?.deadline ?? hop?.earliestDeadline(at: now)
        guard let overall, let ofHop else { return overall ?? ofHop }
        return min(overall, ofHop)
    }

    /// Returns the error for a deadline that has passed.
    func timeout(at now: UInt64) -> NetworkError {
        if let webSocket, webSocket.isOpen { return webSocket.timeout }
        let timeouts = request.options.timeouts
        if let total = timeouts.total, started.advanced(by: total) <= now {
            return .timeout(
                during: hop?.phase ?? .queue,
                "the whole transfer took longer than \(total)",
                "Timeouts.total"
            )
        }
        return hop?.timeout(at: now)
            ?? .timeout(during: .queue, "the transfer was not started in time", "Timeouts.total")
    }

    func reportProgress() {
        guard isProgressDue else { return }
        isProgressDue = false
        if let hop { request.onProgress?(hop.progress) }
    }

    /// Processes a hop that has left the multi handle and returns the next step.
    func conclude(_ hop: Hop, _ code: CURLcode) -> Next {
        note(hop)
        let isLost = shouldResend(hop, code)
        if code != CURLE_OK, !isLost, fallBackToOrigin(at: loop.now, after: code) { return .sameOrigin(freshly: false) }
        do throws(NetworkError) {
            switch isLost ? .resend : hop.route {
            case .final:
                if let failure = hop.failure { throw failure }
                guard code == CURLE_OK || hop.hasEarlyResponse(code) else { throw hop.error(code) }
                finish(hop, try hop.finish(), try hop.receiver.trailers())
            case .redirect(let next): return follow(next, after: hop)
            case .challenged(let digest):
                remember(hop, before: request)
                self.digest = digest
                return .sameOrigin(freshly: false)
            case .misdirected:
                remember(hop, before: request)
                staysAtOrigin = true
                return .sameOrigin(freshly: false)
            case .resend:
                resends += max(1, hop.attempts.count - 1)
                return .sameOrigin(freshly: true)
            case .withoutExpect:
                // RFC 9110, 10.1.1
                resends += 1
                message = message.changed { $0.options.expect = .never }
                return .sameOrigin(freshly: false)
            }
        } catch {
            fail(error)
        }
        return .end
    }

    /// Records the effects of a finished hop.
    private func note(_ hop: Hop) {
        if hop.attempts.count > 0 { hasReachedServer = true }
        reportProgress()
    }

    /// Switches to the origin if the alternative service received nothing, or was lost with a request that may be sent
    /// twice, and there is time left. Returns false otherwise.
    ///
    /// - Parameter code: The code of libcurl; `nil` if it hasn't returned one.
    func fallBackToOrigin(at now: UInt64, after code: CURLcode? = nil) -> Bool {
        guard let hop, hop.shouldFallBackToOrigin(after: code) else { return false }
        if let total = request.options.timeouts.total, started.advanced(by: total) <= now { return false }
        markAlternativeBroken(of: hop)
        resends += hop.attempts.count
        staysAtOrigin = true
        return true
    }

    /// Marks the alternative service as broken for a while, so that the next requests go to the origin.
    private func markAlternativeBroken(of hop: Hop) {
        if let alternative = hop.alternative { loop.memory?.altSvc?.markBroken(alternative) }
    }

    /// Returns whether the connection was lost before it took the request, or the server said that it didn't process it
    /// (GOAWAY, REFUSED_STREAM, H3_REQUEST_REJECTED). libcurl 7.88 doesn't retry these over HTTP/2, and no version does
    /// over HTTP/3. libcurl doesn't report the reason for which a stream ended, so only requests that may be sent twice
    /// are resent.
    private func shouldResend(_ hop: Hop, _ code: CURLcode) -> Bool {
        guard code != CURLE_OK, hop.receiver.response == nil, hop.failure == nil, hop.attempts.count == 1, mayResend
        else {
            return false
        }
        let isLost =
            switch code {
            case CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3: true
            // Only for a reused connection, which has responded before.
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR: hop.connection?.speaksHTTP3 == true
            default: false
            }
        return isLost && request.canBeResent
    }

    private func follow(_ next: TransferRequest, after hop: Hop) -> Next {
        var next = next
        if let response = hop.receiver.response { next.notifyRedirect(response.head, after: redirects) }
        remember(hop, before: next)
        redirects += 1
        staysAtOrigin = false
        // The priority may have been raised in the meantime.
        next.options.priority = max(next.options.priority, request.options.priority)
        message = Message(next)
        let isSameOrigin = slot?.isAt(scheme: next.head.scheme, authority: next.head.authority) == true
        return isSameOrigin ? .sameOrigin(freshly: false) : .otherOrigin
    }

    private func remember(_ hop: Hop, before next: TransferRequest) {
        if let observe = request.onHop, let response = hop.receiver.response {
            observe(response.head, metrics(of: hop), next)
        }
        hops.append(
            TransferMetrics.Hop(
                method: request.head.method.rawValue,
                url: message.urlText,
                status: hop.receiver.response?.status.code ?? 0,
                duration: .microseconds(hop.easy.offset(CURLINFO_TOTAL_TIME_T))
            )
        )
    }

    private func finish(_ hop: Hop, _ body: Data, _ trailers: HTTPFields) {
        if let streamed = streamed.take() {
            streamed.end(.success(()), TransferResponse.End(metrics: metrics(of: hop), trailers: trailers))
        } else if let response = hop.receiver.response {
            complete(.success(makeResponse(response, body: HTTPBody(body), from: hop, trailers: trailers)))
        }
        release()
    }

    /// Ends the transfer with an error, which is passed to the completion, or to the reader if the body is already
    /// being streamed.
    func fail(_ error: NetworkError) {
        var error = error
        error.request = webSocket?.request.head ?? request.head
        error.resendPolicy = request.resendPolicy
        if let hop {
            if let response = hop.receiver.response {
                error.response = response.head
            } else if error.isTransient || error.kind == .tls || error.kind == .protocol {
                markAlternativeBroken(of: hop)
            }
            error.metrics = metrics(of: hop)
            note(hop)
            let partial = hop.receiver.abandon()
            if !partial.isEmpty { error.data = partial }
        } else if queueTime.isWaiting {
            queueTime.stopWaiting(at: loop.now)
            var metrics = TransferMetrics()
            metrics.queued = queueTime.queued(at: loop.now)
            error.metrics = metrics
        }
        error.mayHaveReachedServer = hasReachedServer
        streamed.take()?.end(.failure(error), error.metrics.map { TransferResponse.End(metrics: $0) })
        webSocket?.pipe.end(.failure(error))
        complete(.failure(error))
        release()
    }

    /// Ends a transfer that the loop no longer accepts. Only the one task that has the transfer calls it.
    func reject(_ error: NetworkError) {
        let waiting = completion.take()
        var error = error
        error.request = request.head
        release()
        switch waiting {
        case .callback(let call): call(.failure(error))
        case .task(let task):
            keep(.failure(error))
            task.continuation.resume()
        case nil: break
        }
    }

    private func complete(_ outcome: Outcome) {
        let waiting = completion.take()
        switch waiting {
        case .callback(let call):
            call(outcome)
            loop.notePossibleDelay()
        case .task(let task):
            keep(outcome)
            loop.tasks.add(task)
        case nil: break
        }
    }

    private func keep(_ outcome: Outcome) {
        self.outcome = outcome
        state.bitwiseOr(State.completed, ordering: .releasing)
    }

    /// Releases everything that a token should not keep alive.
    private func release() {
        hop = nil
        guard request.body != nil || request.observers != nil else { return }
        message = message.changed { request in
            request.body = nil
            request.observers = nil
        }
    }

    private func makeResponse(
        _ response: RawHead,
        body: HTTPBody,
        from hop: Hop,
        trailers: HTTPFields = [:],
        end: (@Sendable () -> TransferResponse.End?)? = nil
    ) -> TransferResponse {
        TransferResponse(
            response,
            body: body,
            url: message.urlText,
            interim: hop.receiver.interim,
            trailers: trailers,
            metrics: metrics(of: hop),
            end: end
        )
    }

    private func metrics(of hop: Hop) -> TransferMetrics {
        var metrics = TransferMetrics()
        hop.setMetrics(&metrics)
        metrics.queued = queueTime.queued(at: loop.now)
        metrics.redirects = redirects
        metrics.hops = hops
        metrics.resends += resends
        return metrics
    }
}

extension NetworkError {
    /// The error for an outcome that isn't available yet or was already taken.
    fileprivate static let noOutcome = NetworkError(.other, during: .queue, "the transfer has no result")
}
