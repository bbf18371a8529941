import BeagleNet
import BeagleNetHTTP
import Dispatch
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A writer of a log. It runs on its own thread, which ends when the log is closed.
///
/// `@unchecked Sendable` is safe because only the creator uses a writer until `start`, and only the thread that `start`
/// creates uses it afterwards. The creator may call `open` before, and then releases the writer.
final class LogWriter: @unchecked Sendable {
    private let directory: LogDirectory
    private let options: RequestLog.Options
    private let session: LogSession
    private let output: SegmentWriter
    private let cleanTexts = CleanTextCache()
    private var bodies: [BodyKey: BodySink] = [:]
    /// The bodies of the current batch that lack a piece.
    private var truncatedBodies: Set<BodyKey> = []
    /// The jobs done since room was last freed.
    private var done = (jobs: 0, bytes: 0)

    init(_ directory: LogDirectory, _ options: RequestLog.Options, _ session: LogSession) {
        self.directory = directory
        self.options = options
        self.session = session
        output = SegmentWriter(directory, options, session)
    }

    /// Opens the log, so that its creator receives the error if that fails.
    func open() throws(NetworkError) { try output.open() }

    /// Starts to write the queued jobs.
    func start() throws(NetworkError) {
        try Thread.start(name: "beaglenet-log") { self.run() }
    }

    private func run() {
        while let batch = session.queue.take(until: output.nextSync) {
            output.losses.bodies += batch.losses.bodies
            output.losses.records += batch.losses.records
            write(batch)
            output.writeLosses()
            output.syncIfDue()
            output.clear { session.queue.isBusy }
        }
        bodies = [:]
        output.close()
        session.queue.end()
    }

    private func write(_ batch: LogQueue.Batch) {
        output.needsStatusCheck = true
        truncatedBodies = batch.truncatedBodies
        for place in truncatedBodies { bodies[place]?.markTruncated() }
        for job in batch.jobs {
            if job.isCall || !output.hasRoom(for: job.bytes) { flushFinishedJobs() }
            work(on: job)
            done.jobs += 1
            done.bytes += job.bytes
        }
        flushFinishedJobs()
        for exchange in batch.droppedExchanges {
            for side in MessageSide.allCases { bodies[BodyKey(exchange: exchange, side: side)] = nil }
        }
    }

    /// Writes all finished records, and frees their room in the queue.
    private func flushFinishedJobs() {
        output.flush()
        session.queue.finish(done.jobs, bytes: done.bytes)
        done = (0, 0)
    }

    // MARK: jobs

    private func work(on job: LogJob) {
        switch job.work {
        case .start(let draft, _): begin(job, draft)
        case .open(let side, let mediaType, let coding, let redactor):
            let place = BodyKey(exchange: job.exchange, side: side)
            bodies[place] = sink(job, side, mediaType, coding, options.redactor ?? redactor)
            if truncatedBodies.contains(place) { bodies[place]?.markTruncated() }
        case .chunk(let side, let piece):
            if let body = bodies[BodyKey(exchange: job.exchange, side: side)] { feed(piece, to: body) }
        case .message(let message, let redactor): write(message, job, redactor)
        case .end(let draft): end(job, draft)
        case .note(let text): note(text)
        case .call(let call):
            if case .power = options.durability { output.sync() }
            call()
        }
    }

    private func begin(_ job: LogJob, _ draft: any EntryDraft) {
        draft.withEntry { entry in
            entry.id = session.entryID(job.exchange).description
            if let body = entry.request.body {
                if case .data(let data) = body.content, data.count <= options.maxInlineBytes {
                    entry.setBody(stored(body, of: job, .request, draft), .request)
                } else {
                    entry.request.body = body.omitted("not sent yet")
                }
            }
            write("start", &entry, draft.redactor)
        }
    }

    private func end(_ job: LogJob, _ draft: any EntryDraft) {
        let before = fileBytes
        func storedBody(_ body: LogEntry.Body, _ side: MessageSide) -> StoredBody {
            let hasSink = bodies[BodyKey(exchange: job.exchange, side: side)] != nil
            if job.isBodiless, !hasSink, case .data = body.content { return StoredBody(body.omitted("no room")) }
            return stored(body, of: job, side, draft)
        }
        draft.withEntry { entry in
            entry.id = session.entryID(job.exchange).description
            if let body = entry.request.body { entry.setBody(storedBody(body, .request), .request) }
            if let body = entry.response?.body { entry.setBody(storedBody(body, .response), .response) }
            write("end", &entry, draft.redactor)
        }
        output.count(bodyBytes: fileBytes - before)
    }

    /// The number of bytes of bodies that were stored in files.
    private var fileBytes: Int64 = 0

