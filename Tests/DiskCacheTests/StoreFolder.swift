import BeagleNetCache
import BeagleNetHTTP
import Foundation
import GRDB

@testable import BeagleNetDiskCache

/// A new folder for a store, its clock, and the problems that the store reports.
final class StoreFolder: Sendable {
    let path: String
    private let time = Lock(Date(timeIntervalSince1970: 1_700_000_000))
    private let reported = Lock<[NetworkError]>([])

    init() {
        path = FileManager.default.temporaryDirectory.appending(path: "disk-cache-\(UUID().uuidString)").path
    }

    deinit {
        // A test may have removed it.
        try? FileManager.default.removeItem(atPath: path)
    }

    var problems: [String] { reported.withLock { $0.map(\.message) } }

    func advance(by seconds: TimeInterval) {
        time.withLock { $0 += seconds }
    }

    func open(
        maxBytes: Int = 150 << 20,
        key: Data? = nil,
        busyTimeout: TimeInterval = 200,
        unusedFileAge: Int = 3_600
    ) throws -> DiskResponseStore {
        var settings = DiskResponseStore.Settings()
        settings.busyTimeout = busyTimeout
        settings.unusedFileAge = unusedFileAge
        settings.now = { [self] in time.withLock { $0 } }
        return try DiskResponseStore(folder: path, maxBytes: maxBytes, encryptionKey: key, settings: settings) {
            [self] problem in
            reported.withLock { $0.append(problem) }
        }
    }

    // MARK: files

    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

    var bodies: [String] { get throws { try names.filter { $0.hasSuffix(".body") } } }

    func contents(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(path)/\(name)")) }

    func write(_ data: Data, _ name: String) throws { try data.write(to: URL(filePath: "\(path)/\(name)")) }

    /// All bytes of all files. The store must be closed, because reading releases SQLite's locks.
    func everything() throws -> Data {
        try names.reduce(into: Data()) { $0 += try contents($1) }
    }

    /// Runs a statement in a database that no store has open.
    func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
        try database().write { try $0.execute(sql: sql, arguments: arguments) }
    }

    /// Writes everything to the main file of the database.
    func checkpoint() throws {
        try database().writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    }

    /// A connection that waits for a store that is being released.
    private func database() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: "\(path)/responses.sqlite", configuration: configuration)
    }

    func mode(_ name: String = "") throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
}

extension ResponseKey {
    static func test(
        _ target: String = "/",
        host: String = "host",
        partition: String = "",
        account: UInt64 = 0
    ) -> ResponseKey {
        ResponseKey(scheme: "https", authority: host, target: target, partition: partition, account: account)
    }
}

extension StoredResponse {
    static func test(
        _ body: String = "body",
        bytes: Int? = nil,
        fields: HTTPFields = [:],
        selecting: [SelectingField] = []
    ) -> StoredResponse {
        StoredResponse(
            head: HTTPResponse(status: .ok, headerFields: fields),
            body: bytes.map { Data(repeating: UInt8(ascii: "x"), count: $0) } ?? Data(body.utf8),
            selectingFields: selecting,
            requestTime: Date(timeIntervalSince1970: 1_700_000_000),
            responseTime: Date(timeIntervalSince1970: 1_700_000_001)
        )
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}

extension DiskResponseStore {
    func texts(_ key: ResponseKey) async -> [String] { await responses(for: key).map(\.text) }
}
