import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

/// The tool is killed at random moments: its output is complete, or recognizably incomplete. `BEAGLENET_KILLS`
/// sets how often each command is killed (4 times by default).
@Suite(.serialized)
struct KillTests {
    static let kills = ProcessInfo.processInfo.environment["BEAGLENET_KILLS"].flatMap(Int.init) ?? 4

    private static let old = Data("old".utf8)
    /// It begins like a PNG of one pixel, because `beagle image` writes only images.
    private static let whole =
        Data([
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1,
            8, 0, 0, 0, 0,
        ]) + Data.random(count: 2 << 20)

    /// The whole body in pieces, with a pause in each one, so that a kill interrupts the download.
    private static let trickle: LoopbackServer.Response = {
        let head = LoopbackServer.Response.raw("HTTP/1.1 200 OK\r\nContent-Length: \(whole.count)\r\n\r\n")
        let pieces = stride(from: 0, to: whole.count, by: 64 << 10).flatMap { start in
            let piece = whole[start..<min(start + 64 << 10, whole.count)]
            return [LoopbackServer.Response.dribble(piece.prefix(1), every: .milliseconds(1)), .raw(piece.dropFirst())]
        }
        return .sequence([head] + pieces)
    }()

    @Test(arguments: ["raw", "image"])
    func killedDownloadLeavesTheFileUnchangedOrComplete(_ command: String) async throws {
        let moments = try await withDirectory { directory in
            let download = Download(directory: directory)
            var moments: [Moment: Int] = [:]
            for _ in 0..<Self.kills {
                let before = Bool.random() ? Self.old : nil
                try download.reset(to: before)
                let server = try LoopbackServer(Self.trickle)
                let process = try BeagleProcess([command, server.url, "-o", download.path])
                try await moment(in: server, from: 0, to: Self.whole.count)
                process.kill()
                _ = await process.outcome()

                let after = download.content
                #expect(
                    after == before || after == Self.whole,
                    "\(after?.count ?? 0) bytes are neither the old nor the whole file"
                )
                let others = try download.others()
                #expect(others.allSatisfy { $0.hasSuffix(".part") })
                moments[after == Self.whole ? .after : others.isEmpty ? .before : .during, default: 0] += 1
            }
            // The leftovers of the last kill are still there.
            let server = try LoopbackServer(Self.trickle)
            #expect(try await beagle(command, server.url, "-o", download.path).exit == 0)
            #expect(download.content == Self.whole)
            return moments
        }
        print("\(command) killed before, during, after writing:", Moment.allCases.map { moments[$0, default: 0] })
        if Self.kills >= 100 { #expect(moments[.during, default: 0] > 0) }
    }

    @Test func killedBatchHasPrintedOnlyWholeLines() async throws {
        // An escaped line is longer than a pipe accepts in one write.
        let body = String(repeating: "\u{1}", count: 1_999)
        let ids = Set((1...100).map { JSONValue.integer($0) })
        for kill in 0...Self.kills {
            let isUndisturbed = kill == Self.kills
            let server = try LoopbackServer(.response(200, [:], body))
            let input = ids.map { "{\"id\":\($0),\"url\":\"\(server.url)\"}\n" }.joined()
            let process = try BeagleProcess(["batch"], input: input)
            if !isUndisturbed {
                try await moment(in: server, from: 1, to: ids.count * body.utf8.count)
                process.kill()
            }
            let run = await process.outcome()
            let replies = try run.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .map { line throws in try JSONValue(parsing: String(line)) }
            let answered = Set(replies.compactMap { $0["id"] })
            #expect(answered.count == replies.count)
            #expect(answered.isSubset(of: ids))
            #expect(replies.allSatisfy { $0["body"] == .string(body) })
            if isUndisturbed { #expect(answered == ids) }
        }
    }

    /// Waits for a random moment: a random number of bytes sent, often the minimum or maximum, and a few milliseconds.
    private func moment(in server: LoopbackServer, from least: Int, to most: Int) async throws {
        let count = Int.random(in: least - most / 4...most + most / 4)
        await server.until { $0.bytesSent >= min(max(count, least), most) }
        try await Task.sleep(for: .microseconds(.random(in: 0..<10_000)))
    }
}

/// The stage at which a download was killed.
private enum Moment: CaseIterable {
    case before, during, after
}

/// The file that a download writes, in its own directory.
private struct Download {
    let directory: String

    var path: String { "\(directory)/file" }
    var content: Data? { FileManager.default.contents(atPath: path) }

    /// The other files in its directory.
    func others() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0 != "file" }
    }

    /// Removes all files, and writes `content` if it isn't `nil`.
    func reset(to content: Data?) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
        }
        try content?.write(to: URL(fileURLWithPath: path))
    }
}
