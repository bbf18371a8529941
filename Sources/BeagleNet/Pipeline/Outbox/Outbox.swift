import BeagleNetDependencies
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Operations on disk that are sent in their order, as soon as that can be done: forms and mutations outlive a lost network
/// and the end of the process.
///
/// ```swift
/// let outbox = Outbox(directory: "\(folder)/outbox")
/// dependencies.interceptors.add(OutboxInterceptor(outbox))
/// // As soon as somebody is signed in: credentials are not kept.
/// let sending = outbox.sendAutomatically(with: client, whenNetworkReturns: networkReturns)
/// ```
///
/// An `OutboxInterceptor` puts operations into it. An entry is on the disk before its first byte is sent, and is removed
/// when the server has answered definitely: with any status except 408, 425, 429 and those from 500 on (501 is definite).
/// A message that may have been sent before, or whose answer nobody hears, stays after 401, 407 and 409 as well: its
/// credentials are to be renewed, or the server still works on the first. Everything else keeps it, errors of what was
/// asked in order to send it among that: whoever waits for the answer gets an error that `isKept`, and the entry is sent
/// again with the same `Idempotency-Key`. A server that heeds the key (draft-ietf-httpapi-idempotency-key-header) acts once.
///
/// An answer counts where it comes from the server (`Result.source`) with a status, and a failure where its `request`
/// carries the entry's key, as those of `StatusInterceptor` and of the transports do. A success to which a redirect has led
/// with a GET is another page's, a confirmation or a page to sign in at: after 303 the entry is done, after 301 and 302 it is
/// refused as `redirected`, unless the app's `isDelivered` says otherwise. Servers that answer forms with 302 need one.
///
/// Entries of a queue go out one after another in the order in which they were written; while the oldest cannot be sent,
/// none of the queue is. Queues do not wait for each other.
///
/// What the server refuses while nobody waits for its answer is not lost: it stays as `.refused`, until `retry` or
/// `remove` is called.
///
/// The files are the owner's alone (mode 0600), and so is the directory (0700) where the outbox has made it; one that was
/// there stays as it is. Bodies and URLs are in them in clear text, unless the outbox has an ``OutboxKey``. Credentials are not: fields that the client's redactor
/// takes for secret, and those that belong to the origin, are left out and brought anew when the entry is sent. Give each
/// person who may sign in a directory of their own, or what one has written goes out with the credentials of another.
///
/// Several processes may put entries into one directory; one of them at a time sends.
public final class Outbox: Sendable {
    /// How much an outbox takes. What would be more is refused before anything is sent.
    public struct Limits: Sendable, Hashable {
        /// Entries in all, the refused ones included. 1,000.
        public var maxEntries: Int
        /// Bytes of the files of all entries, the refused ones included; what is damaged and was moved aside comes to them.
        /// 64 MiB.
        public var maxBytes: Int
        /// Bytes of one file: the body, and some hundred more for the head. A body is in memory while it is written and
        /// sent, two or three times. 16 MiB.
        public var maxEntryBytes: Int
        /// How old an entry may become, by the system's clock, before it is `.refused("expired")` instead of being sent;
        /// nil, the default, for any age. A clock that jumps ahead makes entries too old: they are in the report of
        /// `flush` and in the sender's log, stay in the outbox, and are as new after `retry`.
        public var maxAge: Duration?

        /// The documented limits.
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

    /// An operation of this process whose answer somebody may wait for.
    struct Live: Sendable {
        var queue: String
        /// How many are about to wait for its answer.
        var comers = 0
        /// The answer, where it came before all of them waited.
        var outcome: Outcome?
        /// Sends it: that of the first who waits, until it is taken.
        var turn: OutboxTurn?
        /// Whether it is on the disk.
        var isWritten = false
        /// Whether it was written anew here, and never sent.
        var isUnsent = false
        var completions: [Int: Completion] = [:]
    }

    /// Where a file goes that is not to be sent any more.
    struct Settlement: Sendable {
        /// Why it is kept aside; nil where it is removed.
        let reason: String?
    }

    /// The sending of one queue.
    struct Run: Sendable {
        let number: Int
        let task: Task<Report, Never>
        /// Whether something has changed since it looked last.
        var isAskedAgain = false
        /// Whether what is being sent is worth another try where it fails.
        var isWantedAnew = false
    }

    struct State: Sendable {
        var live: [String: Live] = [:]
        var lastNumber = 0
        /// The last one of each queue, where it is not over: one before it that was cancelled may still be.
        var runs: [String: Run] = [:]
        var lastRun = 0
        var sending: Set<String> = []
        /// What is not to be sent any more and could not be cleared away yet.
        var settled: [String: Settlement] = [:]
        /// The names of files that the last run of a queue has seen.
        var seen: [String: Set<String>] = [:]
        /// Who sends what nobody waits for: the latest.
        var clients: [(number: Int, client: any NetworkClient)] = []
        var listeners: [Int: AsyncStream<[Entry]>.Continuation] = [:]
        /// Told what came of the sending of a queue.
        var watchers: [Int: @Sendable (String, Report) -> Void] = [:]

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    let state = Lock(State())
    /// Held while listeners are told, so that what they hear last is what there is.
    private let telling = Lock(())
    let files: OutboxFiles
    let right: OutboxRight
    let line = OutboxLine()
    /// How much it takes.
    public let limits: Limits
    /// Why what is too old is refused.
    static let expired = "expired"
    /// Whether a success that is another page's means that an entry is done.
    let isDelivered: @Sendable (Entry, NetworkResponse) -> Bool
    /// Seconds since 1970.
    let now: @Sendable () -> Double

