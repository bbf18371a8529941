#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A cache of common field names. Creating a name validates, copies and lowercases it.
enum FieldNames {
    /// The size of the hash table: a power of two, large enough that each name fits into one of its two slots.
    private static let size = 1_024

    static let usual = [
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
        // Request fields, which occur in logged request heads.
        "Accept", "Accept-Encoding", "Accept-Language", "Authorization", "beagle-hash", "beagle-platform", "Cookie",
        "Expect", "Host", "Idempotency-Key", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "Origin",
        "Range", "Referer", "TE", "traceparent", "tracestate", "User-Agent", "X-Requested-With",
    ]

    /// The usual names in their HTTP/1.1 and HTTP/2 spellings, stored at the index of their hash or the neighboring
    /// index.
    static let known: [HTTPField.Name?] = {
        var known: [HTTPField.Name?] = Array(repeating: nil, count: size)
        for spelling in Set(usual.flatMap { [$0, $0.lowercased()] }).sorted() {
            var spelling = spelling
            let slot = spelling.withUTF8(slot)
            known[known[slot] == nil ? slot : slot ^ 1] = HTTPField.Name(spelling)
        }
        return known
    }()

    /// Returns the field name with these bytes in their original spelling, or `nil` if they aren't a valid name.
    static func name(_ bytes: UnsafeBufferPointer<UInt8>) -> HTTPField.Name? {
        let slot = slot(of: bytes)
        if let name = known[slot], isSame(name.rawName, bytes) { return name }
        if let name = known[slot ^ 1], isSame(name.rawName, bytes) { return name }
        return HTTPField.Name(String(decoding: bytes, as: UTF8.self))
    }

    private static func isSame(_ text: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.utf8.count == bytes.count, let start = bytes.baseAddress else { return false }
        var text = text
        return text.withUTF8 { $0.baseAddress.map { memcmp($0, start, bytes.count) } == 0 }
    }

    /// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/).
    private static func slot(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int((hash ^ hash >> 16) % UInt32(size))
    }
}

extension HTTPField.Name {
    /// The `Idempotency-Key` field, by which a server recognizes a request that it has already processed
    /// (draft-ietf-httpapi-idempotency-key-header).
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key")!

    /// `Beagle-Capabilities`: the hash of the components and actions that an app can show.
    package static let beagleCapabilities = HTTPField.Name("Beagle-Capabilities")!
    /// `Beagle-Capability-List`: the components and actions themselves, and in a response the wish for them.
    package static let beagleCapabilityList = HTTPField.Name("Beagle-Capability-List")!
}
