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

/// Writes a log, on a thread of its own, which ends when the log is closed.
///
/// `@unchecked Sendable` is sound because whoever makes a writer alone calls `open` and then `start`, and lets go of it;
/// all that comes after runs on that thread.
final class LogWriter: @unchecked Sendable {
    private let directory: LogDirectory
    private let options: RequestLog.Options
    private let session: LogSession
    private var segment: Segment?
    /// Held as long as the session lives.
    private var live: OpenFile?
    private var bodies: [BodyPlace: BodySink] = [:]
    /// Bodies of which a piece is missing, of what is being written.
    private var cuts: Set<BodyPlace> = []
    /// When to try again after a failure; nil where there was none.
    private var resting: ContinuousClock.Instant?
    private var hasWarned = false
    private var losses = LogQueue.Losses()
    /// Since when something is not on the disk that should be.
    private var unsynced: ContinuousClock.Instant?

    init(_ directory: LogDirectory, _ options: RequestLog.Options, _ session: LogSession) {
        self.directory = directory
        self.options = options
        self.session = session
    }

    /// Opens the log, so that whoever makes it hears of what is wrong.
    func open() throws(NetworkError) {
        try directory.make()
        if live == nil { live = try OpenFile.held(directory.live(session.id)) }
        try begin(try Segment(last: directory))
    }

    /// Begins to write what is queued.
    func start() throws(NetworkError) {
        try Thread.start(name: "beaglenet-log") { self.run() }
    }

    private func run() {
        clear()
        while let batch = session.queue.take(until: nextSync) {
            losses.bodies += batch.losses.bodies
            losses.records += batch.losses.records
            write(batch)
            tellLosses()
            syncIfDue()
        }
        close()
    }

    private func write(_ batch: LogQueue.Batch) {
        cuts = batch.cuts
        for place in cuts { bodies[place]?.cut() }
        for job in batch.jobs {
            work(on: job)
            session.queue.finish(1, bytes: job.bytes)
        }
        for exchange in batch.forgotten {
            for side in BodySide.allCases { bodies[BodyPlace(exchange: exchange, side: side)] = nil }
        }
    }

    // MARK: jobs

    private func work(on job: LogJob) {
        switch job.work {
        case .start(let draft): begin(job, draft)
        case .open(let side, let mediaType, let redactor):
            let place = BodyPlace(exchange: job.exchange, side: side)
            bodies[place] = sink(job, side, mediaType, options.redactor ?? redactor)
            if cuts.contains(place) { bodies[place]?.cut() }
        case .chunk(let side, let piece):
            if let body = bodies[BodyPlace(exchange: job.exchange, side: side)] { feed(piece, to: body) }
        case .message(let message, let redactor): write(message, job, redactor)
        case .end(let draft): end(job, draft)
        case .note(let text): note(text)
        case .call(let call):
            if case .power = options.durability { sync() }
            call()
        }
    }

    private func begin(_ job: LogJob, _ draft: LogJob.Draft) {
        let redactor = options.redactor ?? draft.redactor
        var entry = draft.make()
        entry.id = session.entryID(job.exchange)
        var places: [String] = []
        entry.request.body = entry.request.body.map { body in
            guard case .data(let data) = body.content, data.count <= options.maxInlineBytes else {
                return body.omitted("not sent yet")
            }
            return stored(body, of: job, .request, redactor, noting: &places)
        }
        entry.redactions += places
        write("start", entry, redactor)
    }

    private func end(_ job: LogJob, _ draft: LogJob.Draft) {
        let redactor = options.redactor ?? draft.redactor
        var entry = draft.make()
        entry.id = session.entryID(job.exchange)
        let before = fileBytes
        var places: [String] = []
        func kept(_ body: LoggedBody, _ side: BodySide) -> LoggedBody {
            let comesInPieces = bodies[BodyPlace(exchange: job.exchange, side: side)] != nil
            if job.isBodiless, !comesInPieces, case .data = body.content { return body.omitted("no room") }
            return stored(body, of: job, side, redactor, noting: &places)
        }
        entry.request.body = entry.request.body.map { kept($0, .request) }
        if let body = entry.response?.body { entry.response?.body = kept(body, .response) }
        entry.redactions += places
        write("end", entry, redactor)
        segment?.bodyBytes += fileBytes - before
    }

