import BeagleNetDependencies
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A queue of operations on disk that are sent in order, as soon as possible.
///
/// With it, forms and mutations survive a lost network and the end of the process.
///
/// ```swift
/// let outbox = Outbox(directory: "\(folder)/outbox")
/// dependencies.interceptors.add(OutboxInterceptor(outbox))
/// // Once a user is signed in: credentials are not stored.
/// let sending = outbox.sendAutomatically(with: client, whenNetworkReturns: networkReturns)
/// ```
///
/// An `OutboxInterceptor` adds the operations. An entry is on disk before its first byte is sent. It is removed when
/// the server has given a definite response: any status except 408, 425, 429 and those from 500 on (501 is definite).
/// For a message that may have been sent before, or whose response has no subscriber, 401, 407 and 409 aren't definite
/// either: the credentials must be renewed, or the server is still processing the first message.
///
/// After any other outcome the entry stays, including errors of prerequisite requests, such as fetching a token.
/// Callers that wait for the response get an error that `isStoredInOutbox`, and the entry is sent again with the same
/// `Idempotency-Key`. A server that supports the key (draft-ietf-httpapi-idempotency-key-header) acts once.
///
/// A response counts if it comes from the server (`Result.source`) and has a status. An error counts if its `request`
/// has the entry's key, as errors of `StatusInterceptor` and of the transports do. After a redirect that continues with
/// a GET, a success belongs to another page, such as a confirmation or a sign-in page. After 303 the entry is
/// delivered; after 301 and 302 it is refused as `redirected`, unless the app's `isDelivered` decides otherwise.
/// Servers that respond to forms with 302 need such a function.
///
/// Entries of a queue are sent one after another, in the order in which they were written. While the oldest can't be
/// sent, no other entry of the queue is. Queues don't wait for each other.
///
/// An entry that the server refuses while no caller waits for its response isn't lost: it stays as `.refused` until
/// `retry` or `remove` is called.
///
/// Only the owner can read the files (mode 0600), and the directory (0700) if the outbox has created it; an existing
/// directory keeps its mode. Files contain bodies and URLs in clear text, unless the outbox has an ``Outbox/Key``. They
/// don't contain credentials: fields that the client's redactor treats as secret and origin-scoped fields are left out,
/// and are added again when the entry is sent. Give each user a directory, because otherwise the entries of one user
/// would be sent with the credentials of another.
///
/// Several processes may add entries to one directory; only one of them sends at a time.
public final class Outbox: Sendable {
    /// The limits of an outbox.
    ///
    /// Operations that exceed them are rejected before anything is sent.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of entries, including refused ones. 1,000 by default.
        public var maxEntries: Int
        /// The maximum size of the files of all entries, including refused ones, in bytes.
        ///
        /// Damaged files that were moved aside don't count. 64 MiB by default.
        public var maxBytes: Int
        /// The maximum size of one file, in bytes: the body, and a few hundred bytes for the head.
        ///
        /// While a body is written and sent, it is in memory two or three times. 16 MiB by default.
        public var maxEntryBytes: Int
        /// The maximum age of an entry by the system's clock; `nil`, the default, for no limit.
        ///
        /// An older entry becomes `.refused("expired")` and isn't sent.
        ///
        /// A clock that jumps ahead makes entries too old. They are in the report of `flush` and in the sender's log,
        /// and stay in the outbox; `retry` resets their age.
        public var maxAge: Duration?

