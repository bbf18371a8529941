import BeagleNetHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A thread that can be joined.
final class Worker: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    private let thread: Lock<pthread_t?>

    init(_ run: @escaping @Sendable () -> Void) {
        // The new thread balances the retain.
        let body = Unmanaged.passRetained(Body(run)).toOpaque()
        #if canImport(Darwin)
            var handle: pthread_t?
        #else
            var handle = pthread_t()
        #endif
        let code = pthread_create(&handle, nil, { body in Worker.main(body) }, body)
        precondition(code == 0, "cannot create a thread for a test server: \(String(cString: strerror(code)))")
        thread = Lock(handle)
    }

    /// Waits until the thread has ended; further calls return immediately.
    func join() {
        let handle = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let handle { pthread_join(handle, nil) }
    }

    private static func main(_ body: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let body { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() }
        return nil
    }
}
