import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension TransferRecorder {
    /// A message that is out, and the entry of its beginning: one reference, as all that waits for the writer has it.
    final class Sent: LogDraft {
        let session: LogSession
        let context: Context
        /// The most bytes of a file that are looked at.
        let limit: Int
        let number: Int
        let message: SentMessage
        let started: ContinuousClock.Instant
        let redirects: Int
        let parent: String?
        /// What was waited before it.
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

        /// Bytes of the body that wait with it.
        var inMemory: Int { message.body?.data?.count ?? 0 }

        var redactor: Redactor { context.redactor }

        func coding(of side: BodySide) -> BodyCoding? { message.coding(of: side, with: nil) }

        func withEntry(_ body: (inout LogEntry) -> Void) {
            var entry = entry(nil)
            body(&entry)
        }
    }

    /// What became of a message, and its entry: one reference, as all that waits for the writer has it.
    final class Outcome: LogDraft {
        let sent: Sent
        let answer: ReceivedAnswer?
        let error: NetworkError?
        /// Where there is no answer that has them.
        let metrics: TransferMetrics?
        /// Bytes of a streamed body that were read.
        let uploaded: Int64
        /// Where the body of the answer was written, and how the file was then.
        let file: (path: String, stamp: FileStamp?)?
        /// How long it took, where the marks do not tell.
        let elapsed: Duration?
        let isFromStore: Bool

        init(
            of sent: Sent,
            _ answer: ReceivedAnswer?,
            _ error: NetworkError? = nil,
            _ metrics: TransferMetrics? = nil,
            uploaded: Int64 = 0,
            file: String? = nil,
            elapsed: Duration? = nil,
            isFromStore: Bool = false
        ) {
            self.sent = sent
            self.answer = answer
            self.error = error
            self.metrics = metrics
            self.uploaded = uploaded
            self.file = file.map { ($0, FileStamp($0)) }
            self.elapsed = elapsed
            self.isFromStore = isFromStore
        }

        var redactor: Redactor { sent.redactor }

        func coding(of side: BodySide) -> BodyCoding? { sent.message.coding(of: side, with: answer?.head) }

        func withEntry(_ body: (inout LogEntry) -> Void) {
            var entry = sent.entry(self)
            body(&entry)
        }
    }
}

// MARK: - Entries

extension TransferRecorder.Sent {
    /// The entry of the message, with what became of it as far as that is known. Inlined, as it is large to be handed on.
    @inline(__always)
    fileprivate func entry(_ outcome: TransferRecorder.Outcome?) -> LogEntry {
        let metrics = outcome?.answer?.metrics ?? outcome?.metrics
        return LogEntry(
            started: session.date(of: started),
            request: message.logged(metrics, sent: outcome?.uploaded ?? 0, limit: limit),
            response: outcome?.answer.map { response($0, outcome?.file) },
            timings: timings(metrics, outcome?.elapsed),
            error: outcome?.error.map { "\($0.kind.rawValue): \($0.message)" },
            serverAddress: metrics?.serverAddress,
            connection: metrics?.connectionName,
            kind: context.kind,
            operationName: context.operationName,
            attempt: context.attempt,
            redirects: redirects,
            parent: parent,
            isFromStore: outcome?.isFromStore ?? false
        )
    }

    private func response(_ answer: ReceivedAnswer, _ file: (path: String, stamp: FileStamp?)?) -> LoggedResponse {
        var response = answer.logged
        let mediaType = answer.head.contentType ?? ""
        response.body.mediaType = mediaType
        if let file {
            response.body = LoggedBody(fileAt: file.path, as: file.stamp, upTo: limit, mediaType: mediaType)
        }
        return response
    }

    private func timings(_ metrics: TransferMetrics?, _ elapsed: Duration?) -> LogTimings {
        guard let metrics else { return elapsed.map(LogTimings().lasting) ?? LogTimings() }
        func isAddress() -> Bool {
            let host = RecordedURL(message.head.urlText).flatMap { IPAddress($0.hostName) }
            return host != nil && (metrics.serverAddress.flatMap { IPAddress($0) } ?? host) == host
        }
        let timings = LogTimings(metrics, queuedBefore: queuedBefore, isAddress: isAddress())
        return elapsed.map(timings.lasting) ?? timings
    }
}