    /// An outbox.
    ///
    /// - Parameters:
    ///   - directory: where the files are; made with the first entry, for its owner alone. One object for each directory and
    ///     process.
    ///   - limits: how much it takes.
    ///   - key: encrypts entries on the disk, so that nothing of them but their number, their sizes and the names of their
    ///     files can be read without it; `nil`, the default, writes clear text. Entries that were written in clear text are
    ///     read with a key too. Those of another key stay where they are, and are reported as damages are.
    ///   - isDelivered: whether an entry is done to which a redirect to another page was the answer, given the entry and that
    ///     page's answer in 200...299, whose `url` and `metrics.hops` tell the way; `isSeeOther` by default. Asked on any
    ///     thread where the method became GET on the way, and the client tells hops as ours do.
    public convenience init(
        directory: String,
        limits: Limits = Limits(),
        key: OutboxKey? = nil,
        isDelivered: @escaping @Sendable (Entry, NetworkResponse) -> Bool = Outbox.isSeeOther
    ) {
        self.init(directory: directory, limits: limits, key: key, isDelivered: isDelivered) {
            Date().timeIntervalSince1970
        }
    }

    package init(
        directory: String,
        limits: Limits = Limits(),
        key: OutboxKey? = nil,
        isDelivered: @escaping @Sendable (Entry, NetworkResponse) -> Bool = Outbox.isSeeOther,
        now: @escaping @Sendable () -> Double
    ) {
        files = OutboxFiles(directory: directory, limits: limits, key: key)
        right = OutboxRight(files)
        self.limits = limits
        self.isDelivered = isDelivered
        self.now = now
    }

    deinit {
        for listener in state.withLock({ $0.listeners.values }) { listener.finish() }
    }
}

// MARK: - What is in it

extension Outbox {
    /// The entries in their order, refused ones last; what is damaged is moved aside, and the next report tells of it.
    ///
    /// It reads the directory, and each file the first time, before it returns: not for the main thread. `changes` reads
    /// elsewhere.
    ///
    /// - Throws: `NetworkError` of kind `.file` where the directory cannot be read.
    public func entries() throws(NetworkError) -> [Entry] {
        let files = try files.all()
        let sending = state.withLock { $0.sending }
        return files.map { file in
            var entry = file.entry
            if !file.isRefused, sending.contains(entry.id) { entry.state = .sending }
            return entry
        }
    }

    /// What there is, and why other files are no entries; all stays as it is.
    package func look() throws(NetworkError) -> (entries: [Entry], damages: [NetworkError]) {
        let (files, damages) = try files.look()
        return (files.map(\.entry), damages)
    }

    /// Why files are no entries that no report has told of yet.
    package func takeDamages() -> [NetworkError] { files.takeDamages() }

    /// The entries now, and again after each change that this object makes, read on no caller's thread. Who is slow hears the
    /// latest only.
    public var changes: AsyncStream<[Entry]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [Entry].self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            let number = state.nextNumber()
            state.listeners[number] = continuation
            return number
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[number] = nil } }
        Task.detached { self.tell() }
        return stream
    }

    /// Takes an entry out, whatever its state, before it returns. One that is being sent may reach the server all the same.
    ///
    /// - Returns: whether it was there.
    /// - Throws: `NetworkError` of kind `.file` where it cannot be removed.
    @discardableResult
    public func remove(_ id: Entry.ID) throws(NetworkError) -> Bool {
        guard let file = try files.all().first(where: { $0.entry.id == id }) else { return false }
        try files.remove(file)
        tell()
        // Whoever waits for it hears that it is gone.
        if !file.isRefused { run([file.entry.queue]) }
        return true
    }

    /// Lets a refused entry wait again, behind all others of its queue. One that was too old counts as accepted now.
    ///
    /// - Returns: whether it was there and refused.
    /// - Throws: `NetworkError` of kind `.file` where it cannot be moved.
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
        tell()
        if state.withLock({ !$0.clients.isEmpty }) { run([file.entry.queue]) }
        return true
    }

    /// Tells a log what was found wrong with files.
    func tellLog(_ logger: any BeagleLogger) {
        for error in files.takeUnlogged() where logger.accepts(.warning) {
            let advice = error.advice.map { "; \($0)" } ?? ""
            logger.log(OutboxLogMessage(level: .warning, message: error.message + advice))
        }
    }

    /// Tells those who listen what there is.
    func tell() {
        if state.withLock({ $0.listeners.isEmpty }) { return }
        telling.withLock { _ in
            do throws(NetworkError) {
                let entries = try entries()
                for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(entries) }
            } catch {
                // Read again with the next change; until then a log says why not.
                files.note(error)
            }
        }
    }
}
