import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension TransferRecorder {
    /// A message that is out: one reference, as all that waits for the writer has it.
    final class Sent: Sendable {
        let number: Int
        let message: SentMessage
        let started: ContinuousClock.Instant
        let redirects: Int
        let parent: String?
        /// What was waited before it.
        let queuedBefore: Duration

        init(
            _ transfer: TransferRequest,
            _ number: Int,
            redirects: Int,
            _ parent: String?,
            queuedBefore: Duration
        ) {
            self.number = number
            message = SentMessage(transfer)
            started = .now
            self.redirects = redirects
            self.parent = parent
            self.queuedBefore = queuedBefore
        }

        /// Bytes of the body that wait with it.
        var inMemory: Int { message.body?.data?.count ?? 0 }
    }

    /// What became of a message: one reference, as all that waits for the writer has it.
    final class Outcome: Sendable {
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
            _ answer: ReceivedAnswer?,
            _ error: NetworkError? = nil,
            _ metrics: TransferMetrics? = nil,
            uploaded: Int64 = 0,
            file: String? = nil,
            elapsed: Duration? = nil,
            isFromStore: Bool = false
        ) {
            self.answer = answer
            self.error = error
            self.metrics = metrics
            self.uploaded = uploaded
            self.file = file.map { ($0, FileStamp($0)) }
            self.elapsed = elapsed
            self.isFromStore = isFromStore
        }
    }

    /// The entry of a message, as far as there is one: references alone, which no memory has to be found for.
    struct Draft: LogDraft {
        let recorder: TransferRecorder
        let sent: Sent
        /// nil at the beginning.
        var outcome: Outcome?

        var redactor: Redactor { recorder.context.redactor }

        func coding(of side: BodySide) -> BodyCoding? { sent.message.coding(of: side, with: outcome?.answer?.head) }

        func makeEntry() -> LogEntry {
            let context = recorder.context
            let metrics = outcome?.answer?.metrics ?? outcome?.metrics
            let request = sent.message.logged(metrics, sent: outcome?.uploaded ?? 0, limit: limit)
            return LogEntry(
                started: recorder.session.date(of: sent.started),
                request: request,
                response: outcome?.answer.map(response),
                timings: timings(metrics),
                error: outcome?.error.map { "\($0.kind.rawValue): \($0.message)" },
                serverAddress: metrics?.serverAddress,
                connection: metrics?.connectionName,
                kind: context.kind,
                operationName: context.operationName,
                attempt: context.attempt,
                redirects: sent.redirects,
                parent: sent.parent,
                isFromStore: outcome?.isFromStore ?? false
            )
        }

        private var limit: Int { recorder.log.options.maxBodyBytes }

        private func response(_ answer: ReceivedAnswer) -> LoggedResponse {
            var response = answer.logged
            let mediaType = answer.head.contentType ?? ""
            response.body.mediaType = mediaType
            if let file = outcome?.file {
                response.body = LoggedBody(fileAt: file.path, as: file.stamp, upTo: limit, mediaType: mediaType)
            }
            return response
        }

        private func timings(_ metrics: TransferMetrics?) -> LogTimings {
            guard let metrics else { return outcome?.elapsed.map(LogTimings().lasting) ?? LogTimings() }
            func isAddress() -> Bool {
                let host = RecordedURL(sent.message.head.urlText).flatMap { IPAddress($0.hostName) }
                return host != nil && (metrics.serverAddress.flatMap { IPAddress($0) } ?? host) == host
            }
            let timings = LogTimings(metrics, queuedBefore: sent.queuedBefore, isAddress: isAddress())
            return outcome?.elapsed.map(timings.lasting) ?? timings
        }
    }
}
