import BeagleNetHTTP
import CBeagleNetCurl
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A namespace for creating threads.
enum Thread {
    /// Starts a thread that receives no signals.
    ///
    /// - Parameter name: the name shown by debuggers, at most 15 bytes.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(NetworkError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 1 << 20)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // The thread inherits the signal mask, so the app's own threads handle signals.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let box = Unmanaged.passRetained(Body(name, body))
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, &attributes, { Thread.run($0) }, box.toOpaque())
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, &attributes, { Thread.run($0) }, box.toOpaque())
        #endif
        guard code == 0 else {
            box.release()
            throw NetworkError(
                .other,
                during: .file,
                "cannot create a thread for \(name): \(String(cString: strerror(code)))"
            )
        }
    }

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    private static func run(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let box else { return nil }
        let body = Unmanaged<Body>.fromOpaque(box).takeRetainedValue()
        beagle_name_thread(body.name)
        body.run()
        return nil
    }
}
