import Dispatch
import Foundation

/// Reads lines on a thread of its own, because reading blocks.
enum LineReader {
    /// Lines that may wait to be taken: no more are read, so that a long input does not fill the memory.
    static let readAhead = 64

    /// The lines of standard input.
    static func lines() -> AsyncMapSequence<AsyncStream<String>, String> { lines { readLine() } }

    /// The lines of standard input as bytes, which need be no text.
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

    /// The lines that `read` gives until it gives nil.
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