        /// Creates limits with the documented defaults.
        public init(
            maxEntries: Int = 1_000,
            maxBytes: Int = 64 << 20,
            maxEntryBytes: Int = 16 << 20,
            maxAge: Duration? = nil
        ) {
            self.maxEntries = maxEntries
            self.maxBytes = maxBytes
            self.maxEntryBytes = maxEntryBytes
            self.maxAge = maxAge
        }
    }

    typealias Outcome = Result<NetworkOperation.Result, NetworkError>
    typealias Completion = @Sendable (Outcome) -> Void

    /// An operation of this process with callers that may wait for its response.
    struct Live: Sendable {
        var queue: String
        /// The number of callers that are about to wait for the response.
        var pendingWaiters = 0
        /// The outcome, if it arrived before all of these callers waited.
        var outcome: Outcome?
        /// The first waiting caller's turn to send, until it is taken.
        var sendTask: OutboxSendTask?
        /// Whether the operation is on disk.
        var isWritten = false
        /// Whether this process has written the operation and it was never sent.
        var isUnsent = false
        var completions: [Int: Completion] = [:]
    }

    /// The handling of a file that isn't sent any more.
    struct Settlement: Sendable {
        /// The reason why the entry is refused and moved aside; `nil` if the file is removed.
        let reason: String?
    }

    /// The sending of one queue.
    struct Run: Sendable {
        let number: Int
        let task: Task<Report, Never>
        /// Whether the queue must be checked again because it may have new entries.
        var needsRecheck = false
        /// Whether the entry that is being sent is retried if it fails.
        var retriesOnFailure = false
    }

    struct State: Sendable {
        var live: [String: Live] = [:]
        var lastNumber = 0
        /// The last run of each queue, unless it is over.
        ///
        /// An earlier run that was cancelled may still be finishing.
        var runs: [String: Run] = [:]
        var lastRun = 0
        var sending: Set<String> = []
        /// The files that aren't sent any more but couldn't be removed or moved yet.
        var settled: [String: Settlement] = [:]
        /// The names of the files that the last run of each queue has seen.
        var seen: [String: Set<String>] = [:]
        /// The clients that send entries without a waiting caller; the latest one is used.
        var clients: [(number: Int, client: any NetworkClient)] = []
        var entrySubscribers: [Int: AsyncStream<[Entry]>.Continuation] = [:]
        /// The closures that are called with the report on the sending of a queue.
        var reportHandlers: [Int: @Sendable (String, Report) -> Void] = [:]

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    let state = Lock(State())
    /// A lock that is held while subscribers are notified, so that the last notification has the latest entries.
    private let notificationLock = Lock(())
    let files: OutboxFiles
    let sendLock: OutboxSendLock
    let writeQueue = OutboxWriteQueue()
    /// The limits of the outbox.
    public let limits: Limits
    /// The refusal reason of entries that are too old.
    static let expired = "expired"
    /// Whether a success after a redirect to another page means that an entry is delivered.
    let isDelivered: @Sendable (Entry, NetworkResponse) -> Bool
    /// Returns the current time, in seconds since 1970.
    let now: @Sendable () -> Double

    /// Creates an outbox.
    ///
    /// - Parameters:
    ///   - directory: The directory of the files. It is created with the first entry, for its owner alone. Use one
    ///     object for each directory and process.
    ///   - limits: The limits of the outbox.
    ///   - key: Encrypts entries on disk, so that without the key only their number, their sizes and the names of their
    ///     files can be read; `nil`, the default, for clear text. With a key, entries in clear text can still be read.
    ///     Entries with another key stay in place and are reported like damaged ones.
    ///   - isDelivered: Returns whether an entry is delivered after a redirect to another page. It receives the entry
    ///     and that page's response with a status in 200...299, whose `url` and `metrics.hops` describe the redirects;
    ///     `isSeeOther` by default. It is called on any thread if a redirect has changed the method to GET and the
    ///     client reports hops as ours do.
    public convenience init(
        directory: String,
        limits: Limits = Limits(),
        key: Key? = nil,
        isDelivered: @escaping @Sendable (Entry, NetworkResponse) -> Bool = Outbox.isSeeOther
    ) {
        self.init(directory: directory, limits: limits, key: key, isDelivered: isDelivered) {
            Date().timeIntervalSince1970
        }
    }

    package init(
        directory: String,
        limits: Limits = Limits(),
        key: Key? = nil,
        isDelivered: @escaping @Sendable (Entry, NetworkResponse) -> Bool = Outbox.isSeeOther,
        now: @escaping @Sendable () -> Double
    ) {
        files = OutboxFiles(directory: directory, limits: limits, key: key)
        sendLock = OutboxSendLock(files)
        self.limits = limits
        self.isDelivered = isDelivered
        self.now = now
    }

    deinit {
        for listener in state.withLock({ $0.entrySubscribers.values }) { listener.finish() }
    }
}

