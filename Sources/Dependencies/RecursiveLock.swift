#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A value that is reached only while the lock is held, and a lock that its holder may take again: a dependency's
/// default reads other dependencies of the same container.
///
/// Built on pthread, which ThreadSanitizer sees. `@unchecked Sendable` is sound because `value` is touched only between
/// lock and unlock of `mutex`, and only values that may cross threads go in and out.
final class RecursiveLock<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Reads or changes the value. `body` is a few lines of ours that never take the lock again.
    func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        try whileHeld { try body(&value) }
    }

    /// Keeps other threads out while `body` runs, which may take the lock again.
    func whileHeld<R>(_ body: () throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}
