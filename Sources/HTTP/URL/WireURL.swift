/// The parts of an http or https URL that are sent to the server.
package struct WireURL: Sendable, Hashable {
    /// The bytes that are parsed.
    ///
    /// Slicing them is several times as fast as slicing a `String`. They are only used inside `withUTF8`.
    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// The scheme: `http` or `https`.
    package private(set) var scheme: String
    /// The host in ASCII form.
    package let host: String
    package private(set) var port: Int?
    /// The host and port, as in the `Host` header.
    package private(set) var authority: String
    package private(set) var path: String
    package private(set) var query: String?

    /// Parses a URL. The fragment is dropped (RFC 9110, 7.1).
    ///
    /// - Throws: `NetworkError` of kind `.badURL` or `.unsupportedScheme`. The message doesn't quote anything that may
    ///   be a secret.
    package init(_ text: String) throws(NetworkError) {
        var text = text
        guard let parsed = try Self(parsing: &text) else {
            throw .badURL("the URL has no scheme", "begin it with http:// or https://")
        }
        self = parsed
    }

    /// Parses a URL like `init(_:)`, but returns `nil` if the text has no scheme.
    package init?(parsing text: inout String) throws(NetworkError) {
        let parsed = try text.withUTF8 { bytes in
            Result { () throws(NetworkError) in
                let scheme = Self.scheme(of: bytes[...])
                return scheme.isEmpty ? nil : try WireURL(bytes[...], scheme)
            }
        }.get()
        guard let parsed else { return nil }
        self = parsed
    }

    /// Creates a URL with the scheme, host and port of a request. The request's path is ignored.
    init(originOf head: HTTPRequest) throws(NetworkError) {
        try self.init(HTTPRequest.urlText(head.scheme ?? "", head.authority ?? "", "/"))
    }

    private init(_ bytes: Bytes, _ scheme: Bytes) throws(NetworkError) {
        let rest = bytes[scheme.endIndex...].dropFirst()
        self.scheme = try Self.name(of: scheme, before: rest)
        guard rest.first == UInt8(ascii: "/"), rest.dropFirst().first == UInt8(ascii: "/") else { throw .noHost }
        let (authority, target) = Self.cut(rest.dropFirst(2).prefix { $0 != UInt8(ascii: "#") }) {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?")
        }
        guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .badURL("a character of the path or query is not percent-encoded", "build the URL with UrlBuilder")
        }
        (host, port, self.authority) = try Self.parts(of: authority)
        let (path, query) = Self.cut(target) { $0 == UInt8(ascii: "?") }
        self.path = path.isEmpty ? "/" : Self.text(path)
        self.query = query.isEmpty ? nil : Self.text(query.dropFirst())
    }

    /// The request target: the path and query.
    package var target: String { query.map { "\(path)?\($0)" } ?? path }

    /// The origin of the URL.
    package var origin: Origin { Origin(scheme: scheme, host: host, port: port) }

    /// The same URL over https. Port 80 is replaced by https's default port (RFC 6797, 8.3).
    var upgradedToHTTPS: WireURL {
        var url = self
        url.scheme = "https"
        if port == 80 {
            url.port = nil
            url.authority = host
        }
        return url
    }

    /// Appends items to the query.
    package mutating func append(_ items: [URLQueryItem]) {
        for item in items {
            var pair = PercentEncoding.item.encode(item.name)
            if let value = item.value { pair += "=" + PercentEncoding.item.encode(value) }
            let query = query ?? ""
            self.query = query.isEmpty || query.hasSuffix("&") ? query + pair : "\(query)&\(pair)"
        }
    }

    /// Replaces the query with items.
    ///
    /// They are encoded as by `URLComponents`: `+` isn't encoded, and an empty list gives a bare `?`.
    package mutating func replaceQuery(_ items: [URLQueryItem]) {
        var components = URLComponents()
        components.queryItems = items
        query = components.percentEncodedQuery ?? ""
    }

    private static func name(of scheme: Bytes, before rest: Bytes) throws(NetworkError) -> String {
        // A fast path for the usual spellings, without creating a string.
        if matches("https", scheme) { return "https" }
        if matches("http", scheme) { return "http" }
        let name = text(scheme).lowercased()
        guard name == "http" || name == "https" else {
            // In `localhost:8080/home`, the host looks like a scheme.
            let isHost = rest.first.map { (0x30...0x39).contains($0) } ?? false
            let advice =
                isHost ? "use http or https; if \(name) is a host, write http://\(name):…" : "use http or https"
            throw NetworkError(
                .unsupportedScheme,
                during: .build,
                "the scheme \(name) is not supported",
                advice: advice
            )
        }
        return name
    }

    private static func matches(_ name: StaticString, _ bytes: Bytes) -> Bool {
        name.withUTF8Buffer { name in
            guard name.count == bytes.count else { return false }
            for index in name.indices where name[index] != bytes[bytes.startIndex + index] { return false }
            return true
        }
    }

    /// Returns the bytes before the first colon, or no bytes if a path, query or fragment begins earlier.
    private static func scheme(of text: Bytes) -> Bytes {
        let (scheme, rest) = cut(text) {
            switch $0 {
            case UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
            default: false
            }
        }
        return rest.first == UInt8(ascii: ":") ? scheme : scheme.prefix(0)
    }

    private static func text(_ bytes: Bytes) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Splits bytes before the first one for which `isMark` is `true`.
    private static func cut(_ text: Bytes, at isMark: (UInt8) -> Bool) -> (Bytes, Bytes) {
        let mark = text.firstIndex(where: isMark) ?? text.endIndex
        return (text[..<mark], text[mark...])
    }

    /// Returns the host, the port and both together, as they are sent.
    private static func parts(of authority: Bytes) throws(NetworkError) -> (host: String, port: Int?, all: String) {
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw .badURL(
                "the URL contains a user name or password",
                "send them in an Authorization header; URLs are logged and stored"
            )
        }
        let afterLiteral = authority.first == UInt8(ascii: "[") ? authority.firstIndex(of: UInt8(ascii: "]")) : nil
        let (_, digits) = cut(authority[(afterLiteral ?? authority.startIndex)...]) { $0 == UInt8(ascii: ":") }
        let host = try host(authority[..<digits.startIndex])
        guard let port = try port(digits.dropFirst()) else { return (host, nil, host) }
        // Usually the authority is already written the way it is sent.
        let isSame =
            authority.count == host.utf8.count + digits.count && digits.dropFirst().first != UInt8(ascii: "0")
            && authority.starts(with: host.utf8)
        return (host, port, isSame ? text(authority) : "\(host):\(port)")
    }

    private static func host(_ bytes: Bytes) throws(NetworkError) -> String {
        guard !bytes.isEmpty else { throw .noHost }
        let text = Self.text(bytes)
        let isPlain = isPlain
        if bytes.allSatisfy({ isPlain[Int($0)] }) { return text }
        if bytes.first == UInt8(ascii: "[") {
            guard isAddress(bytes) else {
                throw .badURL("the text in brackets is not an IPv6 address", "write it like [::1]")
            }
            return text
        }
        // `URL` percent-encodes a host that isn't ASCII, unless Foundation has converted it.
        guard let name = PercentEncoding.decode(text[...]) else {
            throw .badURL("the host contains an invalid character", "check the URL's spelling")
        }
        guard let host = HostName.ascii(name) else {
            throw .badURL(
                "the host \(name.debugDescription) cannot be converted to ASCII",
                "check its spelling, or write its ASCII form (xn--…)"
            )
        }
        guard !host.isEmpty, host.utf8.allSatisfy(HostName.allows) else {
            throw .badURL("the host contains an invalid character", "check the URL's spelling")
        }
        return host
    }

    /// Returns whether text in brackets has the characters of an IPv6 address, with or without a zone (RFC 6874, 2).
    private static func isAddress(_ bytes: Bytes) -> Bool {
        guard bytes.last == UInt8(ascii: "]") else { return false }
        let (address, zone) = cut(bytes.dropFirst().dropLast()) { $0 == UInt8(ascii: "%") }
        let isZone = zone.isEmpty || (zone.count > 3 && zone.starts(with: "%25".utf8))
        return isZone && PercentEncoding.item.allows(zone.dropFirst()) && address.contains(UInt8(ascii: ":"))
            && Self.text(address).allSatisfy { ($0.isASCII && $0.isHexDigit) || $0 == ":" || $0 == "." }
    }

    /// A table of the bytes that are used unchanged in a host. Brackets and escapes aren't.
    private static let isPlain = (UInt8.min...UInt8.max).map { $0 < 0x80 && HostName.allows($0) }

    /// Parses a port. An empty port means the scheme's default (RFC 3986, 3.2.3).
    private static func port(_ digits: Bytes) throws(NetworkError) -> Int? {
        if digits.isEmpty { return nil }
        var port = 0
        for digit in digits where port <= 65_535 {
            let value = Int(digit) - 0x30
            port = (0...9).contains(value) ? port * 10 + value : .max
        }
        guard (1...65_535).contains(port) else {
            // The text isn't quoted, because before an unescaped slash it may be part of a password.
            throw .badURL("the port is not a number from 1 to 65535")
        }
        return port
    }
}

extension Origin {
    /// Creates the origin of a URL with any scheme. A user is ignored.
    ///
    /// Returns `nil` if there is no scheme or host.
    package init?(ofURL text: String) {
        let url = URLReference(text)
        guard let scheme = url.scheme, let authority = url.authority else { return nil }
        do throws(NetworkError) {
            let site = try WireURL("http://\(URLReference.splitUser(from: authority).host)")
            self.init(scheme: String(scheme), host: site.host, port: site.port)
        } catch {
            return nil
        }
    }
}

extension NetworkError {
    fileprivate static func badURL(_ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(.badURL, during: .build, message, advice: advice)
    }

    fileprivate static var noHost: NetworkError {
        .badURL("the URL has no host", "write it after the scheme, as in https://example.com/")
    }
}
