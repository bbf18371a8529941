import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How often this process and its parents were forked since they first asked: tells a child from its parent without
/// the system call that `getpid` is. Children that `_Fork` or `clone` made, for which no handlers run, are not told.
package enum ForkCount {
    private static let count = Atomic(0)
    private static let isCounting: Bool = {
        pthread_atfork(nil, nil) { ForkCount.count.wrappingAdd(1, ordering: .relaxed) } == 0
    }()

    /// The count.
    package static var now: Int { isCounting ? count.load(ordering: .relaxed) : Int(getpid()) }
}
