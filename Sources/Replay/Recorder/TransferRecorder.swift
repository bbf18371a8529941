import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A recorder of one transfer, with an entry for each of its requests.
final class TransferRecorder: Sendable {
    /// The information about a transfer that its requests don't contain.
    struct Context: Sendable {
        var redactor = Redactor()
        var kind: String?
        var operationName: String?
        var attempt = 1
        /// The operation's run; `nil` for a transfer outside of an operation.
        var run: OperationRun?
        /// The reason for which a cache passed the operation on; `nil` without a cache.
        var cacheStatus: CacheStatus?
        /// The entry that led to this transfer.
        var parent: String?
    }

    private struct State: Sendable {
        /// The current request; `nil` before the first one.
        var sent: RequestDraft?
        /// The bytes of the streamed request body that were read.
        var uploaded: Int64 = 0
        var hasEnded = false
        var events = EventSplitter()
        /// The response to a handshake.
        var opened: ReceivedMessage?
    }

    let log: RequestLog
    let session: LogSession
    let context: Context
    private let state = InlineLock(State())

    init(_ log: RequestLog, _ context: Context) {
        self.log = log
        session = log.session
        self.context = context
    }

    /// The identifier of the last request's entry.
    var entryID: EntryID? { state.withLock { $0.sent }.map { session.entryID($0.number) } }

    // MARK: requests

    /// Starts to record a request that is about to be sent.
    func begin(_ transfer: inout TransferRequest) {
        transfer.body = transfer.body.map(recordingPieces)
        let earlier = transfer.onHop
        transfer.onHop = { [self] received, metrics, next in
            earlier?(received, metrics, next)
            hop(received, metrics, next)
        }
        send(RequestDraft(transfer, by: self, context.parent))
    }

    private func send(_ sent: RequestDraft, mayBlock: Bool = true) {
        state.withLock { state in
            state.sent = sent
            state.uploaded = 0
        }
        add(
            sent.number,
            .start(sent),
            bytes: LogJob.headBytes + sent.inMemory,
            mayBlock: mayBlock
        )
    }

    /// Records a response that is followed by another request. Called on the transport's thread.
    private func hop(_ received: HTTPResponse, _ metrics: TransferMetrics, _ next: TransferRequest) {
        guard let sent = state.withLock({ $0.hasEnded ? nil : $0.sent }) else { return }
        let isRedirect = next.head.urlText != sent.message.head.urlText || received.status.kind == .redirection
        let received = ReceivedMessage(
            head: RawHead(received),
            body: LogEntry.Body(.omitted("not read"), mediaType: received.mediaType, size: metrics.decodedBytes),
            metrics: metrics,
            redirectURL: isRedirect ? next.head.urlText : ""
        )
        end(sent, received, nil)
        send(
            RequestDraft(
                next,
                by: self,
                redirects: sent.redirects + (isRedirect ? 1 : 0),
                session.entryID(sent.number).description,
                queuedBefore: metrics.queued
            ),
            mayBlock: false
        )
    }

    /// Returns a body whose pieces are recorded as they are read.
    private func recordingPieces(_ body: HTTPBody) -> HTTPBody {
        guard case .stream(let length, let isReplayable, let open) = body.content else { return body }
        return HTTPBody(
            .stream(length: length, isReplayable: isReplayable) { [self] in
                let read = open()
                let number = beginUpload()
                return { [self] in
                    guard let piece = try await read() else { return nil }
                    state.withLock { $0.uploaded += Int64(piece.count) }
                    add(number, .chunk(.request, piece), bytes: piece.count)
                    return piece
                }
            }
        )
    }

    /// Starts to record a streamed request body.
    ///
    /// - Returns: the number of the exchange to which the body belongs.
    private func beginUpload() -> Int {
        let sent = state.withLock { state in
            state.uploaded = 0
            return state.sent
        }
        let mediaType = sent?.message.head.headerFields[.contentType] ?? ""
        let number = sent?.number ?? 0
        let coding = sent?.message.coding(of: .request, with: nil)
        add(number, .open(.request, mediaType: mediaType, coding: coding, context.redactor), bytes: 0)
        return number
    }

