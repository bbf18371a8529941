extension TLS {
    /// The certificate authorities to trust.
    public enum Trust: Sendable, Hashable {
        /// The authorities in the system's file.
        case system
        /// Only the authorities in this PEM file.
        case file(path: String)
        /// Only the authorities in these PEM bytes.
        ///
        /// libcurl parses the bytes for each connection, but caches a parsed file for a day. Parsing takes 15 ms for
        /// 140 authorities and next to nothing for a few. https://curl.se/libcurl/c/CURLOPT_CAINFO_BLOB.html
        case authorities(Data)
        /// The operating system's own store, which isn't a file: the keychain on Apple systems, the certificate store
        /// on Windows.
        ///
        /// The error is `NetworkError.Kind.unsupported` on other systems, where `.system` reads everything there is.
        case native
    }
}
