import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A count of the forks of this process and its parents, which tells a child from its parent without calling `getpid`.
///
/// It counts from its first use. Children made with `_Fork` or `clone` aren't detected, because no handlers run for
/// them.
package enum ForkCount {
    private static let count = Atomic(0)
    private static let isCounting: Bool = {
        pthread_atfork(nil, nil) { ForkCount.count.wrappingAdd(1, ordering: .relaxed) } == 0
    }()

    /// The current count.
    package static var now: Int { isCounting ? count.load(ordering: .relaxed) : Int(getpid()) }
}
