import BeagleNetCache
public import BeagleNetHTTP
import Foundation
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
import GRDB

extension DiskResponseStore {
    /// The size of a store.
    public struct Statistics: Sendable, Hashable {
        /// The number of stored responses.
        public var count = 0
        /// The bytes that they take, as `maxBytes` counts them.
        public var bytes = 0
        /// The number of bodies in files of their own.
        public var files = 0
    }

    /// A stored response, without anything that may be secret.
    public struct Entry: Sendable, Hashable {
        /// The URL without user, query and fragment; empty if it is unknown.
        public let url: String
        /// The status.
        public let status: HTTPResponse.Status
        /// The size of the stored body in bytes.
        public let bodyBytes: Int
        /// Whether the body is complete. The beginning of a body is stored if its transfer ended early.
        public let isComplete: Bool
        /// The time at which the response, or its last validation, was received.
        public let responseTime: Date
        /// The age that the response has now (RFC 9111, 4.2.3).
        public let age: Duration
        /// Whether the response may be used without validation.
        public let isFresh: Bool
        /// The time of its last use, give or take a minute.
        public let lastUse: Date
    }

    /// The result of `verify()`.
    public struct Verification: Sendable, Hashable {
        /// The number of responses that were checked.
        public var checked = 0
        /// The number of damaged responses, which were removed.
        public var removed = 0
    }

    /// The size of the store.
    ///
    /// It waits for the database, usually for less than a millisecond. All zero if the database can't be read, which is
    /// reported.
    public func statistics() -> Statistics {
        let database = currentDatabase
        do {
            return try database.pool.read { db in
                let totals = try ResponseTable(db: db).totals()
                let files = try Int.fetchOne(db, sql: "SELECT count(*) FROM response WHERE file IS NOT NULL") ?? 0
                return Statistics(count: totals.count, bytes: totals.bytes, files: files)
            }
        } catch {
            report("cannot read", error, database)
            return Statistics()
        }
    }

    /// Lists the stored responses in the order in which they were stored. Responses of another encryption key, and
    /// damaged ones, are left out.
    public func entries() async -> [Entry] {
        await withRows { store, row, _ in
            do throws(NetworkError) { return try store.entry(of: row) } catch { return nil }
        }.compactMap(\.self)
    }

    /// Checks all responses, and removes and reports damaged ones. Responses of another encryption key stay.
    public func verify() async -> Verification {
        await withRows { store, row, database -> Bool in
            do throws(NetworkError) {
                guard let row = try database.row(row.id, in: store.folder) else { return false }
                _ = try store.contents(of: row)
            } catch {
                return error.kind == .truncated && store.discard(row, error, database)
            }
            return false
        }.reduce(into: Verification()) { result, isRemoved in
            result.checked += 1
            if isRemoved { result.removed += 1 }
        }
    }

    /// Calls a closure with each row on the writing queue, without holding all rows in memory.
    private func withRows<Value: Sendable>(
        _ work: @escaping @Sendable (DiskResponseStore, ResponseRow, ResponseDatabase) -> Value
    ) async -> [Value] {
        let values = Lock<[Value]>([])
        await write { database in
            var last: Int64 = 0
            while true {
                let rows = try database.pool.read { [last] in try ResponseTable(db: $0).rows(after: last, limit: 100) }
                guard let end = rows.last?.id else { break }
                last = end
                for row in rows {
                    let value = work(self, row, database)
                    values.withLock { $0.append(value) }
                }
            }
        }
        return values.withLock { $0 }
    }

    private func entry(of row: ResponseRow) throws(NetworkError) -> Entry? {
        guard let head = try self.head(of: row), let response = StoredHead.decode(head, for: nil) else { return nil }
        let now = now
        return Entry(
            url: URLText.parts(of: response.url).place,
            status: response.head.status,
            bodyBytes: row.bodyBytes,
            isComplete: response.hasWholeBody(of: row.bodyBytes),
            responseTime: response.responseTime,
            age: .seconds(min(response.age(at: now), 1e9)),
            isFresh: response.isFresh(at: now),
            lastUse: Date(timeIntervalSince1970: Double(row.used) / 1_000)
        )
    }
}

extension StoredResponse {
    /// Whether a body of this size isn't only the beginning. Beginnings are stored only without a coding, and with one
    /// `Content-Length` isn't the size of the body.
    fileprivate func hasWholeBody(of bytes: Int) -> Bool {
        guard !head.headerFields.contains(.contentEncoding), let length = head.headerFields[single: .contentLength]
        else {
            return true
        }
        return Int(length).map { $0 <= bytes } ?? true
    }
}

extension ResponseDatabase {
    /// A row with its body, or `nil` if it was removed.
    fileprivate func row(_ id: Int64, in folder: String) throws(NetworkError) -> ResponseRow? {
        do {
            return try pool.read { try ResponseTable(db: $0).row(id) }
        } catch {
            throw .database("cannot read", folder, error)
        }
    }
}
