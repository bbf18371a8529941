import BeagleNetHTTP
import Foundation
import TestPrograms

/// A server program in its own process. It ends when the tests end, because its input is closed then.
package final class Peer: Sendable {
    private let input: FileHandle

    /// Starts a program and waits until it prints a line "ready".
    ///
    /// - Parameters:
    ///   - command: The shell command to run in a new temporary folder. It must end when its input is closed.
    ///   - files: The files to write into the folder before.
    ///   - onLine: Called with each line that the program prints before "ready".
    package init(_ command: String, files: [String: String] = [:], onLine: (String) -> Void = { _ in }) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
        }
        let (stdin, stdout) = (try Program.pipe(), try Program.pipe())
        _ = try Program(
            "/bin/sh",
            ["-c", "cd \"$0\" || exit\n\(command)\nrm -rf \"$PWD\"", folder.path],
            input: stdin.reader,
            output: stdout.writer
        )
        for end in [stdin.reader, stdout.writer] { try end.close() }
        input = stdin.writer
        try Self.read(stdout.reader, onLine, command)
    }

    private static func read(_ output: FileHandle, _ onLine: (String) -> Void, _ command: String) throws {
        var text = ""
        while !text.hasSuffix("ready\n") {
            let bytes = output.nextBytes()
            guard !bytes.isEmpty else {
                throw NetworkError(.other, during: .connect, "a peer ended before it was ready: \(command)")
            }
            text += String(decoding: bytes, as: UTF8.self)
        }
        for line in text.split(separator: "\n").dropLast() { onLine(String(line)) }
    }

    /// Whether a program is in `PATH`.
    package static func isInstalled(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    /// Returns the path of a file in the folder of this one.
    package static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name).path
    }
}