    // MARK: the response

    /// Records a failure, an incomplete response, or a response whose status counts as an error.
    func end(_ error: NetworkError) {
        guard let sent = takeEnd() else { return }
        let metrics = error.metrics ?? TransferMetrics()
        let received = error.response.map { head in
            var body = LogEntry.Body(.data(error.data ?? Data()), mediaType: head.mediaType)
            if error.kind != .status {
                body.isTruncated = true
                body.size = max(body.size, metrics.decodedBytes)
            }
            return ReceivedMessage(head: RawHead(head), body: body, metrics: metrics)
        }
        end(sent, received, error.kind == .status ? nil : error, metrics)
    }

    /// Records a complete response.
    ///
    /// - Parameter delivery: the destination of the response body.
    func end(_ response: NetworkResponse, _ delivery: TransferRequest.Delivery = .collect) {
        guard let sent = takeEnd() else { return }
        let received = ReceivedMessage(
            head: response.rawHead,
            body: LogEntry.Body(.data(response.data), mediaType: ""),
            metrics: response.metrics,
            trailers: response.trailers,
            interim: response.interim
        )
        let isInFile = response.data.isEmpty && response.metrics.decodedBytes > 0
        end(sent, received, nil, file: isInFile ? delivery.path : nil)
    }

    /// Records the head of a streamed response, and returns a stream whose body is recorded as it is read.
    func receive(_ stream: StreamingResponse) -> StreamingResponse {
        guard case .stream(let length, let isReplayable, let open) = stream.body.content else {
            end(NetworkResponse(stream))
            return stream
        }
        guard let sent = state.withLock({ $0.hasEnded ? nil : $0.sent }) else { return stream }
        var told = stream
        told.body = HTTPBody()
        let (begun, head) = (told, RawHead(stream.response))
        let interrupted = LogEntry.Body(.omitted("interrupted"), mediaType: begun.response.mediaType, size: -1)
        let start = OutcomeDraft(of: sent, ReceivedMessage(begun, head, interrupted))
        // Doesn't wait, because this may be the transport's thread. The reader of the body waits instead.
        let opened = LogJob.Work.open(
            .response,
            mediaType: begun.response.mediaType,
            coding: sent.message.coding(of: .response, with: head),
            context.redactor
        )
        add(sent.number, .start(start, hasHead: true), bytes: LogJob.headBytes, mayBlock: false)
        add(sent.number, opened, bytes: 0, mayBlock: false)
        let isEventStream = begun.response.isEventStream
        let body = HTTPBody(
            .stream(length: length, isReplayable: isReplayable) { [self] in
                let read = open()
                return { [self] in
                    guard let piece = try await read() else { return nil }
                    take(piece, of: sent.number, isEventStream: isEventStream)
                    return piece
                }
            }
        )
        var stream = stream
        stream.body = body.onEnd { [self] count, error in end(of: begun, head, count, error) }
        return stream
    }

    private func take(_ piece: Data, of number: Int, isEventStream: Bool) {
        let events = isEventStream ? state.withLock { $0.events.feed(piece) } : []
        add(number, .chunk(.response, SlabPool.compacted(piece)), bytes: piece.count)
        for event in events {
            add(LogEntry.Message(.receive, at: session.date(of: .now), event), to: number)
        }
    }

    private func add(_ message: LogEntry.Message, to number: Int) {
        var message = message
        message.cut(to: min(log.options.maxBodyBytes, LogLines.maxTextBytes))
        add(number, .message(message, context.redactor), bytes: message.data.count)
    }

