import BeagleNetHTTP
import Foundation

/// A server program in a process of its own. It ends with the tests, however they end: its input ends then.
package final class Peer: Sendable {
    /// One start at a time: a program that is started between another one's pipes and their marking would inherit
    /// them, and keep the other's input open.
    private static let starting = Lock(())

    private let input: FileHandle

    /// Starts a program and waits until it says "ready" in a line of its own.
    ///
    /// - Parameters:
    ///   - command: run by the shell in a temporary folder of its own. It has to end when its input ends.
    ///   - files: written into the folder before.
    ///   - onLine: called with each line the program prints before "ready".
    package init(_ command: String, files: [String: String] = [:], onLine: (String) -> Void = { _ in }) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
        }
        let (toPeer, fromPeer) = try Self.starting.withLock { _ in
            let pipes = (Pipe(), Pipe())
            for handle in [pipes.0.fileHandleForWriting, pipes.1.fileHandleForReading] {
                _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "\(command)\nrm -rf \"$PWD\""]
            process.currentDirectoryURL = folder
            process.standardInput = pipes.0
            process.standardOutput = pipes.1
            try process.run()
            return (pipes.0.fileHandleForWriting, pipes.1.fileHandleForReading)
        }
        input = toPeer
        try Self.read(fromPeer, onLine, command)
    }

    private static func read(_ output: FileHandle, _ onLine: (String) -> Void, _ command: String) throws {
        var text = ""
        while !text.hasSuffix("ready\n") {
            let bytes = nextBytes(of: output)
            guard !bytes.isEmpty else {
                throw NetworkError(.other, during: .connect, "a peer ended before it was ready: \(command)")
            }
            text += String(decoding: bytes, as: UTF8.self)
        }
        for line in text.split(separator: "\n").dropLast() { onLine(String(line)) }
    }

    /// Whether a program is to be found in `PATH`.
    package static func isInstalled(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    /// The path of a file beside this one.
    package static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name).path
    }
}

/// What is there to read, empty at the end. `FileHandle.availableData` ends the process when a signal interrupts it.
private func nextBytes(of handle: FileHandle) -> Data {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
        let count = read(handle.fileDescriptor, &buffer, buffer.count)
        if count >= 0 { return Data(buffer[..<count]) }
        if errno != EINTR { return Data() }
    }
}