    /// Bytes of bodies that were stored in files.
    private var fileBytes: Int64 = 0

    /// The body as the log has it: what came in pieces, or what is in memory.
    private func stored(
        _ body: LoggedBody,
        of job: LogJob,
        _ side: BodySide,
        _ redactor: Redactor,
        noting places: inout [String]
    ) -> LoggedBody {
        var body = body
        let pieces = bodies.removeValue(forKey: BodyPlace(exchange: job.exchange, side: side))
        let sink: BodySink
        if let pieces {
            sink = pieces
        } else if case .data(let data) = body.content {
            if data.isEmpty { return body }
            sink = self.sink(job, side, body.mediaType, redactor)
            feed(data, to: sink)
        } else {
            return body
        }
        var content = LoggedBody.Content.omitted("not written")
        attempt { () throws(NetworkError) in
            let bytes = sink.fileBytes
            content = try sink.finish(syncs: options.durability != .process)
            if case .file = content { fileBytes += bytes }
        }
        body.content = content
        body.isTruncated = body.isTruncated || sink.isTruncated
        // How long a secret was is not told.
        if !sink.redactions.isEmpty, !body.isTruncated { body.size = sink.shownBytes }
        places += sink.redactions
        return body
    }

    private func sink(_ job: LogJob, _ side: BodySide, _ mediaType: String, _ redactor: Redactor) -> BodySink {
        BodySink(
            directory,
            options,
            partName: directory.part(of: session.entryID(job.exchange), side),
            redactor: redactor,
            mediaType: mediaType,
            at: side == .request ? "request.postData.text" : "response.content.text"
        )
    }

    private func feed(_ piece: Data, to body: BodySink) {
        guard !isResting else { return body.omit("not written") }
        attempt { () throws(NetworkError) in try body.feed(piece) }
    }

    // MARK: records

    private func write(_ kind: String, _ entry: LogEntry, _ redactor: Redactor) {
        guard !isResting else { return losses.records += 1 }
        var redaction = EntryRedaction(redactor: redactor, leavesBodies: true)
        let entry = redaction.redacted(entry)
        append(kind) { output in
            output.name("entry")
            entry.write(to: &output)
        }
    }

    private func write(_ message: LoggedMessage, _ job: LogJob, _ redactor: Redactor) {
        var redaction = EntryRedaction(redactor: options.redactor ?? redactor)
        let message = redaction.redacted(message, at: "_webSocketMessages.data")
        append("message") { output in
            output.member("id", session.entryID(job.exchange))
            output.name("message")
            message.write(to: &output)
        }
    }

    private func note(_ text: String) {
        append("note") { output in
            output.member("time", Timestamp.text(of: session.date(of: .now)))
            output.member("text", (options.redactor ?? Redactor()).redact(text: text))
        }
    }

    /// Says what was left out, once there is room to say it.
    private func tellLosses() {
        guard !losses.isEmpty, !isResting else { return }
        let told = losses
        losses = LogQueue.Losses()
        let isTold = append("note") { output in
            output.member("time", Timestamp.text(of: session.date(of: .now)))
            output.member("text", "there was no room for everything")
            output.member("lostRecords", told.records)
            output.member("lostBodies", told.bodies)
        }
        if !isTold { losses = told }
    }

    @discardableResult
    private func append(_ kind: String, _ members: (inout JSONOutput) -> Void) -> Bool {
        guard !isResting else {
            losses.records += 1
            return false
        }
        let record = record(kind, members)
        return attempt { () throws(NetworkError) in
            try prepare()
            try segment?.append(record)
            if case .power = options.durability, unsynced == nil { unsynced = .now }
        }
    }

