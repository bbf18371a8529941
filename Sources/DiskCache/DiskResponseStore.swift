public import BeagleNetCache
public import BeagleNetHTTP
import Dispatch
import Foundation
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
import GRDB

/// Stores responses on the disk: an SQLite database, and a file for each large body.
///
/// ```swift
/// let disk = try DiskResponseStore(folder: "\(caches)/responses")
/// dependencies.interceptors.add(CacheInterceptor(TieredResponseStore(disk: disk)))
/// ```
///
/// Several processes may use the same folder. The least recently used responses are evicted if there are too many
/// bytes. Every response is checked against its digest when it is read; a damaged one is removed.
///
/// Request fields, users, and URLs with their queries never stand on the disk in plain text: keyed digests take their
/// place. Responses do, unless there is an encryption key, but never their `Set-Cookie` fields. A response whose URL,
/// after redirects, has another query than that of its key loses that query, unless there is an encryption key.
///
/// The store never throws after it was opened. A response that can't be written, as to a full disk, isn't stored, and
/// one that can't be read is a miss; both are reported.
public final class DiskResponseStore: ResponseStore {
    /// The default size limit of a store: 150 MiB.
    public static let defaultMaxBytes = 150 << 20
    /// Larger bodies have a file of their own.
    static let mostInlineBytes = 64 << 10
    /// The shortest time between two notes that a response was used.
    private static let touchInterval: Int64 = 60_000

    /// The path of the folder.
    public let folder: String
    /// The most bytes to hold: bodies, fields and overhead, each response in whole pages of 4 KiB.
    public let maxBytes: Int

    private let cipher: ResponseCipher?
    private let settings: Settings
    private let onProblem: (@Sendable (NetworkError) -> Void)?
    let files: BodyFiles
    private let database: Lock<ResponseDatabase>
    /// Whether a wrong encryption key was reported.
    private let hasReportedKey = Lock(false)
    private let removalCount = Lock(0)
    /// All writing, in order.
    private let writing = DispatchQueue(label: "DiskResponseStore.writing", qos: .utility)
    /// Reading of large bodies.
    private let reading = DispatchQueue(label: "DiskResponseStore.reading", attributes: .concurrent)

    /// Settings that tests change.
    package struct Settings: Sendable {
        /// The time to wait for another process, in seconds.
        package var busyTimeout = 5.0
        /// The minimum age of files without a response to be removed, in seconds.
        var unusedFileAge = 3_600
        var now: @Sendable () -> Date = { Date() }
        /// Whether the database must exist, and is neither replaced nor made smaller.
        var isForInspection = false

        package init() {}
    }

    /// Opens the store in a folder, and creates it if necessary.
    ///
    /// A damaged database, or one of a newer version of this library, is moved aside and reported, and an empty one is
    /// created.
    ///
    /// - Parameters:
    ///   - folder: The path of a folder that nothing else uses. A new folder is accessible only to its owner, and so
    ///     are all files.
    ///   - maxBytes: The most bytes to hold, 150 MiB by default. A response of more than a quarter of it isn't stored.
    ///     SQLite's write-ahead log takes up to about 4 MiB in addition.
    ///   - encryptionKey: A key of 32 random bytes with which bodies, fields and URLs are encrypted (AES-256-GCM);
    ///     `nil`, the default, doesn't encrypt. Responses that were stored in plain text before are removed. Responses
    ///     of another key are misses, which is reported once.
    ///   - onProblem: Called if responses can't be read or written; on any thread. It gets no secrets.
    /// - Throws: `NetworkError` of kind `.file` if the folder can't be written, or `.badConfiguration` if the key
    ///   hasn't 32 bytes.
    public convenience init(
        folder: String,
        maxBytes: Int = DiskResponseStore.defaultMaxBytes,
        encryptionKey: Data? = nil,
        onProblem: (@Sendable (NetworkError) -> Void)? = nil
    ) throws(NetworkError) {
        try self.init(
            folder: folder,
            maxBytes: maxBytes,
            encryptionKey: encryptionKey,
            settings: Settings(),
            onProblem: onProblem
        )
    }

