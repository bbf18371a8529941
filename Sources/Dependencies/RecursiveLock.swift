#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A recursive lock around a value.
///
/// The thread that holds it may lock it again, because a dependency's default value reads other dependencies of the
/// same container. It uses pthread, which ThreadSanitizer supports. `@unchecked Sendable` is safe because `value` is
/// accessed only while `mutex` is locked, and only values that are `Sendable` go in and out.
final class RecursiveLock<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    // Unchecked, because `body` must not lock again, and a check would cost a runtime call for each access.
    @exclusivity(unchecked) private var value: Value

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

    /// Runs `body` with exclusive access to the value; `body` must be short and must not lock again.
    func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        try whileHeld { try body(&value) }
    }

    /// Runs `body` while the lock is held; `body` may lock again.
    func whileHeld<R>(_ body: () throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}
