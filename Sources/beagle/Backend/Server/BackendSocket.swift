import BeagleNetHTTP
import Foundation

#if canImport(Glibc)
    import Glibc
    private let streamType = Int32(SOCK_STREAM.rawValue)
#elseif canImport(Musl)
    import Musl
    private let streamType = SOCK_STREAM
#else
    import Darwin
    private let streamType = SOCK_STREAM
#endif

/// The reason that a connection can't be used any more.
enum ConnectionEnd: Error {
    case lost, timeout
}

/// A non-blocking TCP socket on the loopback interface. Its single owner closes it.
struct BackendSocket: Sendable {
    let descriptor: Int32

    /// Creates a listening socket.
    ///
    /// - Parameter port: The port, or 0 for any free port.
    /// - Throws: `NetworkError` of kind `.connect`.
    static func listening(on port: UInt16) throws(NetworkError) -> BackendSocket {
        let listener = BackendSocket(descriptor: socket(AF_INET, streamType, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        listener.set(SO_REUSEADDR, at: SOL_SOCKET)
        listener.prepare()
        let isBound = address.withAddress { bind(listener.descriptor, $0, $1) == 0 }
        guard isBound, listen(listener.descriptor, SOMAXCONN) == 0 else {
            let reason = String(cString: strerror(errno))
            listener.close()
            throw NetworkError(
                .connect,
                during: .build,
                "cannot listen on port \(port): \(reason)",
                advice: "use another port, or 0 for any free port"
            )
        }
        return listener
    }

    /// The port that the socket listens on.
    var port: UInt16 {
        var address = sockaddr_in()
        _ = address.withAddress { pointer, size in
            var size = size
            return getsockname(descriptor, pointer, &size)
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Accepts a pending connection, or returns `nil` if no client is waiting.
    func accept() -> BackendSocket? {
        #if canImport(Glibc)
            let accepted = Glibc.accept(descriptor, nil, nil)
        #elseif canImport(Musl)
            let accepted = Musl.accept(descriptor, nil, nil)
        #else
            let accepted = Darwin.accept(descriptor, nil, nil)
        #endif
        guard accepted >= 0 else { return nil }
        let socket = BackendSocket(descriptor: accepted)
        socket.prepare()
        // Responses are small, and the client's acknowledgment may take 40 ms (RFC 896).
        socket.set(Int32(TCP_NODELAY), at: Int32(IPPROTO_TCP))
        return socket
    }

    private func prepare() {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if !os(Linux)
            set(SO_NOSIGPIPE, at: SOL_SOCKET)
        #endif
    }

    private func set(_ option: Int32, at level: Int32) {
        var isOn: Int32 = 1
        setsockopt(descriptor, level, option, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: - Bytes

    /// Waits for bytes, and appends them.
    ///
    /// - Returns: Whether more bytes may follow. `false` if the client has closed its sending side.
    func read(into bytes: inout [UInt8], until deadline: ContinuousClock.Instant) throws(ConnectionEnd) -> Bool {
        while true {
            let count = withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
                let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
                return count
            }
            if count >= 0 { return count > 0 }
            try waitOnError(for: Int16(POLLIN), until: deadline)
        }
    }

    /// Sends all bytes.
    ///
    /// - Throws: `ConnectionEnd`, also if the client accepts no bytes for 30 s.
    func write(_ bytes: Data) throws(ConnectionEnd) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { sendBytes($0) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else {
                try waitOnError(for: Int16(POLLOUT), until: .now + .seconds(30))
            }
        }
    }

    private func sendBytes(_ buffer: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
        #elseif canImport(Musl)
            Musl.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
        #else
            Darwin.send(descriptor, buffer.baseAddress, buffer.count, 0)
        #endif
    }

    private func waitOnError(for events: Int16, until deadline: ContinuousClock.Instant) throws(ConnectionEnd) {
        switch errno {
        case EINTR: return
        case EAGAIN, EWOULDBLOCK: break
        default: throw .lost
        }
        guard poll(for: events, until: deadline) != 0 else { throw .timeout }
    }

    /// Waits for a duration.
    ///
    /// - Throws: `ConnectionEnd.lost` as soon as the client disconnects or the server stops.
    func pause(_ duration: Duration) throws(ConnectionEnd) {
        guard poll(for: Self.peerClosed, until: .now + duration) == 0 else { throw .lost }
    }

    /// Returns whether bytes or the end of the stream can be read before the deadline.
    func isReadable(by deadline: ContinuousClock.Instant) -> Bool {
        poll(for: Int16(POLLIN), until: deadline) != 0
    }

    /// - Returns: The pending events, or 0 at the deadline.
    private func poll(for events: Int16, until deadline: ContinuousClock.Instant) -> Int16 {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        repeat {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            // Rounded up, or the last millisecond would be a busy loop.
            let milliseconds = left / .milliseconds(1)
            systemPoll(&entry, Int32(clamping: Int(milliseconds.rounded(.up))))
        } while entry.revents == 0 && ContinuousClock.now < deadline
        return entry.revents
    }

    #if os(Linux)
        /// `POLLRDHUP`, a macro that requires `_GNU_SOURCE`: the client has closed its sending side.
        private static let peerClosed: Int16 = 0x2000
    #else
        private static let peerClosed: Int16 = 0
    #endif

    // MARK: - Closing

    /// Closes the sending side.
    func finish() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Shuts down both sides, which wakes a thread that waits for the socket.
    func stop() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    func close() {
        #if canImport(Glibc)
            _ = Glibc.close(descriptor)
        #elseif canImport(Musl)
            _ = Musl.close(descriptor)
        #else
            _ = Darwin.close(descriptor)
        #endif
    }
}

private func systemPoll(_ entry: inout pollfd, _ milliseconds: Int32) {
    _ = poll(&entry, 1, milliseconds)
}

extension sockaddr_in {
    fileprivate mutating func withAddress<Result>(
        _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &self) { pointer in
            // A `sockaddr_in` has the initial fields and the size of a `sockaddr`.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
