import Dispatch
import Foundation

/// Reads lines on a thread of its own, because reading blocks.
enum LineReader {
    /// Lines that may wait to be taken: no more are read, so that a long input does not fill the memory.
    static let readAhead = 64

    /// The lines that `read` gives until it gives nil; those of standard input unless told otherwise.
    static func lines(
        _ read: @escaping @Sendable () -> String? = { readLine() }
    ) -> AsyncMapSequence<AsyncStream<String>, String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
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
