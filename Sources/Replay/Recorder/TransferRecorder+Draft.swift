import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension TransferRecorder {
    /// A request that was sent, and the draft of its first entry. A class, so that jobs in the writer's queue hold a
    /// single reference.
    final class RequestDraft: EntryDraft {
        let session: LogSession
        let context: Context
        /// The maximum number of bytes of a file that are read.
        let limit: Int
        let number: Int
        let message: SentMessage
        let started: ContinuousClock.Instant
        let redirects: Int
        let parent: String?
        /// The queue time that belongs to earlier requests of the transfer.
        let queuedBefore: Duration

        init(
            _ transfer: TransferRequest,
            by recorder: TransferRecorder,
            redirects: Int = 0,
            _ parent: String?,
            queuedBefore: Duration = .zero
        ) {
            session = recorder.session
            context = recorder.context
            limit = recorder.log.options.maxBodyBytes
            number = session.nextNumber()
            message = SentMessage(transfer)
            started = .now
            self.redirects = redirects
            self.parent = parent
            self.queuedBefore = queuedBefore
        }

        /// The bytes of the body that the queued job keeps in memory.
        var inMemory: Int { message.body?.data?.count ?? 0 }

        var redactor: Redactor { context.redactor }

        func coding(of side: MessageSide) -> BodyCoding? { message.coding(of: side, with: nil) }

        func withEntry(_ body: (inout LogEntry) -> Void) {
            var entry = entry(nil)
            body(&entry)
        }
    }

    /// The outcome of a request, and the draft of its entry. A class, so that jobs in the writer's queue hold a single
    /// reference.
    final class OutcomeDraft: EntryDraft {
        let sent: RequestDraft
        let received: ReceivedMessage?
        let error: NetworkError?
        /// The metrics if there is no response that contains them.
        let metrics: TransferMetrics?
        /// The bytes of a streamed body that were read.
        let uploaded: Int64
        /// The file to which the response body was written, and its state at that time.
        let file: (path: String, stamp: FileStamp?)?
        /// The duration, if the metrics don't include it.
        let elapsed: Duration?
        let isFromStore: Bool
        let cacheStatus: CacheStatus?

        init(
            of sent: RequestDraft,
            _ received: ReceivedMessage?,
            _ error: NetworkError? = nil,
            _ metrics: TransferMetrics? = nil,
            uploaded: Int64 = 0,
            file: String? = nil,
            elapsed: Duration? = nil,
            isFromStore: Bool = false,
            cacheStatus: CacheStatus? = nil
        ) {
            self.sent = sent
            self.received = received
            self.error = error
            self.metrics = metrics
            self.uploaded = uploaded
            self.file = file.map { ($0, FileStamp($0)) }
            self.elapsed = elapsed
            self.isFromStore = isFromStore
            self.cacheStatus = cacheStatus
        }

        var redactor: Redactor { sent.redactor }

        func coding(of side: MessageSide) -> BodyCoding? { sent.message.coding(of: side, with: received?.head) }

        func withEntry(_ body: (inout LogEntry) -> Void) {
            var entry = sent.entry(self)
            body(&entry)
        }
    }
}

// MARK: - Entries

extension TransferRecorder.RequestDraft {
    /// Returns the entry of the request, with its outcome if known. Inlined, because the entry is large to pass on.
    @inline(__always)
    fileprivate func entry(_ outcome: TransferRecorder.OutcomeDraft?) -> LogEntry {
        let metrics = outcome?.received?.metrics ?? outcome?.metrics
        return LogEntry(
            started: session.date(of: started),
            request: message.logged(metrics, sent: outcome?.uploaded ?? 0, limit: limit),
            response: outcome?.received.map { response($0, outcome?.file) },
            timings: timings(metrics, outcome?.elapsed),
            error: outcome?.error.map { "\($0.kind.rawValue): \($0.message)" },
            serverAddress: metrics?.serverAddress,
            connection: metrics?.connectionName,
            kind: context.kind,
            operationName: context.operationName,
            attempt: context.attempt,
            redirects: redirects,
            parent: parent,
            isFromStore: outcome?.isFromStore ?? false,
            cacheStatus: (outcome?.cacheStatus ?? context.cacheStatus)?.description
        )
    }

    private func response(_ received: ReceivedMessage, _ file: (path: String, stamp: FileStamp?)?) -> LogEntry.Response
    {
        var response = received.logged
        let mediaType = received.head.contentType ?? ""
        response.body.mediaType = mediaType
        if let file {
            response.body = LogEntry.Body(fileAt: file.path, as: file.stamp, upTo: limit, mediaType: mediaType)
        }
        return response
    }

    private func timings(_ metrics: TransferMetrics?, _ elapsed: Duration?) -> LogEntry.Timings {
        guard let metrics else { return elapsed.map(LogEntry.Timings().lasting) ?? LogEntry.Timings() }
        func isAddress() -> Bool {
            let host = RecordedURL(message.head.urlText).flatMap { IPAddress($0.hostName) }
            return host != nil && (metrics.serverAddress.flatMap { IPAddress($0) } ?? host) == host
        }
        let timings = LogEntry.Timings(metrics, queuedBefore: queuedBefore, isAddress: isAddress())
        return elapsed.map(timings.lasting) ?? timings
    }
}
