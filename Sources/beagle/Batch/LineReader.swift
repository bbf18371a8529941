import Foundation

/// The lines of standard input, read on a thread of its own, because reading blocks.
enum LineReader {
    static var lines: AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }
}
