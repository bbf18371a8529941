import BeagleNetHTTP
import Foundation

/// A server program in a process of its own, which ends with this object or, at the latest, with the tests.
final class Peer: Sendable {
    /// Only its own methods are called, by one caller at a time: under the lock.
    private let process: Lock<Process>
    private let input: FileHandle
    private let folder: URL

    /// Starts a program, found in `PATH`, and waits until it says "ready" in a line of its own.
    ///
    /// - Parameters:
    ///   - command: run by the shell in a temporary folder of its own. It has to end when its input ends.
    ///   - files: written into the folder before.
    ///   - onLine: called with each line the program prints before "ready".
    init(_ command: String, files: [String: String] = [:], onLine: (String) -> Void = { _ in }) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
        }
        let (toPeer, fromPeer) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.currentDirectoryURL = folder
        process.standardInput = toPeer
        process.standardOutput = fromPeer
        try process.run()
        input = toPeer.fileHandleForWriting
        self.process = Lock(process)
        try Self.read(fromPeer.fileHandleForReading, onLine, command)
    }

    deinit {
        do {
            try input.close()
            process.withLock { $0.waitUntilExit() }
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("a peer left something behind: \(error)")
        }
    }

    private static func read(_ output: FileHandle, _ onLine: (String) -> Void, _ command: String) throws {
        var text = ""
        while !text.hasSuffix("ready\n") {
            let bytes = output.availableData
            guard !bytes.isEmpty else {
                throw NetworkError(.other, during: .connect, "a peer ended before it was ready: \(command)")
            }
            text += String(decoding: bytes, as: UTF8.self)
        }
        for line in text.split(separator: "\n").dropLast() { onLine(String(line)) }
    }

    /// Whether a program is to be found in `PATH`.
    static func isInstalled(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    /// The path of a file beside the tests.
    static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }
}
