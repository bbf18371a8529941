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

/// A journal of requests and their answers in a directory `NAME.bglog`, without secrets.
///
/// ```swift
/// let log = try RequestLog(directory: "/var/log/app.bglog")
/// dependencies.interceptors.add(RecordInterceptor(log))
/// ```
/// Each line of its files is a record (JSON Lines), written some milliseconds after something happens, or when ``flush()``
/// asks for it: what the process had written when it was killed is there, and what was under way then can be seen.
/// `LogReader` reads it, also meanwhile. Several processes may write into one directory; a child that `fork` made writes for
/// itself.
///
/// Who sends requests waits for nothing: one thread writes, and what it cannot keep up with is left out, bodies first, and
/// counted in the log. Secrets are taken out before anything is written; what cannot be told to be free of them is not
/// written. Where the disk does not take a record, recording rests for some seconds and the logger hears of it once.
/// Directories are for their owner alone (0700), and so are files (0600).
public final class RequestLog: Sendable {
    /// The directory.
    public let directory: String
    /// What is written, and how much.
    public let options: Options
    private let current: Lock<LogSession>

    /// Opens a log, or makes one.
    ///
    /// - Parameters:
    ///   - directory: made where it is not there, with those above it.
    ///   - options: what is written, and how much.
    /// - Throws: `NetworkError` of kind `.file` where nothing can be written there, or something else is there.
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

    /// Lets what is queued be written.
    deinit {
        let session = current.withLock { $0 }
        // A parent's is the parent's to close.
        if session.process == getpid() { session.queue.close() }
    }

    /// Writes an entry that came from elsewhere, without its secrets.
    ///
    /// Its `id` is made anew; bodies in files are left out.
    public func append(_ entry: LogEntry) {
        let session = session
        let bytes = [entry.request.body, entry.response?.body].reduce(LogJob.headBytes) { bytes, body in
            if case .data(let data)? = body?.content { return bytes + data.count }
            return bytes
        }
        let draft = LogJob.Draft(redactor: Redactor()) { entry.decoded.withoutFiles }
        session.queue.add(
            LogJob(
                exchange: session.nextNumber(),
                work: .end(draft),
                bytes: bytes,
                isFailure: entry.error != nil
            )
        )
    }

    /// Writes words for whoever reads the log, without their secrets.
    public func note(_ text: String) {
        session.queue.add(LogJob(exchange: 0, work: .note(text), bytes: text.utf8.count))
    }

    /// Waits until everything that was recorded before is written: it outlives the end of the process then, and with
    /// `Durability.power` a loss of power.
    public func flush() async {
        let queue = session.queue
        await withUnsafeContinuation { continuation in
            queue.call { continuation.resume() }
        }
    }

    /// Waits, on this thread, until everything that was recorded before is written.
    package func waitUntilWritten() {
        let isWritten = DispatchSemaphore(value: 0)
        session.queue.call { isWritten.signal() }
        isWritten.wait()
    }

    /// Ends the log after what was recorded before; what comes later is not recorded.
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
            // The parent's thread is not here, and what is queued is the parent's to write.
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
    /// Calls back when everything before is written; at once where nothing is written any more.
    func call(_ body: @escaping @Sendable () -> Void) {
        if !add(LogJob(exchange: 0, work: .call(body), bytes: 0)) { body() }
    }
}

extension LogEntry {
    /// What it sent is without the coding that others write it in.
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
        func left(_ body: LoggedBody) -> LoggedBody {
            guard case .file = body.content else { return body }
            return LoggedBody(.omitted("elsewhere"), mediaType: body.mediaType, size: body.size)
        }
        entry.request.body = entry.request.body.map(left)
        if let body = entry.response?.body { entry.response?.body = left(body) }
        return entry
    }
}

/// The sessions of this process: what is queued when it ends is written before it has ended.
private enum OpenLogs {
    private struct Weak: Sendable {
        weak let session: LogSession?
    }

    private static let sessions = Lock<[Weak]>([])
    private static let patience = 1.0
    private static let isWatching: Bool = {
        // What is registered last is called first, and OpenSSL registers the end of its own when it is first used: the
        // writer names bodies by their digests until ours is over. Where there is no libcrypto, the writer says so.
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
        let deadline = DispatchTime.now() + patience
        for session in sessions.withLock({ $0.compactMap(\.session) }) where session.process == process {
            let isWritten = DispatchSemaphore(value: 0)
            session.queue.close()
            session.queue.callAtEnd { isWritten.signal() }
            _ = isWritten.wait(timeout: deadline)
        }
    }
}
