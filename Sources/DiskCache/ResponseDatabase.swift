import BeagleNetCache
import BeagleNetHTTP
import Foundation
import GRDB

/// An open database of stored responses.
///
/// Its file is only ever opened by SQLite: closing another descriptor of the file would release SQLite's locks
/// (https://www.sqlite.org/howtocorrupt.html, 2.2).
final class ResponseDatabase: Sendable {
    static let fileName = "responses.sqlite"
    private static let lockName = "opening.lock"
    /// The schema. A database with a higher version is moved aside.
    static let version = 1

    let pool: DatabasePool
    let digests: KeyDigests
    private let folder: ConfinedFolder
    private let inode: UInt64

    private init(_ pool: DatabasePool, _ secret: Data, _ folder: ConfinedFolder) throws {
        guard let status = folder.status(of: Self.fileName) else { throw Damage.notOurs }
        self.pool = pool
        self.folder = folder
        inode = status.inode
        digests = KeyDigests(secret: secret)
    }

    /// Whether the file is still in its place. Another process may have moved it aside, or removed the folder.
    var isInPlace: Bool { folder.status(of: Self.fileName)?.inode == inode }

    // MARK: - Opening

    /// Opens the database in a folder, creating both if necessary. A damaged database, or one of a newer version, is
    /// moved aside.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - mustExist: Whether to throw if there is no database or it is unusable.
    ///   - damaged: A database that turned out to be damaged while it was used.
    ///   - onProblem: Called if a database is moved aside.
    static func open(
        in path: String,
        mustExist: Bool = false,
        inPlaceOf damaged: ResponseDatabase? = nil,
        busyTimeout: TimeInterval,
        onProblem: (NetworkError) -> Void
    ) throws(NetworkError) -> ResponseDatabase {
        let folder = ConfinedFolder(path: path)
        if mustExist, folder.status(of: fileName).map({ $0.bytes > 0 }) != true { throw .noStore(in: path) }
        let lock = try held(in: PrivateFolder(path: path))
        defer { withExtendedLifetime(lock) {} }
        do {
            if damaged?.isInPlace == true { throw Damage.malformed }
            return try connect(to: folder, busyTimeout)
        } catch let error where Damage.isCause(of: error) {
            if mustExist { throw .unusable(path, error) }
            let newName = try moveAside(in: folder)
            onProblem(
                NetworkError(
                    .file,
                    during: .file,
                    "the database of stored responses is unusable (\(Damage.reason(of: error))); "
                        + "it was moved to \(folder.path(of: newName)), and an empty one was created"
                )
            )
            do { return try connect(to: folder, busyTimeout) } catch { throw .database("cannot open", path, error) }
        } catch {
            throw .database("cannot open", path, error)
        }
    }

    /// Locks the folder against other processes that open or replace the database.
    private static func held(in folder: PrivateFolder) throws(NetworkError) -> OpenFile {
        // Opening takes milliseconds, and a killed process loses its lock.
        for _ in 0..<1_000 {
            if let lock = try folder.hold(lockName) { return lock }
            usleep(10_000)
        }
        throw NetworkError(.file, during: .file, "cannot open \(folder.path): another process is opening it")
    }

