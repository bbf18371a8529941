/// Which certificate authorities to trust.
public enum TLSTrust: Sendable, Hashable {
    /// The system's file of authorities.
    case system
    /// Only those in this PEM file.
    case file(path: String)
    /// Only those in these PEM bytes. libcurl parses them anew for each connection, where it keeps those of a file for
    /// a day: 15 ms for 140 authorities, next to nothing for a few.
    /// https://curl.se/libcurl/c/CURLOPT_CAINFO_BLOB.html
    case authorities(Data)
    /// The operating system's own store, which is no file: the keychain of Apple, Windows' store.
    /// `NetworkError.Kind.unsupported` elsewhere, where `.system` reads all that there is.
    case native
}
