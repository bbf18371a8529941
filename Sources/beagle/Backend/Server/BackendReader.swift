import BeagleNetHTTP
import Foundation

/// The reason for rejecting a request before it reaches its route. The connection ends after the response.
struct RequestFault: Error {
    let status: HTTPResponse.Status
    let reason: String

    init(_ status: HTTPResponse.Status, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}

/// Reads the bytes of a connection through a buffer. Never reads ahead by more than a single `read` returns.
final class BackendReader {
    let socket: BackendSocket
    private var buffer: [UInt8] = []
    /// The index of the first unread byte.
    private var start = 0

    /// The maximum time from the first byte of a head to its last.
    private let headTime: Duration

    init(_ socket: BackendSocket, headTime: Duration) {
        self.socket = socket
        self.headTime = headTime
    }

    /// The maximum size of a head, in bytes.
    private static let headBytes = 16 << 10
    /// The time after which an idle connection is closed.
    private static let idleTime = Duration.seconds(60)
    /// The maximum time without new bytes in the middle of a message.
    static let stallTime = Duration.seconds(30)

    /// Reads the lines of a head without their line ends, or returns `nil` if the client sends no more requests.
    ///
    /// - Throws: `RequestFault` if the head is too large or takes too long, or `ConnectionEnd` if it is cut off.
    func head() throws -> [ArraySlice<UInt8>]? {
        buffer.removeFirst(start)
        start = 0
        guard try fill(until: .now + Self.idleTime) else { return nil }
        let deadline = ContinuousClock.now + headTime
        var (lines, begin, search) = ([ArraySlice<UInt8>](), 0, 0)
        while true {
            while let end = buffer[search...].firstIndex(of: UInt8(ascii: "\n")) {
                guard end < Self.headBytes else { throw Self.largeHead }
                var line = buffer[begin..<end]
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                (begin, search) = (end + 1, end + 1)
                if !line.isEmpty {
                    lines.append(line)
                } else if !lines.isEmpty {
                    start = begin
                    return lines
                }
            }
            search = buffer.count
            guard search < Self.headBytes else { throw Self.largeHead }
            do throws(ConnectionEnd) {
                guard try socket.read(into: &buffer, until: deadline) else { throw .lost }
            } catch .timeout {
                throw RequestFault(.requestTimeout, "the head took longer than \(headTime)")
            }
        }
    }

    private static let largeHead = RequestFault(
        .requestHeaderFieldsTooLarge,
        "the head is larger than \(headBytes) bytes"
    )

    /// Reads the next available bytes.
    ///
    /// - Returns: 1 to `count` bytes.
    func take(upTo count: Int) throws(ConnectionEnd) -> Data {
        drop()
        guard try fill(until: .now + Self.stallTime) else { throw .lost }
        let taken = Data(buffer[start...].prefix(count))
        start += taken.count
        return taken
    }

    /// Reads exactly `count` bytes.
    func take(exactly count: Int) throws(ConnectionEnd) -> Data {
        var taken = Data()
        while taken.count < count { taken += try take(upTo: count - taken.count) }
        return taken
    }

    /// Reads a line of at most 4,096 bytes, without its line end.
    func line() throws -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            guard line.count <= 4096 else { throw RequestFault(.badRequest, "a line of a chunk is too long") }
            line += try take(exactly: 1)
        }
        line.removeLast()
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }

    /// Returns whether bytes are buffered or arrive before the deadline.
    func hasBytes(by deadline: ContinuousClock.Instant) -> Bool {
        start < buffer.count || socket.isReadable(by: deadline)
    }

    /// Reads and discards bytes until the client closes its side or the duration has passed.
    ///
    /// Closing a connection with unread bytes resets it, and the client may then lose the last response.
    func drain(for duration: Duration) throws(ConnectionEnd) {
        let deadline = ContinuousClock.now + duration
        while hasBytes(by: deadline), ContinuousClock.now < deadline { _ = try take(upTo: 64 << 10) }
    }

    /// Reads bytes if the buffer is empty. Returns `false` at the end of the stream.
    private func fill(until deadline: ContinuousClock.Instant) throws(ConnectionEnd) -> Bool {
        start < buffer.count ? true : try socket.read(into: &buffer, until: deadline)
    }

    /// Removes the bytes that were read from the buffer.
    private func drop() {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 4096 {
            buffer.removeFirst(start)
            start = 0
        }
    }
}