    /// Records the end of a streamed body that was read to the end, or released before.
    private func end(of stream: StreamingResponse, _ head: RawHead, _ count: Int64, _ error: NetworkError?) {
        guard let sent = takeEnd() else { return }
        let mediaType = stream.response.mediaType
        // Used unless the log's writer has the body's pieces.
        var body = LogEntry.Body(.omitted("not written"), mediaType: mediaType, size: count, isTruncated: error != nil)
        // The size of the unread part is unknown.
        if error != nil {
            body.size = max(count, stream.response.headerFields[single: .contentLength].flatMap(Int64.init) ?? -1)
        }
        var received = ReceivedMessage(stream, head, body)
        received.trailers = stream.trailers
        // Releasing the body early is not a failure.
        end(sent, received, error.flatMap { $0.isCancelled ? nil : $0 }, elapsed: sent.started.duration(to: .now))
    }

    /// Records a response from a store, if the client reports it as such.
    func end(stored response: NetworkResponse) {
        guard let sent = takeEnd() else { return }
        let received = ReceivedMessage(
            head: response.rawHead,
            body: LogEntry.Body(.data(response.data), mediaType: ""),
            metrics: TransferMetrics()
        )
        end(sent, received, nil, elapsed: .zero, isFromStore: true, cacheStatus: response.cacheStatus)
    }

    // MARK: conversations

    /// Records a response head that opens a conversation, such as a WebSocket.
    func open(_ received: ReceivedMessage) {
        guard
            let sent = state.withLock({ state in
                state.opened = received
                return state.hasEnded ? nil : state.sent
            })
        else { return }
        add(sent.number, .start(OutcomeDraft(of: sent, received), hasHead: true), bytes: LogJob.headBytes)
    }

    func record(_ direction: LogEntry.Message.Direction, _ opcode: Int, _ data: Data) {
        guard let sent = state.withLock({ $0.hasEnded ? nil : $0.sent }) else { return }
        add(LogEntry.Message(direction, at: session.date(of: .now), opcode: opcode, data), to: sent.number)
    }

    /// Records the end of a conversation.
    ///
    /// - Parameter last: records the last message; called at most once.
    func endConversation(_ error: NetworkError?, _ last: () -> Void) {
        guard !state.withLock({ $0.hasEnded }) else { return }
        last()
        guard let sent = takeEnd() else { return }
        end(sent, state.withLock { $0.opened }, error, elapsed: sent.started.duration(to: .now))
    }

    private func takeEnd() -> RequestDraft? {
        state.withLock { state in
            defer { state.hasEnded = true }
            return state.hasEnded ? nil : state.sent
        }
    }

    // MARK: the entries

    /// Records the outcome of a request.
    ///
    /// - Parameters:
    ///   - file: the file to which the response body was written.
    ///   - elapsed: the duration, if the metrics may not include it.
    private func end(
        _ sent: RequestDraft,
        _ received: consuming ReceivedMessage?,
        _ error: NetworkError?,
        _ metrics: TransferMetrics? = nil,
        file: String? = nil,
        elapsed: Duration? = nil,
        isFromStore: Bool = false,
        cacheStatus: CacheStatus? = nil
    ) {
        let isUntimed = (received?.metrics ?? metrics)?.total == .zero
        let outcome = OutcomeDraft(
            of: sent,
            consume received,
            error,
            metrics,
            uploaded: state.withLock { $0.sent === sent ? $0.uploaded : 0 },
            file: file,
            elapsed: elapsed ?? (isUntimed ? sent.started.duration(to: .now) : nil),
            isFromStore: isFromStore,
            cacheStatus: cacheStatus
        )
        var bytes = LogJob.headBytes + sent.inMemory
        if case .data(let data)? = outcome.received?.body.content { bytes += data.count }
        // Doesn't wait, because this is the transport's thread. The start of the request has waited.
        add(sent.number, .end(outcome), bytes: bytes, isFailure: error != nil, mayBlock: false)
    }

    private func add(
        _ number: Int,
        _ work: LogJob.Work,
        bytes: Int,
        isFailure: Bool = false,
        mayBlock: Bool = true
    ) {
        let job = LogJob(exchange: number, work: work, bytes: bytes, isFailure: isFailure)
        session.queue.add(job, mayBlock: mayBlock)
    }
}
