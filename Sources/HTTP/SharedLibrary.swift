#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A library looked for when the program runs: what libcurl itself was linked with is there, its headers need not be.
/// Never closed.
///
/// `@unchecked Sendable` is sound because the handle is only given to `dlsym`, which may be called from any thread.
package struct SharedLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    package init?(_ names: String...) {
        guard let handle = names.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else { return nil }
        self.handle = handle
    }

    /// The function of this name, taken for one of type `T`, which the caller answers for.
    package func function<T>(_ name: String) -> T? {
        dlsym(handle, name).map { unsafeBitCast($0, to: T.self) }
    }
}