    private func record(_ kind: String, _ members: (inout JSONOutput) -> Void) -> [UInt8] {
        var output = JSONOutput(capacity: 2 << 10)
        output.object { output in
            output.member("k", kind)
            members(&output)
        }
        return output.bytes
    }

    // MARK: segments

    /// Sees to it that there is a segment with room.
    private func prepare() throws(NetworkError) {
        guard var current = segment else { return try open() }
        let isOver = try current.isOver(options)
        segment = current
        guard isOver else { return }
        segment = nil
        try directory.make()
        let last = try directory.segments().last ?? 0
        try begin(try Segment(directory, max(last, current.number + 1)))
        clear()
    }

    /// Writes into a segment from now on, which says who does.
    private func begin(_ new: Segment) throws(NetworkError) {
        var new = new
        try new.append(
            record("open") { output in
                output.member("v", LogDirectory.format)
                output.member("time", Timestamp.text(of: session.date(of: .now)))
                output.member("session", session.id)
                output.member("pid", session.process)
            }
        )
        segment = new
    }

    /// Removes what there is too much of.
    private func clear() {
        attempt { () throws(NetworkError) in try LogLimits(directory, options).clear() }
    }

    private func close() {
        bodies = [:]
        tellLosses()
        if segment != nil {
            append("close") { output in
                output.member("time", Timestamp.text(of: session.date(of: .now)))
                output.member("session", session.id)
            }
        }
        if options.durability != .process { sync() }
        if live != nil { unlink(directory.live(session.id)) }
        live = nil
        session.queue.end()
    }

    // MARK: what goes wrong

    /// Whether nothing is written for a while, after a failure.
    private var isResting: Bool {
        guard let until = resting else { return false }
        return ContinuousClock.now < until
    }

    /// Does something, or rests; the first time somebody is told.
    @discardableResult
    private func attempt(_ work: () throws(NetworkError) -> Void) -> Bool {
        do throws(NetworkError) {
            try work()
            resting = nil
            return true
        } catch {
            losses.records += 1
            resting = .now + options.patience
            segment = nil
            if !hasWarned { options.logger.log(RecordingStopped(directory: directory.path, error: error)) }
            hasWarned = true
            return false
        }
    }

    // MARK: losses of power

    private var nextSync: DispatchTime {
        guard case .power(let interval) = options.durability, let unsynced else { return .distantFuture }
        let rest = max(.zero, interval - (ContinuousClock.now - unsynced))
        return .now() + rest / .seconds(1)
    }

    private func syncIfDue() {
        guard case .power(let interval) = options.durability, let unsynced, .now - unsynced >= interval else { return }
        sync()
    }

    private func sync() {
        attempt { () throws(NetworkError) in try segment?.sync() }
        unsynced = nil
    }
}

/// What a logger hears when a log cannot be written.
private struct RecordingStopped: LogType {
    let directory: String
    let error: NetworkError

    var category: String { "Recording" }
    var level: LogLevel { .error }
    var message: String { "requests are not recorded in \(directory) for now: \(error.message)" }
}

extension LoggedBody {
    fileprivate func omitted(_ reason: String) -> LoggedBody {
        var body = self
        body.content = .omitted(reason)
        return body
    }
}

/// Threads of our own.
enum Thread {
    /// Begins a thread that takes no signals.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(NetworkError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 1 << 20)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // The thread inherits the mask: signals are for the app's own threads.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let box = Unmanaged.passRetained(Body(body))
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, &attributes, { Thread.run($0) }, box.toOpaque())
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, &attributes, { Thread.run($0) }, box.toOpaque())
        #endif
        guard code == 0 else {
            box.release()
            throw NetworkError(.other, during: .file, "no thread for \(name): \(String(cString: strerror(code)))")
        }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    private static func run(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let box else { return nil }
        Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run()
        return nil
    }
}
