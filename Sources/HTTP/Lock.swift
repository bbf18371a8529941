#if SANITIZE_THREAD
    // ThreadSanitizer does not see `Mutex` on Linux (Swift 6.3.1) and reports races that are none; it sees pthread.
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    /// The one lock of the stack: a value that is reached only while the lock is held.
    ///
    /// `@unchecked Sendable` is sound because `state` is touched only between lock and unlock of `mutex`, and only
    /// values that may cross threads go in and out.
    package final class Lock<State>: @unchecked Sendable {
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private var state: Held

        /// A value of no size would share its address with the object's head, which is read without the lock.
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

    /// `Lock`, as a value where there is no sanitizer.
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

    /// The one lock of the stack: a value that is reached only while the lock is held.
    ///
    /// Inlinable, or each use in another module would look its types up.
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

    /// `Lock` as a part of the object that has it, for objects of which there is one for each operation.
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