    /// Opens an existing store to inspect it or to remove responses, whatever its size limit.
    ///
    /// Nothing is created or evicted, and a damaged database isn't moved aside.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder.
    ///   - encryptionKey: The key with which the responses were stored; `nil`, the default, if they aren't encrypted.
    ///   - onProblem: Called if responses can't be read or written; on any thread. It gets no secrets.
    /// - Throws: `NetworkError` of kind `.file` if there is no database in the folder or it can't be opened,
    ///   `.decoding` if it is damaged, `.unsupported` if a newer version of this library wrote it, or
    ///   `.badConfiguration` if the key hasn't 32 bytes.
    public convenience init(
        existing folder: String,
        encryptionKey: Data? = nil,
        onProblem: (@Sendable (NetworkError) -> Void)? = nil
    ) throws(NetworkError) {
        var settings = Settings()
        settings.isForInspection = true
        try self.init(
            folder: folder,
            maxBytes: .max,
            encryptionKey: encryptionKey,
            settings: settings,
            onProblem: onProblem
        )
    }

    /// Opens a store with other settings.
    package init(
        folder: String,
        maxBytes: Int = DiskResponseStore.defaultMaxBytes,
        encryptionKey: Data? = nil,
        settings: Settings,
        onProblem: (@Sendable (NetworkError) -> Void)? = nil
    ) throws(NetworkError) {
        cipher = if let encryptionKey { try ResponseCipher(key: encryptionKey) } else { nil }
        // The process may change its working directory later.
        let isAbsolute = folder.hasPrefix("/")
        self.folder = isAbsolute ? folder : "\(FileManager.default.currentDirectoryPath)/\(folder)"
        self.maxBytes = max(0, maxBytes)
        self.settings = settings
        self.onProblem = onProblem
        files = BodyFiles(path: self.folder)
        let database = try ResponseDatabase.open(
            in: self.folder,
            mustExist: settings.isForInspection,
            busyTimeout: settings.busyTimeout
        ) {
            onProblem?($0)
        }
        // Fails if libcrypto isn't available.
        _ = try database.digests.value("")
        self.database = Lock(database)
        if settings.isForInspection { return }
        do { try tidy(database) } catch { report("cannot tidy up", error, database) }
    }

    /// The open database.
    var currentDatabase: ResponseDatabase { database.withLock { $0 } }

    /// Removes what earlier processes left behind and what this one mustn't have.
    private func tidy(_ database: ResponseDatabase) throws {
        let removed = try database.pool.write { db in
            let table = ResponseTable(db: db)
            let inPlainText = cipher == nil ? [] : try table.removeAllInPlainText()
            return inPlainText + (try table.evict(toFit: maxBytes))
        }
        try files.remove(removed)
        try files.removeUnused(olderThan: settings.unusedFileAge) {
            try database.pool.read { try ResponseTable(db: $0).files() }
        }
    }

    /// Whether a response outlives the process and isn't too large.
    public func accepts(_ key: ResponseKey, byteCount: Int) -> Bool {
        key.isPersistent && byteCount <= maxBytes / 4
    }

    /// The keyed digest of a value, in hexadecimal. The key is random and belongs to the folder.
    public func digest(_ value: String) -> String {
        do throws(NetworkError) {
            return try currentDatabase.digests.value(value)
        } catch {
            // Responses with such a value aren't stored.
            report(error)
            return ""
        }
    }

    // MARK: - Reading

    /// The stored responses of a key. Damaged ones are removed.
    public func responses(for key: ResponseKey) async -> [StoredResponse] {
        guard key.isPersistent else { return [] }
        let database = currentDatabase
        do {
            // Without a hop to another thread: bodies in the database are small, and readers don't wait for writers.
            let rows = try database.rows(of: key)
            guard rows.contains(where: { $0.file != nil }) else { return open(rows, for: key, database) }
            return await withCheckedContinuation { continuation in
                reading.async { continuation.resume(returning: self.open(rows, for: key, database)) }
            }
        } catch {
            report("cannot read", error, database)
            return []
        }
    }

    private func open(_ rows: [ResponseRow], for key: ResponseKey, _ database: ResponseDatabase) -> [StoredResponse] {
        var (responses, used): ([StoredResponse], [Int64]) = ([], [])
        let now = milliseconds
        for row in rows {
            do throws(NetworkError) {
                let (head, body) = try contents(of: row)
                guard let fields = [StoredResponse.SelectingField](stored: row.selecting),
                    let response = StoredHead.decode(head, for: key, selectingFields: fields, body: body)
                else { throw .damagedResponse("its fields are malformed") }
                responses.append(response)
                // Also if the clock was set back.
                if abs(now - row.used) >= Self.touchInterval { used.append(row.id) }
            } catch {
                handle(error, row, database)
            }
        }
        if !used.isEmpty {
            writing.async { [used] in
                self.change("cannot write", database) { db in
                    try ResponseTable(db: db).touch(used, used: now)
                    return []
                }
            }
        }
        return responses
    }

