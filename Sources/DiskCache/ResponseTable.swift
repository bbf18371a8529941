import BeagleNetCache
import BeagleNetHTTP
import Foundation
import GRDB

/// The statements about stored responses. Those that write need a transaction, and return the files to remove after it.
struct ResponseTable {
    /// The most responses of a key.
    private static let mostVariants = 8

    let db: Database

    /// The responses of a key with their bodies, the least recently inserted first.
    func rows(of key: Data) throws -> [ResponseRow] {
        let sql = "SELECT \(ResponseRow.columns), body FROM response WHERE key = ?"
        // A cursor, because rows that are fetched together have copies of their bodies, and so does ORDER BY.
        let found = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: [key])
        var rows: [ResponseRow] = []
        while let row = try found.next() { rows.append(ResponseRow(row)) }
        return rows.sorted { $0.id < $1.id }
    }

    /// The responses after one with an identifier, in the order of identifiers, without their bodies.
    func rows(after id: Int64, limit: Int) throws -> [ResponseRow] {
        let sql = "SELECT \(ResponseRow.columns) FROM response WHERE id > ? ORDER BY id LIMIT ?"
        return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [id, limit]).map { ResponseRow($0) }
    }

    /// A response with its body.
    func row(_ id: Int64) throws -> ResponseRow? {
        let sql = "SELECT \(ResponseRow.columns), body FROM response WHERE id = ?"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [id]).map { ResponseRow($0) }
    }

    /// Whether a response is still stored.
    func has(_ id: Int64) throws -> Bool {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM response WHERE id = ?"), arguments: [id]) != nil
    }

    /// The number of responses, and the bytes that they take.
    func totals() throws -> (count: Int, bytes: Int, fileBytes: Int) {
        let statement = try db.cachedStatement(sql: "SELECT count, bytes, file_bytes FROM store")
        guard let row = try Row.fetchOne(statement) else { throw Damage.notOurs }
        return (row[0], row[1], row[2])
    }

    /// The files that responses have.
    func files() throws -> Set<String> {
        try String.fetchSet(db, sql: "SELECT file FROM response WHERE file IS NOT NULL")
    }

    // MARK: - Writing

    /// Inserts a response in the place of one with the same key and selecting fields.
    ///
    /// - Parameter file: The file that has the body; `nil` to store the body in the row.
    func insert(_ response: NewResponse, file: String?, used: Int64, maxBytes: Int) throws -> [String] {
        var files = try remove(variant: response.selecting, of: response.key)
        try db.cachedStatement(
            sql: """
                INSERT INTO response (key, origin, partition, selecting, used, size, is_sealed, head_digest,
                body_digest, body_bytes, file, head, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            response.key, response.origin, response.partition, response.selecting, used, response.size,
            response.isSealed, response.headDigest, response.bodyDigest, response.body.count, file, response.head,
            file == nil ? response.body : nil,
        ])
        let id = db.lastInsertedRowID
        files += try delete(
            "key = ?1 AND id NOT IN (SELECT id FROM response WHERE key = ?1 ORDER BY id DESC LIMIT \(Self.mostVariants))",
            [response.key]
        )
        files += try evict(toFit: maxBytes, except: id)
        return files
    }

    /// Removes the response of a key that has these selecting fields.
    func remove(variant selecting: String, of key: Data) throws -> [String] {
        try delete("key = ? AND selecting = ?", [key, selecting])
    }

    /// Removes responses.
    func remove(ids: [Int64]) throws -> [String] {
        try ids.flatMap { try delete("id = ?", [$0]) }
    }

    /// Removes the responses of a key.
    func removeAll(ofKey key: Data) throws -> [String] { try delete("key = ?", [key]) }

    /// Removes the responses of an origin and a user.
    func removeAll(ofOrigin origin: Data) throws -> [String] { try delete("origin = ?", [origin]) }

    /// Removes the responses of a user.
    func removeAll(ofPartition partition: Data) throws -> [String] { try delete("partition = ?", [partition]) }

    /// Removes responses that aren't encrypted.
    func removeAllInPlainText() throws -> [String] { try delete("NOT is_sealed", []) }

    /// Removes all responses.
    func removeAll() throws -> [String] { try delete("true", []) }

    /// Removes the least recently used responses if there are too many bytes, until nine tenths of the limit are left.
    ///
    /// - Parameters:
    ///   - spare: Bytes that a response needs that will be inserted.
    ///   - id: A response that is removed last.
    func evict(toFit maxBytes: Int, for spare: Int = 0, except id: Int64 = 0) throws -> [String] {
        var bytes = try totals().bytes + spare
        guard bytes > maxBytes else { return [] }
        var ids: [Int64] = []
        let sql = "SELECT id, size FROM response WHERE id <> ? ORDER BY used, id"
        let rows = try Row.fetchCursor(db, sql: sql, arguments: [id])
        while bytes > maxBytes / 10 * 9, let row = try rows.next() {
            ids.append(row[0])
            bytes -= row[1] as Int
        }
        if bytes > maxBytes, id != 0 { ids.append(id) }
        let files = try remove(ids: ids)
        try shrink(to: maxBytes)
        return files
    }

    /// Notes that responses were used.
    func touch(_ ids: [Int64], used: Int64) throws {
        let statement = try db.cachedStatement(sql: "UPDATE response SET used = ? WHERE id = ?")
        for id in ids { try statement.execute(arguments: [used, id]) }
    }

    /// Returns free pages to the file system if the database and the files exceed a size together.
    private func shrink(to maxBytes: Int) throws {
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? NewResponse.unit
        let excess = pages * pageSize + (try totals().fileBytes) - maxBytes
        if excess > 0 { try db.execute(sql: "PRAGMA incremental_vacuum(\(excess / pageSize + 1))") }
    }

    private func delete(_ condition: String, _ arguments: StatementArguments) throws -> [String] {
        let statement = try db.cachedStatement(sql: "DELETE FROM response WHERE \(condition) RETURNING file")
        return try Optional<String>.fetchAll(statement, arguments: arguments).compactMap(\.self)
    }
}
