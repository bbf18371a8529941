import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs `body` with the path of a new directory, which is removed afterwards.
func withFolder<R>(_ body: (_ path: String) async throws -> R) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "har-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
}

/// Runs `body` with the path of a file with these bytes.
func withFile<R>(_ bytes: some Sequence<UInt8>, _ body: (_ path: String) async throws -> R) async throws -> R {
    try await withFolder { folder in
        let path = "\(folder)/test.har"
        try Data(bytes).write(to: URL(filePath: path))
        return try await body(path)
    }
}

/// The recording of an archive with this text.
func recording(of text: String) async throws -> Recording {
    try await withFile(text.utf8) { try Recording(contentsOf: $0) }
}

/// The entry of an archive that is valid except for these changes. Their keys are paths in the entry.
func entry(_ changes: [String: String] = [:]) async throws -> LogEntry {
    try #require(try await recording(of: archive(changes)).entries.first)
}

/// An archive of one entry with these members changed; an empty text removes a member.
func archive(_ changes: [String: String] = [:]) -> String {
    #"{"log":{"version":"1.2","creator":{"name":"test","version":"1"},"entries":[\#(entryText(changes))]}}"#
}

/// An entry with these members changed; an empty text removes a member.
func entryText(_ changes: [String: String] = [:]) -> String {
    func object(_ place: String, _ members: KeyValuePairs<String, String>) -> String {
        var left = changes.filter { change in
            change.key.hasPrefix(place) && !change.key.dropFirst(place.count).contains(".")
        }
        var written = members.map { name, value in (name, left.removeValue(forKey: place + name) ?? value) }
        written += left.sorted { $0.key < $1.key }.map { (String($0.key.dropFirst(place.count)), $0.value) }
        return "{" + written.filter { !$0.1.isEmpty }.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }
    return object(
        "",
        [
            "startedDateTime": #""2026-11-22T08:15:30.123Z""#, "time": "7",
            "request": object(
                "request.",
                [
                    "method": #""GET""#, "url": #""https://api.example.com/a""#, "httpVersion": #""HTTP/1.1""#,
                    "cookies": "[]", "headers": "[]", "queryString": "[]", "headersSize": "-1", "bodySize": "0",
                ]
            ),
            "response": object(
                "response.",
                [
                    "status": "200", "statusText": #""OK""#, "httpVersion": #""HTTP/1.1""#, "cookies": "[]",
                    "headers": "[]", "content": #"{"size":2,"mimeType":"text/plain","text":"ok"}"#,
                    "redirectURL": #""""#, "headersSize": "-1", "bodySize": "2",
                ]
            ),
            "cache": "{}", "timings": #"{"send":1,"wait":2,"receive":4}"#,
        ]
    )
}
