import BeagleNetHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The thread of a loop.
enum LoopThread {
    /// Starts a thread that runs the loop.
    static func start(_ loop: EventLoop) throws(NetworkError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 4 << 20)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // The thread inherits the signal mask; signals are for the app's own threads.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let box = Unmanaged.passRetained(loop)
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let code = pthread_create(&thread, &attributes, main, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw NetworkError(
                .other,
                during: .queue,
                "cannot create a thread for the event loop: \(String(cString: strerror(code)))"
            )
        }
    }

    /// Runs the loop and takes ownership of it from `start`.
    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        if let context { Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run() }
        return nil
    }

    /// The loop that runs on the current thread, or `nil` on any other thread. Used when a task on the loop resumes
    /// another task.
    static var loop: EventLoop? {
        guard let key, let context = pthread_getspecific(key) else { return nil }
        return EventLoop.from(context)
    }

    /// Sets the loop that runs on the current thread.
    static func setLoop(_ loop: EventLoop?) {
        guard let key else { return }
        pthread_setspecific(key, loop.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
    }

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
}
