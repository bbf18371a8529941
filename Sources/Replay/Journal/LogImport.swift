import BeagleNet
import BeagleNetHTTP
import CBeagleNetCurl
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

/// An import of entries recorded elsewhere into a new log, without their secrets.
///
/// The log appears only when it is complete.
package final class LogImport {
    /// The problems found so far, such as bodies whose files cannot be read.
    package private(set) var warnings: [Recording.Warning] = []
    /// The number of places from which secrets were removed; known after `finish()`.
    package private(set) var redactions = 0

    private let path: String
    /// The temporary path to which the log is written.
    private let part: String
    private let log: RequestLog
    private let redactor: Redactor
    private let firstErrorLogger = FirstErrorLogger()
    /// The new identifiers of entries, by their old ones.
    private var ids: [String: String] = [:]
    /// The number of entries and messages.
    private var count = 0
    private var redactionsBefore = 0

    /// Returns whether a path has the name of a log, which ends in `.bglog`.
    package static func isLog(named path: String) -> Bool { withoutTrailingSlashes(path).hasSuffix(".bglog") }

    /// Creates a log at a temporary path.
    ///
    /// - Parameter redactor: the redactor that removes secrets.
    /// - Throws: `NetworkError` of kind `.file` if the path exists already, or cannot be written.
    package init(to path: String, redactor: Redactor = Redactor()) throws(NetworkError) {
        self.path = Self.withoutTrailingSlashes(path)
        self.redactor = redactor
        try Self.checkIsUnused(self.path)
        part = "\(self.path).\(UUID().uuidString).part"
        var options = RequestLog.Options()
        options.redactor = redactor
        options.isLossless = true
        (options.maxBodyBytes, options.maxBytes, options.maxAge) = (.max, .max, .seconds(Int64.max))
        options.logger = firstErrorLogger
        log = try RequestLog(directory: part, options: options)
    }

    /// Removes an unfinished log.
    deinit {
        guard access(part, F_OK) == 0 else { return }
        close()
        do { try FileManager.default.removeItem(atPath: part) } catch {}
    }

    /// Returns a path without trailing slashes.
    static func withoutTrailingSlashes(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }

    private static func checkIsUnused(_ path: String) throws(NetworkError) {
        guard access(path, F_OK) == 0 else { return }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, try LogDirectory(path: path).names().isEmpty {
            return
        }
        throw NetworkError(
            .file,
            during: .file,
            "\(path) already exists",
            advice: "use a directory that does not exist yet"
        )
    }

    /// Adds an entry.
    ///
    /// - Parameter recording: the recording from which the files of its bodies are read.
    package func write(_ entry: LogEntry, of recording: Recording) {
        let session = log.session
        let number = session.nextNumber()
        var entry = entry
        if !entry.id.isEmpty { ids[entry.id] = session.entryID(number).description }
        entry.parent = entry.parent.flatMap { ids[$0] }
        entry.request.body = entry.request.body.map { read($0, recording) }
        if let body = entry.response?.body { entry.response?.body = read(body, recording) }
        entry = entry.decoded
        redactionsBefore += entry.redactions.count
        let messages = entry.messages
        count += 1 + messages.count
        entry.messages = []
        let head = LogJob.ClosureDraft(redactor: redactor) { [entry] in entry.withoutBodies }
        if !messages.isEmpty { add(.start(head), number) }
        for message in messages { add(.message(message, redactor), number, bytes: message.data.count) }
        let bodies = [entry.request.body, entry.response?.body].reduce(0) { $0 + ($1?.bytesInMemory ?? 0) }
        add(.end(LogJob.ClosureDraft(redactor: redactor) { [entry] in entry }), number, bytes: bodies)
    }

    private func add(_ work: LogJob.Work, _ number: Int, bytes: Int = 0) {
        log.session.queue.add(LogJob(exchange: number, work: work, bytes: LogJob.headBytes + bytes))
    }

    /// Returns a body with the contents of its file, because the log names body files by their digest.
    private func read(_ body: LogEntry.Body, _ recording: Recording) -> LogEntry.Body {
        guard case .file(let name) = body.content else { return body }
        var body = body
        do throws(NetworkError) {
            body.content = .data(try recording.data(of: body))
        } catch {
            body.content = .omitted("not found")
            warnings.append(Recording.Warning(file: path, reason: "\(name) was left out: \(error.message)"))
        }
        return body
    }

    /// Waits until all entries are written, and moves the log to its path.
    ///
    /// - Throws: `NetworkError` of kind `.file` if something could not be written; the path then remains unused.
    package func finish() throws(NetworkError) {
        close()
        if let fault = firstErrorLogger.first.withLock({ $0 }) { throw fault }
        var written = 0
        for entry in try RequestLog.Reader(directory: part).entries() {
            written += 1 + entry.messages.count
            redactions += entry.redactions.count
        }
        redactions -= redactionsBefore
        guard written == count else {
            throw NetworkError(.file, during: .file, "\(count - written) of \(count) records are too large for a log")
        }
        guard rename(part, path) == 0 else { throw .file("cannot rename \(part) to", path, errno) }
    }

    private func close() {
        let isWritten = DispatchSemaphore(value: 0)
        log.session.queue.close()
        log.session.queue.callAtEnd { isWritten.signal() }
        isWritten.wait()
    }
}

/// A logger that stores the first error.
private final class FirstErrorLogger: BeagleLogger {
    let first = Lock<NetworkError?>(nil)

    func log(_ log: any LogType) {
        guard let log = log as? RecordingStopped else { return }
        first.withLock { $0 = $0 ?? log.error }
    }
}

extension LogEntry {
    fileprivate var withoutBodies: LogEntry {
        var entry = self
        entry.request.body = nil
        entry.response?.body = Body()
        return entry
    }
}

extension LogEntry.Body {
    fileprivate var bytesInMemory: Int {
        if case .data(let data) = content { return data.count }
        return 0
    }
}