// MARK: - What is in it

extension Outbox {
    /// Returns the entries in order, refused ones last.
    ///
    /// Damaged entries are moved aside and listed in the next report.
    ///
    /// Don't call this on the main thread: it reads the directory and each new file before it returns. Use `changes`
    /// there.
    ///
    /// - Throws: A `NetworkError` of kind `.file` if the directory can't be read.
    public func entries() throws(NetworkError) -> [Entry] {
        let files = try files.all()
        let sending = state.withLock { $0.sending }
        return files.map { file in
            var entry = file.entry
            if !file.isRefused, sending.contains(entry.id) { entry.state = .sending }
            return entry
        }
    }

    /// Returns the entries, and errors for other files, without changing anything.
    package func look() throws(NetworkError) -> (entries: [Entry], damages: [NetworkError]) {
        let (files, damages) = try files.look()
        return (files.map(\.entry), damages)
    }

    /// Returns errors for damaged files that no report has listed yet.
    package func takeDamages() -> [NetworkError] { files.takeDamages() }

    /// The entries now, and again after each change by this object.
    ///
    /// They are read in the background. A slow subscriber gets only the latest.
    public var changes: AsyncStream<[Entry]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [Entry].self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            let number = state.nextNumber()
            state.entrySubscribers[number] = continuation
            return number
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.entrySubscribers[number] = nil } }
        Task.detached { self.notifySubscribers() }
        return stream
    }

    /// Removes an entry, whatever its state, before it returns.
    ///
    /// An entry that is being sent may still reach the server.
    ///
    /// - Returns: Whether the entry was present.
    /// - Throws: A `NetworkError` of kind `.file` if it can't be removed.
    @discardableResult
    public func remove(_ id: Entry.ID) throws(NetworkError) -> Bool {
        guard let file = try files.all().first(where: { $0.entry.id == id }) else { return false }
        try files.remove(file)
        notifySubscribers()
        // Callers that wait for the entry are notified that it is gone.
        if !file.isRefused { run([file.entry.queue]) }
        return true
    }

    /// Moves a refused entry back to the end of its queue.
    ///
    /// An expired one counts as accepted now.
    ///
    /// - Returns: Whether the entry was present and refused.
    /// - Throws: A `NetworkError` of kind `.file` if it can't be moved.
    @discardableResult
    public func retry(_ id: Entry.ID) throws(NetworkError) -> Bool {
        guard let file = try files.all().first(where: { $0.entry.id == id && $0.isRefused }) else { return false }
        if file.entry.state == .refused(Self.expired) {
            var message = try files.message(of: file)
            message.accepted = now()
            _ = try files.write(message)
        } else {
            try files.retry(file)
        }
        notifySubscribers()
        if state.withLock({ !$0.clients.isEmpty }) { run([file.entry.queue]) }
        return true
    }

    /// Logs problems with files.
    func logProblems(_ logger: any BeagleLogger) {
        for error in files.takeUnlogged() where logger.accepts(.warning) {
            let advice = error.advice.map { "; \($0)" } ?? ""
            logger.log(OutboxLogMessage(level: .warning, message: error.message + advice))
        }
    }

    /// Notifies subscribers of the current entries.
    func notifySubscribers() {
        if state.withLock({ $0.entrySubscribers.isEmpty }) { return }
        notificationLock.withLock { _ in
            do throws(NetworkError) {
                let entries = try entries()
                for listener in state.withLock({ Array($0.entrySubscribers.values) }) { listener.yield(entries) }
            } catch {
                // The next change reads the directory again; until then, the log contains the error.
                files.note(error)
            }
        }
    }
}
