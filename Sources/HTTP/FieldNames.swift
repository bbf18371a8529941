#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Names of response fields that servers send all the time, ready made: making one checks, copies and lowers its letters.
enum FieldNames {
    /// A power of two, large enough that few of the names share a place.
    private static let size = 256

    private static let usual = [
        "Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
        "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
        "Access-Control-Max-Age", "Age", "Allow", "Alt-Svc", "Cache-Control", "CF-Cache-Status", "CF-RAY", "Connection",
        "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location",
        "Content-Range", "Content-Security-Policy", "Content-Type", "Cross-Origin-Opener-Policy",
        "Cross-Origin-Resource-Policy", "Date", "ETag", "Expires", "Keep-Alive", "Last-Modified", "Link", "Location",
        "NEL",
        "Permissions-Policy", "Pragma", "Proxy-Authenticate", "Referrer-Policy", "Report-To", "Retry-After", "Server",
        "Server-Timing", "Set-Cookie", "Strict-Transport-Security", "Trailer", "Transfer-Encoding", "Upgrade", "Vary",
        "Via", "Warning", "WWW-Authenticate", "X-Cache", "X-Content-Type-Options", "X-Frame-Options", "X-Powered-By",
        "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-ID", "X-XSS-Protection",
    ]

    /// The usual names at the place of their hash, as HTTP/1.1 and as HTTP/2 spell them; of two that share a place, the
    /// later.
    private static let known: [HTTPField.Name?] = {
        var known: [HTTPField.Name?] = Array(repeating: nil, count: size)
        for spelling in usual.flatMap({ [$0, $0.lowercased()] }) {
            var spelling = spelling
            known[spelling.withUTF8(place)] = HTTPField.Name(spelling)
        }
        return known
    }()

    /// The field name of these bytes, in their spelling; nil where they are none.
    static func name(_ bytes: UnsafeBufferPointer<UInt8>) -> HTTPField.Name? {
        if let name = known[place(of: bytes)], isSame(name.rawName, bytes) { return name }
        return HTTPField.Name(String(decoding: bytes, as: UTF8.self))
    }

    private static func isSame(_ text: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.utf8.count == bytes.count, let start = bytes.baseAddress else { return false }
        var text = text
        return text.withUTF8 { $0.baseAddress.map { memcmp($0, start, bytes.count) } == 0 }
    }

    /// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/).
    private static func place(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int((hash ^ hash >> 16) % UInt32(size))
    }
}