    private static func connect(to folder: ConfinedFolder, _ busyTimeout: TimeInterval) throws -> ResponseDatabase {
        let path = folder.path(of: fileName)
        let status = folder.status(of: fileName)
        switch status?.type {
        case nil:
            // SQLite gives the files next to it the same mode.
            _ = try folder.file(creating: fileName)
        case .regular: guard chmod(path, 0o600) == 0 else { throw NetworkError.file("cannot open", path, errno) }
        default: throw NetworkError(.file, during: .file, "cannot open \(path): it is not a regular file")
        }
        let isEmpty = status.map { $0.bytes == 0 } ?? true
        var configuration = Configuration()
        configuration.label = "DiskResponseStore"
        configuration.busyMode = .timeout(busyTimeout)
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly else { return }
            // It has an effect only before the first page is written.
            if isEmpty { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
            try db.execute(sql: "PRAGMA journal_size_limit = 1048576")
            // In KiB. A lookup reads a few pages; each connection would keep 2 MiB of the scans when a store is opened.
            try db.execute(sql: "PRAGMA cache_size = -512")
            // Overwrites removed rows in pages that are written anyway. Some systems overwrite all pages by default, which
            // takes long; `returnSpace` removes those.
            try db.execute(sql: "PRAGMA secure_delete = FAST")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        return try ResponseDatabase(pool, pool.write(secret), folder)
    }

    /// Checks the database, or creates its tables, and returns its secret.
    private static func secret(_ db: Database) throws -> Data {
        switch try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 {
        case 0:
            guard try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 else { throw Damage.notOurs }
            try createTables(db)
        case version: break
        case let newer: throw Damage.newer(newer)
        }
        // The counts are kept by triggers; a wrong sum would let the store grow without limit.
        try db.execute(
            sql: """
                UPDATE store SET count = (SELECT count(*) FROM response),
                bytes = (SELECT coalesce(sum(size), 0) FROM response),
                file_bytes = (SELECT coalesce(sum(size), 0) FROM response WHERE file IS NOT NULL)
                """
        )
        guard let secret = try Data.fetchOne(db, sql: "SELECT secret FROM store"),
            secret.count == KeyDigests.secretBytes
        else { throw Damage.notOurs }
        return secret
    }

    private static func createTables(_ db: Database) throws {
        // `body` is the last column, so that SQLite doesn't read its pages for the others.
        try db.execute(
            sql: """
                CREATE TABLE store (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    secret BLOB NOT NULL,
                    count INTEGER NOT NULL DEFAULT 0,
                    bytes INTEGER NOT NULL DEFAULT 0,
                    file_bytes INTEGER NOT NULL DEFAULT 0
                );
                CREATE TABLE response (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    key BLOB NOT NULL,
                    origin BLOB NOT NULL,
                    partition BLOB NOT NULL,
                    selecting TEXT NOT NULL,
                    used INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    is_sealed INTEGER NOT NULL,
                    head_digest BLOB NOT NULL,
                    body_digest BLOB NOT NULL,
                    body_bytes INTEGER NOT NULL,
                    file TEXT,
                    head BLOB NOT NULL,
                    body BLOB
                );
                CREATE UNIQUE INDEX response_key ON response (key, selecting);
                CREATE INDEX response_origin ON response (origin);
                CREATE INDEX response_partition ON response (partition);
                CREATE INDEX response_used ON response (used, id, size);
                CREATE INDEX response_file ON response (file, size) WHERE file IS NOT NULL;
                CREATE TRIGGER response_inserted AFTER INSERT ON response BEGIN
                    UPDATE store SET count = count + 1, bytes = bytes + NEW.size,
                    file_bytes = file_bytes + CASE WHEN NEW.file IS NULL THEN 0 ELSE NEW.size END;
                END;
                CREATE TRIGGER response_deleted AFTER DELETE ON response BEGIN
                    UPDATE store SET count = count - 1, bytes = bytes - OLD.size,
                    file_bytes = file_bytes - CASE WHEN OLD.file IS NULL THEN 0 ELSE OLD.size END;
                END;
                PRAGMA user_version = \(version);
                """
        )
        try db.execute(
            sql: "INSERT INTO store (id, secret) VALUES (1, ?)",
            arguments: [KeyDigests.randomBytes(KeyDigests.secretBytes)]
        )
    }

    // MARK: - Moving aside

    private static let asideMark = ".corrupt-"

    /// Renames the database, and removes those that were moved aside before.
    ///
    /// - Returns: The new name.
    private static func moveAside(in folder: ConfinedFolder) throws(NetworkError) -> String {
        try removeAside(in: folder)
        let newName = "\(fileName)\(asideMark)\(Int(Date().timeIntervalSince1970))"
        // The database comes first: SQLite removes the log that it finds next to an empty one.
        for ending in ["", "-wal", "-shm"] where folder.status(of: fileName + ending) != nil {
            try folder.rename(fileName + ending, to: newName + ending)
        }
        return newName
    }

    /// Removes databases that were moved aside.
    static func removeAside(in folder: ConfinedFolder) throws(NetworkError) {
        for name in try folder.entries() ?? [] where name.hasPrefix(fileName + asideMark) { try folder.remove(name) }
    }
}

extension ResponseDatabase {
    /// The rows of a key. One statement needs no transaction around it.
    func rows(of key: ResponseKey) throws -> [ResponseRow] {
        let digest = try digests.key(key)
        return try pool.unsafeRead { try ResponseTable(db: $0).rows(of: digest) }
    }

    /// Returns some free pages to the file system. If there are no more, empties the write-ahead log, unless another
    /// process reads from it.
    ///
    /// - Returns: Whether there are more.
    func returnSpace() throws -> Bool {
        try pool.writeWithoutTransaction { db in
            func freePages() throws -> Int { try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 }
            let before = try freePages()
            try db.execute(sql: "PRAGMA incremental_vacuum(1000)")
            let after = try freePages()
            if after > 0, after < before { return true }
            _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            return false
        }
    }
}

/// The reasons for which a database is moved aside.
enum Damage: Error {
    case malformed
    /// There is something else in the file.
    case notOurs
    case newer(Int)

    /// Whether an error while opening the database means that it can't ever be opened.
    static func isCause(of error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is Damage }
        // SQLITE_ERROR is a table or column that doesn't exist.
        let codes: [ResultCode] = [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_SCHEMA, .SQLITE_MISMATCH]
        return codes.contains(error.resultCode)
    }

    /// Whether an error while using the database means that it is damaged.
    static func isFound(in error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
    }

    static func reason(of error: any Error) -> String {
        switch error {
        case Damage.malformed: "it is malformed"
        case Damage.newer(let version): "it has version \(version) instead of \(ResponseDatabase.version)"
        case let error as DatabaseError: error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        default: "it is not a database of stored responses"
        }
    }
}

extension NetworkError {
    fileprivate static func noStore(in path: String) -> NetworkError {
        NetworkError(
            .file,
            during: .file,
            "there are no stored responses in \(path): it has no file \(ResponseDatabase.fileName)"
        )
    }

    fileprivate static func unusable(_ path: String, _ error: any Error) -> NetworkError {
        var kind = Kind.decoding
        if case Damage.newer = error { kind = .unsupported }
        let message = "the database of stored responses in \(path) is unusable: \(Damage.reason(of: error))"
        return NetworkError(kind, during: .file, message)
    }

    /// Creates an error of the database, without the values that a statement used.
    static func database(_ what: String, _ path: String, _ error: any Error) -> NetworkError {
        guard let error = error as? DatabaseError else { return NetworkError(wrapping: error) }
        let advice: String? =
            switch error.resultCode {
            case .SQLITE_FULL: "free space on the disk"
            case .SQLITE_BUSY: "another process has been writing for too long"
            case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: "use a folder that this process may write"
            default: nil
            }
        let reason = error.message ?? "unknown error"
        let message = "\(what) \(path): \(reason) (SQLite error \(error.extendedResultCode.rawValue))"
        return NetworkError(.file, during: .file, message, advice: advice)
    }
}
