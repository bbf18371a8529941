import BeagleNetHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A flag that is set once, for threads that wait in `poll`.
///
/// Opening it closes the write end of a pipe, which makes the read end readable for all threads.
final class Latch: Sendable {
    let reader: Int32
    private let writer: Lock<Int32?>

    init() throws(NetworkError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system("cannot create a pipe") }
        for end in ends { setCloseOnExec(end) }
        reader = ends[0]
        writer = Lock(ends[1])
    }

    deinit {
        open()
        closeDescriptor(reader)
    }

    func open() {
        writer.withLock { writer in
            if let end = writer { closeDescriptor(end) }
            writer = nil
        }
    }
}
