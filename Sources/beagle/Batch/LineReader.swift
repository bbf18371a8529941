import Dispatch
import Foundation

/// Reads lines on a separate thread, because reading blocks.
enum LineReader {
    /// The maximum number of pending lines. Reading pauses there, so that a long input doesn't fill the memory.
    static let readAhead = 64

    /// Returns the lines of standard input.
    static func lines() -> AsyncMapSequence<AsyncStream<String>, String> { lines { readLine() } }

    /// Returns the lines of standard input as bytes, which needn't be valid text.
    static func byteLines() -> AsyncMapSequence<AsyncStream<Data>, Data> {
        // Safe because only the thread that `lines` starts reads from it.
        nonisolated(unsafe) let input = fdopen(STDIN_FILENO, "r")
        return lines { input.flatMap(byteLine) }
    }

    private static func byteLine(of input: UnsafeMutablePointer<FILE>) -> Data? {
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        let count = getline(&line, &capacity, input)
        guard count >= 0, let line else { return nil }
        let bytes = Data(bytes: line, count: count)
        return bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes
    }

    /// Returns the lines from `read` until it returns `nil`.
    static func lines<Line: Sendable>(
        _ read: @escaping @Sendable () -> Line?
    ) -> AsyncMapSequence<AsyncStream<Line>, Line> {
        let (lines, continuation) = AsyncStream.makeStream(of: Line.self)
        let room = DispatchSemaphore(value: 0)
        for _ in 0..<readAhead { room.signal() }
        Thread.detachNewThread {
            room.wait()
            while let line = read() {
                continuation.yield(line)
                room.wait()
            }
            continuation.finish()
        }
        return lines.map { line in
            room.signal()
            return line
        }
    }
}
