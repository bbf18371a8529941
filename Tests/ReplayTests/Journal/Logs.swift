import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs `body` with the path of a log that does not exist yet, in a directory that is removed afterwards.
func withLogDirectory<R>(_ body: (_ path: String) async throws -> R) async throws -> R {
    let directory = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory.path + "/a.bglog")
}

extension LogEntry {
    /// An exchange that started `second` seconds after 1970.
    static func sample(
        _ second: Double = 1,
        url: String = "https://a.example/",
        body: Data = Data("hello".utf8),
        mediaType: String = "text/plain",
        error: String? = nil
    ) -> LogEntry {
        LogEntry(
            started: Date(timeIntervalSince1970: second),
            request: Request(method: "GET", url: url, httpVersion: "HTTP/1.1"),
            response: Response(
                status: 200,
                statusText: "OK",
                httpVersion: "HTTP/1.1",
                fields: [Field("Content-Type", mediaType)],
                body: Body(.data(body), mediaType: mediaType)
            ),
            timings: Timings(send: .zero, wait: .milliseconds(5), receive: .milliseconds(1)),
            error: error
        )
    }
}

extension RequestLog.Reader {
    /// Reads the entries of a log, and its warnings.
    static func read(
        _ path: String,
        includesInFlight: Bool = false
    ) throws -> (entries: [LogEntry], warnings: [Recording.Warning]) {
        let entries = try RequestLog.Reader(directory: path).entries(includesInFlight: includesInFlight)
        return (Array(entries), entries.warnings)
    }
}

/// The bytes of a file.
func contents(_ path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path))
}

/// The permissions of a file.
func permissions(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return attributes[.posixPermissions] as? Int ?? -1
}
