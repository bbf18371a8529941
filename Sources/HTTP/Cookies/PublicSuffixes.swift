/// The public suffix list (https://publicsuffix.org), as provided by the system's libpsl, a dependency of Debian's
/// libcurl.
// Safe because both properties are constants: a function, and a list that libpsl only reads after loading it, and that
// is never freed.
package struct PublicSuffixes: @unchecked Sendable {
    /// `psl_is_public_suffix` of https://rockdaboot.github.io/libpsl/libpsl-Public-Suffix-List-functions.html
    private typealias IsSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Int32
    private typealias Load = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?

    private let list: OpaquePointer
    private let isSuffix: IsSuffix

    /// The newest list on the system, or `nil` if there is no libpsl or no list.
    package static let system: PublicSuffixes? = SharedLibrary.functions(of: "libpsl.so.5", "libpsl.5.dylib") {
        library -> PublicSuffixes? in
        let load: Load = try library.function("psl_latest")
        guard let list = load(nil) else { return nil }
        return PublicSuffixes(list: list, isSuffix: try library.function("psl_is_public_suffix"))
    }.flatMap { $0 }

    /// Returns whether a domain is a public suffix, such as `com`, `co.uk` or `github.io`.
    ///
    /// Trailing dots are ignored, because names in the list have none.
    func contains(_ domain: String) -> Bool {
        var name = domain.utf8[...]
        while name.last == UInt8(ascii: ".") { name.removeLast() }
        return isSuffix(list, String(Substring(name))) != 0
    }
}
