import BeagleNetHTTP
import Foundation
import TestPrograms

@testable import beagle

/// The built tool, run as a user runs it.
final class BeagleProcess {
    /// The result of a run.
    struct Outcome {
        /// The exit code; -1 if a signal ended the process.
        let exit: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
        var lines: [String] { text.split(separator: "\n").map(String.init) }

        /// The object that `--json` prints.
        func json() throws -> JSONValue { try JSONValue(parsing: output) }
    }

    private let program: Program
    /// The program's standard input, kept here if it is to stay open.
    private let input: FileHandle
    private let output: AsyncStream<Data>
    private let errors: AsyncStream<Data>
    private let writing: AsyncStream<Never>

    /// Starts the tool.
    ///
    /// - Parameters:
    ///   - input: Its standard input.
    ///   - bytes: Its standard input if it isn't text.
    ///   - environment: Variables to set in addition to the test's own.
    ///   - keepsInputOpen: Whether standard input stays open after `input`.
    ///   - terminal: Replaces standard error if it should be a terminal.
    ///   - program: The program: the tool, another program of the package, or the path of a system program.
    init(
        _ arguments: [String],
        input: String = "",
        bytes: Data? = nil,
        environment: [String: String] = [:],
        keepsInputOpen: Bool = false,
        terminal: FileHandle? = nil,
        program: String = "beagle"
    ) throws {
        let (stdin, stdout, stderr) = (try Program.pipe(), try Program.pipe(), try Program.pipe())
        self.program = try Program(
            Self.executable(program).path,
            arguments,
            environment: ProcessInfo.processInfo.environment.filter { $0.key != "NO_COLOR" }.merging(environment) {
                $1
            },
            input: stdin.reader,
            output: stdout.writer,
            errors: terminal ?? stderr.writer
        )
        for end in [stdin.reader, stdout.writer, stderr.writer] { try end.close() }
        self.input = stdin.writer
        output = Self.chunks(of: stdout.reader)
        errors = Self.chunks(of: stderr.reader)
        let (writing, written) = AsyncStream.makeStream(of: Never.self)
        self.writing = writing
        Thread.detachNewThread { [writer = stdin.writer] in
            writer.write(bytes ?? Data(input.utf8))
            written.finish()
            if !keepsInputOpen { writer.closeFile() }
        }
    }

    /// The process identifier.
    var identifier: Int32 { program.identifier }

    /// The next line of standard output.
    func line() async -> String {
        var text = Data()
        for await chunk in output {
            text += chunk
            if text.contains(UInt8(ascii: "\n")) { break }
        }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Waits until standard error contains a text. `outcome` has only the later output.
    func noted(_ text: String) async {
        var noted = Data()
        for await chunk in errors {
            noted += chunk
            if String(decoding: noted, as: UTF8.self).contains(text) { break }
        }
    }

    /// Waits until all input is written. If it is longer than a pipe's buffer, the process has read some of it.
    func inputTaken() async {
        for await _ in writing {}
    }

    /// Sends SIGINT.
    func interrupt() {
        program.send(SIGINT)
    }

    /// Sends SIGKILL, unless the process has already ended.
    func kill() {
        program.send(SIGKILL)
    }

    /// Waits for the process to end.
    func outcome() async -> Outcome {
        let written = await output.reduce(into: Data()) { $0 += $1 }
        let noted = await errors.reduce(into: Data()) { $0 += $1 }
        let exit = if case .exit(let code) = await program.ending { code } else { Int32(-1) }
        return Outcome(exit: exit, output: written, errors: String(decoding: noted, as: UTF8.self))
    }

    private static func chunks(of handle: FileHandle) -> AsyncStream<Data> {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        Thread.detachNewThread {
            while case let chunk = handle.nextBytes(), !chunk.isEmpty { continuation.yield(chunk) }
            continuation.finish()
        }
        return stream
    }

    /// The tool is in the folder of the test bundle.
    static func executable(_ name: String) -> URL {
        if name.hasPrefix("/") { return URL(fileURLWithPath: name) }
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        return (bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL).appending(path: name)
    }
}

/// Runs the tool until it ends, in this process if that makes no difference to the test.
func beagle(
    _ arguments: String...,
    input: String = "",
    environment: [String: String] = [:]
) async throws -> BeagleProcess.Outcome {
    guard input.isEmpty, environment.isEmpty else {
        return try await BeagleProcess(arguments, input: input, environment: environment).outcome()
    }
    return try await beagle(arguments)
}

/// Runs the tool until it ends, in this process if that makes no difference to the test.
func beagle(_ arguments: [String]) async throws -> BeagleProcess.Outcome {
    guard !needsProcess(arguments) else { return try await BeagleProcess(arguments).outcome() }
    let collected = CollectedOutput()
    let exit = await CollectedOutput.$current.withValue(collected) { await Tool.run(arguments) }
    return BeagleProcess.Outcome(
        exit: exit,
        output: collected.output,
        errors: String(decoding: collected.errors, as: UTF8.self)
    )
}

/// Returns whether a command reads standard input, starts a program or ends with a signal, or whether it makes a
/// recording, which is complete when its process has ended.
private func needsProcess(_ arguments: [String]) -> Bool {
    if ["batch", "demo", "record", "serve", "ws"].contains(arguments.first) { return true }
    return zip([""] + arguments, arguments).contains { option, word in
        // After these, `-` is standard output or the end of a file.
        ["-", "@-", "--", "--record"].contains(word) && !["-o", "-C"].contains(option)
    }
}

/// Runs `body` with the URL of a demo backend in this process.
func withBackend<R: Sendable>(_ body: (_ url: String) async throws -> R) async throws -> R {
    try await Backend.serving(port: 0, body)
}

/// Runs `body` with a new directory, which is removed afterwards.
func withDirectory<R>(_ body: (_ path: String) async throws -> R) async throws -> R {
    let directory = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory.path)
}
