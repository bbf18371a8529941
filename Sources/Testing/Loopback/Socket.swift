import BeagleNetHTTP

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

#if os(Linux)
    private let sendFlags = Int32(MSG_NOSIGNAL)
#else
    private let sendFlags: Int32 = 0
#endif

/// A non-blocking TCP socket on the loopback interface, which its only owner closes.
struct Socket: Sendable {
    let descriptor: Int32

    /// Returns a socket that listens on a port chosen by the system.
    static func listening() throws(NetworkError) -> Socket {
        let socket = try make()
        var address = sockaddr_in.loopback
        let isBound = address.withAddress { bind(socket.descriptor, $0, $1) == 0 }
        guard isBound, listen(socket.descriptor, SOMAXCONN) == 0 else {
            defer { socket.close() }
            throw .system("cannot listen on 127.0.0.1")
        }
        return socket
    }

    private static func make() throws(NetworkError) -> Socket {
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw .system("cannot create a socket") }
        let made = Socket(descriptor: descriptor)
        made.prepare()
        return made
    }

    private func prepare() {
        setCloseOnExec(descriptor)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if !os(Linux)
            set(SO_NOSIGPIPE, to: Int32(1), at: SOL_SOCKET)
        #endif
    }

    var localPort: UInt16 {
        var address = sockaddr_in()
        _ = address.withAddress { pointer, size in
            var size = size
            return getsockname(descriptor, pointer, &size)
        }
        return UInt16(bigEndian: address.sin_port)
    }

    func accept() -> Socket? {
        #if canImport(Glibc)
            let accepted = Glibc.accept(descriptor, nil, nil)
        #elseif canImport(Musl)
            let accepted = Musl.accept(descriptor, nil, nil)
        #else
            let accepted = Darwin.accept(descriptor, nil, nil)
        #endif
        guard accepted >= 0 else { return nil }
        let socket = Socket(descriptor: accepted)
        socket.prepare()
        socket.set(Int32(TCP_NODELAY), to: Int32(1), at: Int32(IPPROTO_TCP))
        return socket
    }

    /// Appends received bytes, or returns `false` at the end of the connection.
    func receive(into bytes: inout [UInt8]) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 128 << 10, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
            return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
        }
    }

    /// Passes bytes to the system and returns the number it accepted, or `nil` if the connection is closed.
    func send(_ bytes: Data) -> Int? {
        let count = bytes.withUnsafeBytes { sendBytes($0) }
        if count < 0 { return errno == EAGAIN || errno == EINTR ? 0 : nil }
        return count
    }

    private func sendBytes(_ buffer: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.send(descriptor, buffer.baseAddress, buffer.count, sendFlags)
        #elseif canImport(Musl)
            Musl.send(descriptor, buffer.baseAddress, buffer.count, sendFlags)
        #else
            Darwin.send(descriptor, buffer.baseAddress, buffer.count, sendFlags)
        #endif
    }

    /// Shuts down the sending side.
    func finish() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes `close` send a RST.
    func resetOnClose() {
        set(SO_LINGER, to: linger(l_onoff: 1, l_linger: 0), at: SOL_SOCKET)
    }

    func close() {
        closeDescriptor(descriptor)
    }

    private func set<Value>(_ option: Int32, to value: Value, at level: Int32) {
        withUnsafeBytes(of: value) { _ = setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count)) }
    }
}

func setCloseOnExec(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}

func closeDescriptor(_ descriptor: Int32) {
    _ = close(descriptor)
}

extension sockaddr_in {
    fileprivate static var loopback: sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    fileprivate mutating func withAddress<Result>(
        _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &self) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

extension NetworkError {
    /// Creates an error with the system's message about the last call.
    static func system(_ what: String) -> NetworkError {
        NetworkError(.connect, during: .connect, "\(what): \(String(cString: strerror(errno)))")
    }
}
