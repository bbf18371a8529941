import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// `--continue-at`. `BEAGLENET_KILLS` sets how often a download is killed (4 times by default).
@Suite(.serialized) struct ContinuationTests {
    private static let kills = ProcessInfo.processInfo.environment["BEAGLENET_KILLS"].flatMap(Int.init) ?? 4
    private static let content = Data.random(count: 2 << 20)

    /// Sends a file from the requested offset.
    ///
    /// - Parameter count: The number of bytes after which it stalls; `nil` sends all.
    private static func answer(_ request: LoopbackServer.Request, upTo count: Int? = nil) -> LoopbackServer.Response {
        let start = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
        let rest = content.dropFirst(start)
        var head = "HTTP/1.1 200 OK\r\n"
        if start > 0 {
            let range = "bytes \(start)-\(content.count - 1)/\(content.count)"
            head = "HTTP/1.1 206 Partial Content\r\nContent-Range: \(range)\r\n"
        }
        head += "ETag: \"1\"\r\nContent-Length: \(rest.count)\r\n\r\n"
        let whole = LoopbackServer.Response.raw(Data(head.utf8) + rest.prefix(count ?? rest.count))
        return count == nil ? whole : .sequence([whole, .stall])
    }

    private static func server() throws -> LoopbackServer {
        try LoopbackServer { answer($0) }
    }

    private func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    /// A download that is killed repeatedly ends with the same bytes as an uninterrupted one.
    @Test func killedDownloadIsResumed() async throws {
        let step = Self.content.count / (Self.kills + 1)
        let kills = Lock(0)
        let server = try LoopbackServer { request in
            kills.withLock { $0 } < Self.kills ? Self.answer(request, upTo: step) : Self.answer(request)
        }
        try await withDirectory { directory in
            let path = "\(directory)/file"
            var size = 0
            for _ in 1...Self.kills {
                let process = try BeagleProcess(["raw", server.url, "-o", path, "-C", "-"])
                // Often the minimum, which kills it immediately, or the maximum, after which the server stalls.
                let least = size + min(max(0, .random(in: -step / 4...step + step / 4)), step)
                while try fileSize("\(path).part") < least { try await Task.sleep(for: .milliseconds(1)) }
                process.kill()
                #expect(await process.outcome().exit == -1)
                size = try fileSize("\(path).part")
                // A process that is killed immediately has no file yet.
                let part = size == 0 ? Data() : try Data(contentsOf: URL(fileURLWithPath: "\(path).part"))
                #expect(part == Self.content.prefix(size))
                #expect(!FileManager.default.fileExists(atPath: path))
                kills.withLock { $0 += 1 }
            }
            let run = try await beagle("raw", server.url, "-o", path, "--continue-at", "-", "--json")
            #expect(run.exit == 0, "\(run.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Self.content)
            #expect(try names(in: directory) == ["file"])
        }
        #expect(server.requests.contains { $0["Range"] != nil })
    }

