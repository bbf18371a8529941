import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A cookie in an archive's list of cookies, which is always derived from the header fields.
struct LoggedCookie: Hashable {
    let name: String
    let value: String
    var path: String?
    var domain: String?
    var expires: Date?
    var isHTTPOnly = false
    var isSecure = false
    var sameSite: String?

    /// Returns the cookies that a request carries.
    static func sent(in fields: [LogEntry.Field]) -> [LoggedCookie] {
        fields.filter { $0.isCalled("cookie") }.flatMap { field in
            field.value.split(separator: ";").map { pair in
                let (name, value) = parts(of: pair)
                return LoggedCookie(name: name, value: value)
            }
        }
    }

    /// Returns the cookies that a response sets.
    static func set(in fields: [LogEntry.Field]) -> [LoggedCookie] {
        fields.filter { $0.isCalled("set-cookie") }.map(\.value).map(set)
    }

    /// Returns the cookies in an archive's list.
    static func list(_ node: JSONNode?) -> [LoggedCookie] {
        node?.elements.compactMap { item in
            guard let name = item["name"]?.string, !name.isEmpty else { return nil }
            var cookie = LoggedCookie(name: name, value: item["value"]?.string ?? "")
            cookie.path = item["path"]?.string
            cookie.domain = item["domain"]?.string
            cookie.expires = item["expires"]?.string.flatMap(Timestamp.date)
            cookie.isHTTPOnly = item["httpOnly"]?.bool ?? false
            cookie.isSecure = item["secure"]?.bool ?? false
            cookie.sameSite = item["sameSite"]?.string
            return cookie
        } ?? []
    }

    /// The value of a `Set-Cookie` field that sets the cookie.
    var text: String {
        let attributes = [
            path.map { "Path=\($0)" }, domain.map { "Domain=\($0)" }, end.map { "Expires=\($0)" },
            sameSite.map { "SameSite=\($0)" },
        ]
        let flags = [isSecure ? "Secure" : nil, isHTTPOnly ? "HttpOnly" : nil]
        return (["\(name)=\(value)"] + (attributes + flags).compactMap(\.self)).joined(separator: "; ")
    }

    /// The expiry date in HTTP's format; `nil` if the cookie has no expiry date, or if its year doesn't have four
    /// digits.
    private var end: String? {
        guard let seconds = expires?.timeIntervalSince1970, (0..<253_402_300_800).contains(seconds) else { return nil }
        return HTTPDate(seconds: Int64(seconds)).description
    }

    private static func set(_ text: String) -> LoggedCookie {
        let attributes = text.split(separator: ";", omittingEmptySubsequences: false)
        let (name, value) = parts(of: attributes[0])
        var cookie = LoggedCookie(name: name, value: value)
        for attribute in attributes.dropFirst() {
            let (name, value) = parts(of: attribute)
            switch name.lowercased() {
            case "path": cookie.path = value
            case "domain": cookie.domain = value
            case "expires":
                cookie.expires = CookieDate.seconds(value).map { Date(timeIntervalSince1970: Double($0)) }
            case "httponly": cookie.isHTTPOnly = true
            case "secure": cookie.isSecure = true
            case "samesite": cookie.sameSite = value
            default: break
            }
        }
        return cookie
    }

    private static func parts(of pair: Substring) -> (name: String, value: String) {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
            String(part.drop { $0 == " " || $0 == "\t" })
        }
        return (parts[0], parts.dropFirst().first ?? "")
    }

    func write(to output: inout JSONOutput) {
        output.object { output in
            output.member("name", name)
            output.member("value", value)
            if let path { output.member("path", path) }
            if let domain { output.member("domain", domain) }
            if let expires { output.member("expires", Timestamp.text(of: expires)) }
            if isHTTPOnly { output.member("httpOnly", true) }
            if isSecure { output.member("secure", true) }
            if let sameSite { output.member("sameSite", sameSite) }
        }
    }
}

/// The items of a URL's query as an archive lists them, always derived from the URL.
package enum QueryItems {
    static func of(_ url: String) -> [(name: String, value: String)] {
        let url = Array(url.utf8)
        guard let mark = url.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return items(url[(mark + 1)...].prefix { $0 != UInt8(ascii: "#") })
    }

    /// Returns the items of a URL-encoded query or form.
    package static func items(_ query: Substring) -> [(name: String, value: String)] { items(Array(query.utf8)[...]) }

    private static func items(_ query: ArraySlice<UInt8>) -> [(name: String, value: String)] {
        query.split(separator: UInt8(ascii: "&")).map { item in
            let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            return (decoded(item[..<equals]), decoded(item[equals...].dropFirst()))
        }
    }

    /// Decodes percent-encoded text. A plus sign is a space, as in forms.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let text = Substring(decoding: bytes, as: UTF8.self)
        return SecretNames.decoded(bytes.contains(UInt8(ascii: "+")) ? text.replacing("+", with: " ") : text)
    }
}
