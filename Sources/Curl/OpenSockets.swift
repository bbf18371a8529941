#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sockets that libcurl has open, told apart from what their numbers may stand for later.
///
/// libcurl 7.88 closes the socket of a connection that was given up before it was made without a word to us, and the
/// number may soon be another's, even one of the app's own.
struct OpenSockets {
    private var files: [Int32: UInt64] = [:]

    /// A socket was opened.
    mutating func insert(_ socket: Int32) {
        files[socket] = Self.file(of: socket)
    }

    /// A socket was closed; false where it was not known.
    mutating func remove(_ socket: Int32) -> Bool {
        files.removeValue(forKey: socket) != nil
    }

    /// Whether a socket that was opened has been closed behind our back.
    func isLost(_ socket: Int32) -> Bool {
        files[socket].map { $0 != Self.file(of: socket) } ?? false
    }

    /// Those that are open still.
    var open: [Int32] { files.keys.filter { !isLost($0) } }

    var isEmpty: Bool { files.isEmpty }

    /// What the system knows an open file by, whatever its number; nil where the number stands for nothing.
    private static func file(of descriptor: Int32) -> UInt64? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }
}
