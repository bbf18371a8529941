import BeagleNetHTTP
import Foundation

/// Why a request is refused without a look at its route. The connection ends behind the answer.
struct RequestFault: Error {
    let status: HTTPResponse.Status
    let reason: String

    init(_ status: HTTPResponse.Status, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}

/// Reads a connection's bytes through one buffer, never more than a caller asks for and a read brings.
final class BackendReader {
    let socket: BackendSocket
    private var buffer: [UInt8] = []
    /// The first byte that was not taken.
    private var start = 0

    /// How long a head may take from its first byte.
    private let headTime: Duration

    init(_ socket: BackendSocket, headTime: Duration) {
        self.socket = socket
        self.headTime = headTime
    }

    /// The largest head.
    private static let headBytes = 16 << 10
    /// How long a connection may be idle.
    private static let idleTime = Duration.seconds(60)
    /// How long nothing may come in the middle of a message.
    static let stallTime = Duration.seconds(30)

    /// Reads the lines of a head, without their ends; `nil` if the client has nothing more to ask.
    ///
    /// - Throws: `RequestFault` if the head is too large or takes too long, `ConnectionEnd` if it is cut off.
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

    /// Takes bytes as they come.
    ///
    /// - Returns: From one byte to `count`.
    func take(upTo count: Int) throws(ConnectionEnd) -> Data {
        drop()
        guard try fill(until: .now + Self.stallTime) else { throw .lost }
        let taken = Data(buffer[start...].prefix(count))
        start += taken.count
        return taken
    }

    /// Takes exactly so many bytes.
    func take(exactly count: Int) throws(ConnectionEnd) -> Data {
        var taken = Data()
        while taken.count < count { taken += try take(upTo: count - taken.count) }
        return taken
    }

    /// Takes a line of at most 4,096 bytes, without its end.
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

    /// Whether bytes are there, or come by then.
    func hasBytes(by deadline: ContinuousClock.Instant) -> Bool {
        start < buffer.count || socket.isReadable(by: deadline)
    }

    /// Reads and discards bytes until the client ends, or for a duration. A connection that is closed with unread bytes is
    /// reset, and the client may lose the last answer.
    func drain(for duration: Duration) throws(ConnectionEnd) {
        let deadline = ContinuousClock.now + duration
        while hasBytes(by: deadline), ContinuousClock.now < deadline { _ = try take(upTo: 64 << 10) }
    }

    /// Makes sure that there is a byte; false at the end.
    private func fill(until deadline: ContinuousClock.Instant) throws(ConnectionEnd) -> Bool {
        start < buffer.count ? true : try socket.read(into: &buffer, until: deadline)
    }

    /// Forgets what was taken.
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
