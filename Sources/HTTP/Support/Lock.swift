#if SANITIZE_THREAD
    // ThreadSanitizer doesn't support `Mutex` on Linux (Swift 6.3.1) and reports false races. It does support pthread.
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    /// The package's only lock. It holds a value that can be accessed only while the lock is held.
    ///
    /// `@unchecked Sendable` is sound because `state` is accessed only while `mutex` is locked, and only values that
    /// may cross threads are passed in and out.
    package final class Lock<State>: @unchecked Sendable {
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private var state: Held

        /// A wrapper that is never zero-sized.
        ///
        /// A zero-sized value would share its address with the object's header, which is read without the lock.
        private struct Held {
            var value: State
            let size = true
        }

        package init(_ state: sending State) {
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
            self.state = Held(value: state)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        package func withLock<R, E: Error>(_ body: (inout sending State) throws(E) -> sending R) throws(E) -> sending R
        {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&state.value)
        }
    }

    /// A wrapper of `Lock`, with the same interface as the inline lock of builds without ThreadSanitizer.
    @usableFromInline
    package struct InlineLock<State>: ~Copyable, Sendable {
        private let lock: Lock<State>

        @usableFromInline
        package init(_ state: sending State) {
            lock = Lock(state)
        }

        @usableFromInline
        package func withLock<R, E: Error>(_ body: (inout sending State) throws(E) -> sending R) throws(E) -> sending R
        {
            try lock.withLock(body)
        }
    }
#else
    public import Synchronization

    /// The package's only lock. It holds a value that can be accessed only while the lock is held.
    ///
    /// It is inlinable, because otherwise each use in another module would look up its types at run time.
    @usableFromInline
    package final class Lock<State>: Sendable {
        @usableFromInline let mutex: Mutex<State>

        package init(_ state: consuming sending State) {
            mutex = Mutex(state)
        }

        @inlinable
        package func withLock<R, E: Error>(_ body: (inout sending State) throws(E) -> sending R) throws(E) -> sending R
        {
            try mutex.withLock(body)
        }
    }

    /// A `Lock` that is stored inline in its owner, for objects that are created for each operation.
    @usableFromInline
    package struct InlineLock<State>: ~Copyable, Sendable {
        @usableFromInline let mutex: Mutex<State>

        @inlinable
        package init(_ state: consuming sending State) {
            mutex = Mutex(state)
        }

        @inlinable
        package func withLock<R, E: Error>(_ body: (inout sending State) throws(E) -> sending R) throws(E) -> sending R
        {
            try mutex.withLock(body)
        }
    }
#endif
