public import BeagleNet
import BeagleNetHTTP
import Dispatch
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A journal of requests and their responses in a directory `NAME.bglog`, without secrets.
///
/// ```swift
/// let log = try RequestLog(directory: "/var/log/app.bglog")
/// dependencies.interceptors.add(RecordInterceptor(log))
/// ```
/// Each line of its files is a record (JSON Lines), written some milliseconds after an event, or when ``flush()`` is
/// called. If the process is killed, all records written before are intact, and requests in flight can be identified.
/// `RequestLog.Reader` reads a log, even during recording. Several processes may write into the same directory. After
/// `fork`, a child process records in its own session.
///
/// Requests don't wait for the log: one thread writes, and data that exceeds its capacity is dropped, bodies first, and
/// counted in the log. Secrets are removed before anything is written. Data that cannot be checked for secrets is not
/// written. If a record cannot be written, recording pauses for some seconds, and the logger is notified once. Only the
/// owner has access to directories (0700) and files (0600).
public final class RequestLog: Sendable {
    /// The path of the directory.
    public let directory: String
    /// The options of the log.
    public let options: Options
    private let current: Lock<LogSession>

    /// Opens a log, or creates it.
    ///
    /// - Parameters:
    ///   - directory: the path of the directory, which is created with its parents if it doesn't exist.
    ///   - options: the options of the log.
    /// - Throws: `NetworkError` of kind `.file` if the directory isn't writable, or contains other files.
    public init(directory: String, options: Options = Options()) throws(NetworkError) {
        self.directory = directory
        self.options = options
        let session = LogSession(isLossless: options.isLossless)
        do throws(NetworkError) {
            let writer = LogWriter(LogDirectory(path: directory), options, session)
            try writer.open()
            try writer.start()
        } catch {
            var error = error
            error.advice = error.advice ?? "record into a directory that the user can write to"
            throw error
        }
        current = Lock(session)
        OpenLogs.add(session)
    }

    /// Closes the session; queued records are still written.
    deinit {
        let session = current.withLock { $0 }
        // A parent process closes its own session.
        if session.process == getpid() { session.queue.close() }
    }

    /// Adds an entry that was recorded elsewhere, without its secrets.
    ///
    /// The entry gets a new `id`. Bodies in files are omitted.
    public func append(_ entry: LogEntry) {
        let session = session
        let bytes = [entry.request.body, entry.response?.body].reduce(LogJob.headBytes) { bytes, body in
            if case .data(let data)? = body?.content { return bytes + data.count }
            return bytes
        }
        let draft = LogJob.ClosureDraft(redactor: Redactor()) { entry.decoded.withoutFiles }
        session.queue.add(
            LogJob(
                exchange: session.nextNumber(),
                work: .end(draft),
                bytes: bytes,
                isFailure: entry.error != nil
            )
        )
    }

    /// Writes a note for readers of the log, without its secrets.
    public func note(_ text: String) {
        session.queue.add(LogJob(exchange: 0, work: .note(text), bytes: text.utf8.count))
    }

    /// Waits until all earlier events are written.
    ///
    /// They then survive the end of the process, and with `Durability.power` also a power failure.
    public func flush() async {
        let queue = session.queue
        await withUnsafeContinuation { continuation in
            queue.call { continuation.resume() }
        }
    }

    /// Blocks this thread until all earlier events are written.
    package func waitUntilWritten() {
        let isWritten = DispatchSemaphore(value: 0)
        session.queue.call { isWritten.signal() }
        isWritten.wait()
    }

    /// Closes the log after all earlier events are written.
    ///
    /// Later events are not recorded.
    public func close() async {
        let queue = session.queue
        queue.close()
        await withUnsafeContinuation { continuation in
            queue.callAtEnd { continuation.resume() }
        }
    }

    /// The session of this process.
    var session: LogSession {
        current.withLock { session in
            if session.isOurs { return session }
            // The parent's thread doesn't exist here, and its queue belongs to the parent.
            _ = Unmanaged.passRetained(session)
            session = LogSession(isLossless: options.isLossless)
            do throws(NetworkError) {
                try LogWriter(LogDirectory(path: directory), options, session).start()
                OpenLogs.add(session)
            } catch {
                session.queue.close()
                session.queue.end()
            }
            return session
        }
    }
}

extension LogQueue {
    /// Calls back when all earlier jobs are written, or immediately if the queue is closed.
    func call(_ body: @escaping @Sendable () -> Void) {
        if !add(LogJob(exchange: 0, work: .call(body), bytes: 0)) { body() }
    }
}

extension LogEntry {
    /// The entry with its request body decoded, in case another tool wrote it content-coded.
    var decoded: LogEntry {
        guard case .data(let data)? = request.body?.content, request.coding != nil else { return self }
        var entry = self
        let readable = request.readable(data)
        entry.request.body?.content = readable.map { .data($0) } ?? .omitted("unredactable")
        entry.request.body?.size = Int64(readable?.count ?? -1)
        return entry
    }

    fileprivate var withoutFiles: LogEntry {
        var entry = self
        func left(_ body: Body) -> Body {
            guard case .file = body.content else { return body }
            return Body(.omitted("elsewhere"), mediaType: body.mediaType, size: body.size)
        }
        entry.request.body = entry.request.body.map(left)
        if let body = entry.response?.body { entry.response?.body = left(body) }
        return entry
    }
}

/// The open sessions of this process, which are written before the process ends.
private enum OpenLogs {
    private struct Weak: Sendable {
        weak let session: LogSession?
    }

    private static let sessions = Lock<[Weak]>([])
    private static let exitTimeout = 1.0
    private static let isWatching: Bool = {
        // Functions registered with `atexit` run in reverse order, and OpenSSL registers its cleanup on first use. This
        // use makes ours run before, because the writer still computes digests of bodies. If libcrypto is missing, the
        // writer reports it.
        do throws(NetworkError) { _ = try SHA256Digest.hex(of: Data()) } catch {}
        return atexit { OpenLogs.close() } == 0
    }()

    static func add(_ session: LogSession) {
        _ = isWatching
        sessions.withLock { sessions in
            sessions.removeAll { $0.session == nil }
            sessions.append(Weak(session: session))
        }
    }

    private static func close() {
        let process = getpid()
        let deadline = DispatchTime.now() + exitTimeout
        for session in sessions.withLock({ $0.compactMap(\.session) }) where session.process == process {
            let isWritten = DispatchSemaphore(value: 0)
            session.queue.close()
            session.queue.callAtEnd { isWritten.signal() }
            _ = isWritten.wait(timeout: deadline)
        }
    }
}