    /// Returns the body to store, from pieces received before, or from memory.
    private func stored(
        _ body: LogEntry.Body,
        of job: LogJob,
        _ side: MessageSide,
        _ draft: any EntryDraft
    ) -> StoredBody {
        let pieces = bodies.removeValue(forKey: BodyKey(exchange: job.exchange, side: side))
        let sink: BodySink
        if let pieces {
            sink = pieces
        } else if case .data(let data) = body.content {
            if data.isEmpty { return StoredBody(body) }
            let (redactor, coding) = (options.redactor ?? draft.redactor, draft.coding(of: side))
            if coding == nil, isInline(data), redactor.passes(body: data, contentType: body.mediaType) {
                return StoredBody(body)
            }
            sink = self.sink(job, side, body.mediaType, coding, redactor)
            feed(data, to: sink)
        } else {
            return StoredBody(body)
        }
        var stored = StoredBody(body)
        stored.body.content = content(of: sink)
        stored.body.isTruncated = body.isTruncated || sink.isTruncated
        stored.redactions = sink.redactions
        stored.isRedacted = sink.isRedacted
        stored.shownByteCount = sink.shownByteCount
        if case .omitted = stored.body.content { return stored }
        if sink.isDecoded { stored.body.size = stored.body.isTruncated ? -1 : sink.shownByteCount }
        return stored
    }

    private func isInline(_ data: Data) -> Bool { data.count <= min(options.maxInlineBytes, options.maxBodyBytes) }

    private func content(of sink: BodySink) -> LogEntry.Body.Content {
        do throws(NetworkError) {
            let content = try sink.finish(syncs: options.durability != .process)
            if case .file = content { fileBytes += sink.shownByteCount }
            return content
        } catch {
            output.countLostBody(error)
            return .omitted("not written")
        }
    }

    private func sink(
        _ job: LogJob,
        _ side: MessageSide,
        _ mediaType: String,
        _ coding: BodyCoding?,
        _ redactor: Redactor
    ) -> BodySink {
        let (directory, session) = (directory, session)
        return BodySink(
            directory,
            options,
            partName: directory.part(of: session.entryID(job.exchange).description, side),
            redactor: redactor,
            mediaType: mediaType,
            coding: coding,
            at: side == .request ? "request.postData.text" : "response.content.text"
        )
    }

    private func feed(_ piece: Data, to body: BodySink) {
        guard !output.isPaused else { return body.omit("not written") }
        do throws(NetworkError) { try body.feed(piece) } catch { output.countLostBody(error) }
    }

    // MARK: records

    private func write(_ kind: String, _ entry: inout LogEntry, _ redactor: Redactor) {
        guard !output.isPaused else { return output.losses.records += 1 }
        var redaction = EntryRedaction(
            redactor: options.redactor ?? redactor,
            leavesBodies: true,
            cleanTexts: cleanTexts
        )
        redaction.redact(&entry)
        output.append(kind) { output in
            output.name("entry")
            entry.write(to: &output)
        }
    }

    private func write(_ message: LogEntry.Message, _ job: LogJob, _ redactor: Redactor) {
        var redaction = EntryRedaction(redactor: options.redactor ?? redactor)
        // The index of the message is known only to the reader.
        let message = redaction.redacted(message, at: "")
        output.append("message") { output in
            output.member("id", session.entryID(job.exchange).description)
            output.name("message")
            message.write(to: &output)
            if !redaction.places.isEmpty { output.strings("redactions", redaction.places) }
        }
    }

    private func note(_ text: String) {
        output.append("note") { output in
            output.member("time", Timestamp.text(of: session.date(of: .now)))
            output.member("text", (options.redactor ?? Redactor()).redact(text: text))
        }
    }
}

/// A body as it is stored in the log.
private struct StoredBody {
    var body: LogEntry.Body
    var redactions: [String] = []
    /// Whether something was removed from the stored part.
    var isRedacted = false
    /// The number of bytes stored.
    var shownByteCount: Int64 = 0

    init(_ body: LogEntry.Body) {
        self.body = body
    }
}

extension LogEntry {
    fileprivate mutating func setBody(_ stored: StoredBody, _ side: MessageSide) {
        redactions += stored.redactions
        switch side {
        case .request: request.body = stored.body
        case .response: response?.body = stored.body
        }
        if case .omitted = stored.body.content { return }
        if stored.isRedacted, !stored.body.isTruncated { setBodySize(stored.shownByteCount, of: side) }
    }
}

extension LogEntry.Body {
    fileprivate func omitted(_ reason: String) -> LogEntry.Body {
        var body = self
        body.content = .omitted(reason)
        return body
    }
}