    /// The size of a file; 0 if it doesn't exist.
    private func fileSize(_ path: String) throws -> Int {
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    @Test func failedDownloadReportsTheKeptBytes() async throws {
        try await withDirectory { directory in
            let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\nhalf"
            let server = try LoopbackServer(.sequence([.raw(head), .close]))
            let run = try await beagle("raw", server.url, "-o", "\(directory)/file", "-C", "-")
            #expect(run.exit == 18)
            #expect(run.errors.contains("4 B received are kept"))
            #expect(try names(in: directory) == ["file.part", "file.part.json"])
        }
    }

    @Test func unrequested416CreatesNoFile() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(416, ["ETag": "\"1\""], "no such range"))
            let run = try await beagle("raw", server.url, "-o", "\(directory)/file", "-C", "-")
            #expect(run.errors.contains("file was not written: status 416"))
            #expect(try names(in: directory).isEmpty)
        }
    }

    @Test func offsetAppendsToTheFile() async throws {
        try await withDirectory { directory in
            let server = try Self.server()
            let path = "\(directory)/file"
            let half = Self.content.count / 2
            try Self.content.prefix(half).write(to: URL(fileURLWithPath: path))
            let run = try await beagle("raw", server.url, "-o", path, "-C", "\(half)", "--json")
            #expect(run.exit == 0, "\(run.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Self.content)
            #expect(server.requests.map { $0["Range"] } == ["bytes=\(half)-"])

            let again = try await beagle("raw", server.url, "-o", path, "-C", "\(half)")
            #expect(again.exit == 64)
            #expect(again.errors.contains("has \(Self.content.count) bytes"))
            #expect(server.record.requestCount == 1)
        }
    }

    @Test func offsetPrintsTheRestToStandardOutput() async throws {
        let server = try Self.server()
        let run = try await beagle("raw", server.url, "-C", "\(Self.content.count - 9)")
        #expect(run.output == Self.content.suffix(9))
        #expect(try await beagle("raw", server.url, "-C", "0").output == Self.content)
    }

    private static let partIsValidatedAgainstItsRangeArguments: [(String, String, Int32, String)] = [
        ("bytes 4-9/10", "456789", 0, "0123456789"), ("bytes 4-6/10", "456", 18, "0123456"),
        ("bytes 4-9/10", "456", 18, "0123456"), ("bytes 4-6/10", "456789", 8, "0123"),
        ("bytes 4-9/*", "456789", 33, "0123"), ("bytes 3-9/10", "3456789", 33, "0123"),
        ("bytes 5-9/10", "56789", 33, "0123"), ("bytes */10", "", 33, "0123"), ("", "456789", 33, "0123"),
    ]

    /// The Content-Range and body of the rest of 10 bytes, 4 of which exist already.
    @Test(arguments: Self.partIsValidatedAgainstItsRangeArguments)
    func partIsValidatedAgainstItsRange(_ range: String, _ part: String, _ exit: Int32, _ file: String) async throws {
        try await withDirectory { directory in
            let fields: KeyValuePairs<String, String> = range.isEmpty ? [:] : ["Content-Range": range]
            let server = try LoopbackServer(.response(206, fields, part))
            let path = "\(directory)/file"
            try Data("0123".utf8).write(to: URL(fileURLWithPath: path))
            let run = try await beagle("raw", server.url, "-o", path, "-C", "4")
            #expect(run.exit == exit, "\(run.errors)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == file)
            if exit == 18 { #expect(run.errors.contains("resume with --continue-at \(file.utf8.count)")) }
            let printed = try await beagle("raw", server.url, "-C", "4")
            #expect(printed.exit == exit)
            #expect(printed.output == Data(exit == 0 ? part.utf8 : "".utf8))
        }
    }

    @Test func unrequestedPartCreatesNoFile() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(206, ["Content-Range": "bytes 0-3/9"], "part"))
            let run = try await beagle("raw", server.url, "-o", "\(directory)/file")
            #expect(run.exit == 8)
            #expect(try names(in: directory).isEmpty)
        }
    }

    @Test func serverWithoutRangesIsAnError() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(200, [:], "all of it"))
            let path = "\(directory)/file"
            try Data("all".utf8).write(to: URL(fileURLWithPath: path))
            let run = try await beagle("raw", server.url, "-o", path, "-C", "3")
            #expect(run.exit == 33)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("all".utf8))
        }
    }

    private static let invalidContinuationFailsBeforeSendingArguments: [[String]] = [
        ["-C", "-"], ["-C", "x"], ["-C", "-1"], ["-C", "5", "-d", "x"], ["-C", "5", "-X", "HEAD"],
        ["-C", "5", "-H", "Range: bytes=1-2"], ["-C", "5", "-T", "/etc/hostname"],
    ]

    @Test(arguments: Self.invalidContinuationFailsBeforeSendingArguments)
    func invalidContinuationFailsBeforeSending(_ arguments: [String]) async throws {
        let server = try LoopbackServer(.response(200))
        let run = try await beagle(["raw", server.url] + arguments)
        #expect(run.exit == 64)
        #expect(server.record.requestCount == 0)
    }
}