    /// The head and the body of a row, checked and decrypted.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` if the response is damaged.
    func contents(of row: ResponseRow) throws(NetworkError) -> (head: Data, body: Data) {
        let head = try head(of: row)
        let stored = if let file = row.file { try files.read(file, count: row.bodyBytes) } else { row.body }
        guard let body = stored else { throw .damagedResponse("its body is missing or has another size") }
        guard body.count == row.bodyBytes, try SHA256Digest.bytes(of: body).elementsEqual(row.bodyDigest) else {
            throw .damagedResponse("its body was changed")
        }
        guard let head else { throw .wrongKey }
        guard let cipher else { return (head, body) }
        guard let body = try cipher.open(body, .body, of: row.key, row.selecting) else { throw .wrongKey }
        return (head, body)
    }

    /// The head of a row, checked and decrypted; `nil` if it has another encryption key.
    func head(of row: ResponseRow) throws(NetworkError) -> Data? {
        guard try SHA256Digest.bytes(of: row.head).elementsEqual(row.headDigest) else {
            throw .damagedResponse("its fields were changed")
        }
        guard row.isSealed == (cipher != nil) else { return nil }
        guard let cipher else { return row.head }
        return try cipher.open(row.head, .head, of: row.key, row.selecting)
    }

    private func handle(_ error: NetworkError, _ row: ResponseRow, _ database: ResponseDatabase) {
        if error.kind == .truncated {
            writing.async { self.discard(row, error, database) }
        } else if error.kind == .badConfiguration {
            let isFirst = hasReportedKey.withLock { hasReported in
                defer { hasReported = true }
                return !hasReported
            }
            if isFirst { report(error) }
        } else {
            report(error)
        }
    }

