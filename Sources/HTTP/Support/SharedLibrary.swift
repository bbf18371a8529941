#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A shared library that is looked up at run time.
///
/// The libraries that libcurl links to are installed with it, but their headers may not be. The library is never
/// closed.
///
/// `@unchecked Sendable` is sound because the handle is only passed to `dlsym`, which may be called from any thread.
package struct SharedLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// Returns the function with a name. The caller must make sure that `T` is its type.
    package func function<T>(_ name: String) throws -> T {
        guard let function = dlsym(handle, name) else { throw Missing() }
        return unsafeBitCast(function, to: T.self)
    }

    /// Looks up functions in the first of several libraries that has them all.
    ///
    /// - Parameters:
    ///   - names: The file names of the libraries.
    ///   - onlyIfLoaded: Whether to use only libraries that the program has already loaded.
    ///   - lookUp: Looks up the functions in a library.
    /// - Returns: The result of `lookUp`, or `nil` if no library has all functions.
    package static func functions<T>(
        of names: String...,
        onlyIfLoaded: Bool = false,
        lookUp: (SharedLibrary) throws -> T
    ) -> T? {
        for name in names {
            guard let handle = dlopen(name, onlyIfLoaded ? RTLD_NOW | RTLD_NOLOAD : RTLD_NOW) else { continue }
            do { return try lookUp(SharedLibrary(handle: handle)) } catch { continue }
        }
        return nil
    }

    /// The error for a function that the library doesn't have.
    private struct Missing: Error {}
}
