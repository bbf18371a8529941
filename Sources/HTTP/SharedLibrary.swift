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

    /// The function of this name, taken for one of type `T`, which the caller answers for.
    package func function<T>(_ name: String) throws -> T {
        guard let function = dlsym(handle, name) else { throw Missing() }
        return unsafeBitCast(function, to: T.self)
    }

    /// What `look` makes of the library's functions; nil where the library or one of them is missing.
    ///
    /// - Parameter isLoaded: whether only a library counts that is part of the program already.
    package static func functions<T>(
        of names: String...,
        isLoaded: Bool = false,
        look: (SharedLibrary) throws -> T
    ) -> T? {
        for name in names {
            guard let handle = dlopen(name, isLoaded ? RTLD_NOW | RTLD_NOLOAD : RTLD_NOW) else { continue }
            do { return try look(SharedLibrary(handle: handle)) } catch { continue }
        }
        return nil
    }

    /// The library lacks a function that was looked for.
    private struct Missing: Error {}
}
