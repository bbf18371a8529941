import Foundation
import TestPrograms

/// Programs from PyPI that read our archives. `scripts/setup.sh --peers` installs them.
enum PythonPeers {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../.build/python").standardizedFileURL.path

    static let hasMitmproxy = FileManager.default.isExecutableFile(atPath: path("mitmdump"))
    static let hasHaralyzer = has("haralyzer")
    static let hasJSONSchema = has("jsonschema")

    static func path(_ program: String) -> String { "\(folder)/bin/\(program)" }

    private static func has(_ package: String) -> Bool {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/lib"))?
            .contains { FileManager.default.fileExists(atPath: "\(folder)/lib/\($0)/site-packages/\(package)") } == true
    }

    /// Runs a program and returns its exit status and output.
    static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        let (ending, output) = try await Program.run(path(program), arguments, includesErrors: true)
        return (ending.code, String(decoding: output, as: UTF8.self))
    }
}

/// mitmdump as a proxy that replays an archive, and returns 404 otherwise. It ends with this object or the tests.
final class ReplayingProxy: Sendable {
    /// The port on which it listens; 0 if it failed to start.
    let port: Int
    /// The output up to the line that names the port.
    let notes: String
    private let input: FileHandle

    /// Starts the proxy and waits until it listens.
    ///
    /// - Parameter folder: The folder for its settings.
    init(_ archive: String, in folder: String) async throws {
        let settings = [
            "confdir=\(folder)", "server_replay=\(archive)", "server_replay_extra=404", "server_replay_refresh=false",
            "connection_strategy=lazy",
        ]
        let arguments =
            ["-c", "\"$@\" & cat >/dev/null; kill -KILL $!; wait", "sh", PythonPeers.path("mitmdump"), "-p", "0"]
            + ["--listen-host", "127.0.0.1"] + settings.flatMap { ["--set", $0] }
        let (stdin, stdout) = (try Program.pipe(), try Program.pipe())
        _ = try Program(
            "/bin/sh",
            arguments,
            environment: ProcessInfo.processInfo.environment.merging(["PYTHONUNBUFFERED": "1"]) { $1 },
            input: stdin.reader,
            output: stdout.writer,
            errors: stdout.writer
        )
        for end in [stdin.reader, stdout.writer] { try end.close() }
        input = stdin.writer
        (port, notes) = await Self.listening(stdout.reader)
    }

    deinit {
        // The proxy ends when its input ends.
        try? input.close()
    }

    /// Reads the port from the output. Returns it with the output up to that line.
    private static func listening(_ output: FileHandle) async -> (Int, String) {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = ""
                while let bytes = try? output.read(upToCount: 1), !bytes.isEmpty {
                    text += String(decoding: bytes, as: UTF8.self)
                    guard text.hasSuffix("\n"), let found = text.firstMatch(of: /listening at .*:(\d+)/) else {
                        continue
                    }
                    continuation.resume(returning: (Int(found.output.1) ?? 0, text))
                    // Drains the output, so that the proxy never blocks on it.
                    while let bytes = try? output.read(upToCount: 4_096), !bytes.isEmpty {}
                    return
                }
                continuation.resume(returning: (0, text))
            }
        }
    }
}