    /// Removes a damaged response, unless another process has removed it: then its file was removed, too.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    func discard(_ row: ResponseRow, _ error: NetworkError, _ database: ResponseDatabase) -> Bool {
        var isThere = false
        change("cannot write", database) { db in
            let table = ResponseTable(db: db)
            isThere = try table.has(row.id)
            return try table.remove(ids: [row.id])
        }
        if isThere { report(error) }
        return isThere
    }

    // MARK: - Writing

    /// Stores a response in the place of one that has the same selecting fields.
    ///
    /// - Parameters:
    ///   - response: A response whose selecting fields have the `digest` of their values. It isn't stored if they have
    ///     not, so that no value reaches the disk.
    ///   - key: A key that is persistent; otherwise nothing is stored.
    public func insert(_ response: StoredResponse, for key: ResponseKey) async {
        guard key.isPersistent else { return }
        await write { database in
            let digests = database.digests
            guard let selecting = try response.selectingFields.storedText() else { throw NetworkError.notDigested }
            let keyDigest = try digests.key(key)
            var head = StoredHead.encode(response, for: key, holdsSecrets: self.cipher != nil)
            var body = response.body
            guard head.count + body.count <= self.maxBytes / 4 else {
                self.change("cannot write", database) {
                    try ResponseTable(db: $0).remove(variant: selecting, of: keyDigest)
                }
                return
            }
            if let cipher = self.cipher {
                head = try cipher.seal(head, .head, of: keyDigest, selecting)
                body = try cipher.seal(body, .body, of: keyDigest, selecting)
            }
            let row = NewResponse(
                key: keyDigest,
                origin: try digests.origin(key),
                partition: try digests.partition(key.partition),
                selecting: selecting,
                isSealed: self.cipher != nil,
                head: head,
                headDigest: Data(try SHA256Digest.bytes(of: head)),
                body: body,
                bodyDigest: Data(try SHA256Digest.bytes(of: body))
            )
            try self.insert(row, database)
        }
    }

    private func insert(_ row: NewResponse, _ database: ResponseDatabase) throws {
        let (maxBytes, used) = (maxBytes, milliseconds)
        var file: String?
        if row.body.count > Self.mostInlineBytes {
            // Make room first, so that the file doesn't exceed the limit before its row is written.
            change("cannot write", database) { try ResponseTable(db: $0).evict(toFit: maxBytes, for: row.size) }
            file = try files.write(row.body)
        }
        let isStored = change("cannot write", database) { [file] db in
            try ResponseTable(db: db).insert(row, file: file, used: used, maxBytes: maxBytes)
        }
        if !isStored, let file { try files.remove([file]) }
    }

    /// The number of times that this process removed a user's or all responses.
    public var removals: Int { removalCount.withLock { $0 } }

    /// Removes the responses of a key.
    public func remove(_ key: ResponseKey) async {
        guard key.isPersistent else { return }
        await remove { digests in
            let digest = try digests.key(key)
            return { try $0.removeAll(ofKey: digest) }
        }
    }

    /// Removes the responses of an origin that a user has.
    public func removeAll(ofOriginOf key: ResponseKey) async {
        guard key.isPersistent else { return }
        await remove { digests in
            let digest = try digests.origin(key)
            return { try $0.removeAll(ofOrigin: digest) }
        }
    }

    /// Removes the responses of a user, and returns their space to the file system in the background. Databases that
    /// were moved aside are removed, too, because they may have some.
    public func removeAll(of partition: String) async {
        removalCount.withLock { $0 += 1 }
        await remove(thoroughly: true) { digests in
            let digest = try digests.partition(partition)
            return { try $0.removeAll(ofPartition: digest) }
        }
    }

    /// Removes all responses, and returns their space to the file system in the background.
    public func removeAll() async {
        removalCount.withLock { $0 += 1 }
        await remove(thoroughly: true) { _ in { try $0.removeAll() } }
    }

    private func remove(
        thoroughly: Bool = false,
        _ prepare: @escaping @Sendable (KeyDigests) throws -> (ResponseTable) throws -> [String]
    ) async {
        await write { database in
            let removal = try prepare(database.digests)
            self.change("cannot remove responses from", database) { try removal(ResponseTable(db: $0)) }
            guard thoroughly else { return }
            try ResponseDatabase.removeAside(in: ConfinedFolder(path: self.folder))
            self.returnSpace(database)
        }
    }

    /// Returns free pages to the file system in steps, so that other changes needn't wait for all of them. On the
    /// writing queue.
    private func returnSpace(_ database: ResponseDatabase) {
        do {
            if try database.returnSpace() { writing.async { self.returnSpace(database) } }
        } catch {
            report("cannot write", error, database)
        }
    }

    /// Returns the space of removed responses to the file system, for programs that end soon.
    package func finishReturningSpace() async {
        await write { database in
            while try database.returnSpace() {}
        }
    }

    /// Waits until all changes so far are written, for programs that end soon.
    package func finishWriting() async { await write { _ in } }

    /// Runs a change of the store on the writing queue. It doesn't stop if the task is cancelled, because a response
    /// that is invalid must be removed.
    func write(_ work: @escaping @Sendable (ResponseDatabase) throws -> Void) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            writing.async {
                let database = self.databaseInPlace()
                do { try work(database) } catch { self.report("cannot write", error, database) }
                continuation.resume()
            }
        }
    }

    /// Runs a transaction on the writing queue, and removes the files that it returns.
    ///
    /// - Returns: Whether it was committed.
    @discardableResult
    private func change(
        _ what: String,
        _ database: ResponseDatabase,
        _ change: (Database) throws -> [String]
    ) -> Bool {
        let removed: [String]
        do {
            removed = try database.pool.write(change)
        } catch {
            report(what, error, database)
            return false
        }
        do throws(NetworkError) { try files.remove(removed) } catch { report(error) }
        return true
    }

    /// The current time.
    var now: Date { settings.now() }

    private var milliseconds: Int64 { Int64(now.timeIntervalSince1970 * 1_000) }

    // MARK: - Problems

    private func report(_ error: NetworkError) { onProblem?(error) }

    func report(_ what: String, _ error: any Error, _ database: ResponseDatabase) {
        report(.database(what, folder, error))
        if Damage.isFound(in: error) { writing.async { self.replace(database) } }
    }

    /// The database, opened again if its file isn't in its place any more. On the writing queue.
    private func databaseInPlace() -> ResponseDatabase {
        let database = currentDatabase
        if !database.isInPlace { replace(database) }
        return currentDatabase
    }

    /// Opens a new database in the place of one that is damaged or gone. On the writing queue.
    private func replace(_ old: ResponseDatabase) {
        guard currentDatabase === old, !settings.isForInspection else { return }
        do throws(NetworkError) {
            let new = try ResponseDatabase.open(in: folder, inPlaceOf: old, busyTimeout: settings.busyTimeout) {
                report($0)
            }
            database.withLock { $0 = new }
        } catch {
            report(error)
        }
    }
}

extension NetworkError {
    static func damagedResponse(_ reason: String) -> NetworkError {
        NetworkError(.truncated, during: .file, "a stored response was damaged and removed: \(reason)")
    }

    static let wrongKey = NetworkError(
        .badConfiguration,
        during: .file,
        "stored responses are ignored because they were encrypted with another key, or not encrypted"
    )

    fileprivate static let notDigested = NetworkError(
        .badConfiguration,
        during: .file,
        "a response wasn't stored because its selecting fields have values instead of digests",
        advice: "use the store's digest(_:)"
    )
}
