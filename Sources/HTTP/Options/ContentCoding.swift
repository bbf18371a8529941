/// How a body may be compressed (RFC 9110, 8.4.1).
public struct ContentCoding: RawRepresentable, Sendable, Hashable {
    /// The name that `Accept-Encoding` lists.
    public let rawValue: String

    /// The coding of this name. One that the transport cannot undo is refused when it is asked for.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// RFC 1952.
    public static let gzip = ContentCoding(rawValue: "gzip")
    /// RFC 1950.
    public static let deflate = ContentCoding(rawValue: "deflate")
    /// RFC 7932; where the system has libbrotlidec.
    public static let brotli = ContentCoding(rawValue: "br")
    /// RFC 8878; where the system has libzstd.
    public static let zstd = ContentCoding(rawValue: "zstd")
}
