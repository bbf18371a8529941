/// The parsed value of a `Set-Cookie` field (draft-ietf-httpbis-rfc6265bis, 5.6).
///
/// The cookie jar decides whether to accept it.
package struct SetCookie: Hashable {
    /// The maximum size of name and value together, in bytes. Larger cookies are ignored.
    static let pairLimit = 4096
    /// The maximum size of an attribute's value, in bytes. Larger attributes are ignored.
    static let attributeLimit = 1024
    private static let tab = UInt8(ascii: "\t")

    package var name: String
    package var value: String
    /// The expiry date, in seconds since 1970.
    package var expires: Int?
    /// The lifetime in seconds. If 0 or negative, the cookie expires immediately.
    package var maxAge: Int?
    /// The domain in lower case, without a leading dot, or `nil` for the responding host only.
    package var domain: String?
    /// The path, or `nil` for the default path.
    package var path: String?
    package var isSecure = false
    package var isHTTPOnly = false
    package var sameSite: Cookie.SameSite?

    /// Parses text, or returns `nil` if it doesn't set a cookie.
    package init?(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    /// Parses the bytes of a field, or returns `nil` if they don't set a cookie.
    ///
    /// Name and value become opaque text (`String(opaque:)`).
    package init?(bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard !bytes.contains(where: { ($0 < 0x20 && $0 != Self.tab) || $0 == 0x7F }) else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = parts[0]
        let equals = pair.firstIndex(of: UInt8(ascii: "="))
        let named = Self.trimmed(pair[..<(equals ?? pair.startIndex)])
        let valued = Self.trimmed(equals.map { pair[($0 + 1)...] } ?? pair)
        guard (1...Self.pairLimit).contains(named.count + valued.count) else { return nil }
        name = String(opaque: named)
        value = String(opaque: valued)
        for attribute in parts.dropFirst() { read(attribute) }
        // A cookie file can't represent a tab, and no request has a path with one.
        guard ![name, value, path ?? ""].contains(where: { $0.utf8.contains(Self.tab) }) else { return nil }
    }

    /// Reads an attribute. If its name is repeated, the last one wins.
    private mutating func read(_ attribute: ArraySlice<UInt8>) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
        let value = Self.text(attribute[equals...].dropFirst())
        guard value.utf8.count <= Self.attributeLimit else { return }
        switch Self.text(attribute[..<equals]).lowercased() {
        case "expires": if let date = CookieDate.seconds(value) { expires = date }
        case "max-age": if let seconds = Self.seconds(value) { maxAge = seconds }
        case "domain":
            let domain = value.utf8.first == UInt8(ascii: ".") ? String(value.dropFirst()) : value
            self.domain = domain.isEmpty ? nil : HostName.normalized(domain)
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Cookie.SameSite(rawValue: value.lowercased())
        default: break
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: trimmed(bytes), as: UTF8.self) }

    /// Removes leading and trailing spaces and tabs.
    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == tab }
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes
    }

    /// Parses a number of seconds, clamped to 0...`Int.max` (5.6.2). Returns `nil` if the text isn't a number.
    private static func seconds(_ text: String) -> Int? {
        guard text.utf8.first == UInt8(ascii: "-") else { return Int(digits: text) }
        return Int(digits: text.dropFirst()).map { _ in 0 }
    }
}

/// A parser for dates in cookies (draft-ietf-httpbis-rfc6265bis, 5.1.1).
package enum CookieDate {
    /// Returns the seconds since 1970, or `nil` if the text isn't a date.
    package static func seconds(_ text: String) -> Int? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: isDelimiter).map({ Array($0) }) {
            if time == nil, let found = Self.time(token) {
                time = found
            } else if day == nil, let number = number(token, 1...2) {
                day = number
            } else if month == nil, let number = Self.month(token) {
                month = number
            } else if year == nil, let number = number(token, 2...4) {
                year = number
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        guard year >= 1601 else { return nil }
        return CivilDate(year: year, month: month, day: day)?.seconds(time.hour, time.minute, time.second)
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Returns the number at the start of a token, or `nil` if its count of digits isn't in the range.
    private static func number(_ token: some Sequence<UInt8>, _ lengths: ClosedRange<Int>) -> Int? {
        let digits = token.prefix { (0x30...0x39).contains($0) }
        return lengths.contains(digits.count) ? digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } : nil
    }

    private static func time(_ token: [UInt8]) -> (Int, Int, Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count <= 2, parts[1].count <= 2, let hour = number(parts[0], 1...2),
            let minute = number(parts[1], 1...2), let second = number(parts[2], 1...2),
            parts[0].allSatisfy({ (0x30...0x39).contains($0) }), parts[1].allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return (hour, minute, second)
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func month(_ token: [UInt8]) -> Int? {
        months.firstIndex(of: String(decoding: token.prefix(3), as: UTF8.self).lowercased()).map { $0 + 1 }
    }
}
