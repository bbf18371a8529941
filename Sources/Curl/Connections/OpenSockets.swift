import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The sockets that libcurl has open, identified so that a reused number can be detected.
///
/// libcurl 7.88 doesn't call back when it closes the socket of a connection that was given up before it was
/// established. The number may soon be reused, even by the app.
struct OpenSockets {
    /// A socket, which differs from a later one of the same number.
    struct Identity {
        let number: Int32
        fileprivate let file: UInt64?
    }

    private var files: [Int32: UInt64] = [:]
    /// The files of sockets that were connected when they were closed, until their numbers are reused.
    private var closedAfterConnecting: [Int32: UInt64] = [:]

    /// Adds a socket that was opened.
    @discardableResult
    mutating func insert(_ socket: Int32) -> Identity {
        let file = Self.file(of: socket)
        files[socket] = file
        closedAfterConnecting[socket] = nil
        return Identity(number: socket, file: file)
    }

    /// Notes that a socket is about to be closed.
    mutating func willClose(_ socket: Int32) {
        if beagle_socket_is_connected(socket) != 0 { closedAfterConnecting[socket] = files[socket] }
    }

    /// Returns whether a socket is connected, or was when it was closed.
    func wasConnected(_ socket: Identity) -> Bool {
        guard let file = socket.file else { return false }
        if closedAfterConnecting[socket.number] == file { return true }
        return Self.file(of: socket.number) == file && beagle_socket_is_connected(socket.number) != 0
    }

    /// Removes a socket that was closed. Returns false if it was unknown.
    mutating func remove(_ socket: Int32) -> Bool {
        files.removeValue(forKey: socket) != nil
    }

    /// Returns whether a socket has been closed without our knowledge.
    func isLost(_ socket: Int32) -> Bool {
        files[socket].map { $0 != Self.file(of: socket) } ?? false
    }

    /// The sockets that are still open.
    var open: [Int32] { files.keys.filter { !isLost($0) } }

    var isEmpty: Bool { files.isEmpty }

    /// Returns the system's identifier of an open file, or `nil` if the descriptor isn't open.
    private static func file(of descriptor: Int32) -> UInt64? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }
}
