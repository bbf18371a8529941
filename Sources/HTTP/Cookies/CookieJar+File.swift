/// The Netscape cookie file format, which curl reads and writes (https://curl.se/docs/http-cookies.html).
extension CookieJar {
    /// Creates a jar with the cookies from a file in Netscape format, as curl writes it.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - now: The clock that decides when cookies expire.
    ///   - onSkippedLine: Called with an error of kind `.file` for each invalid line. The other lines are still read.
    /// - Throws: `NetworkError` of kind `.file` that names the file. If no line is valid, it also names the first line.
    public convenience init(
        contentsOf path: String,
        now: @escaping @Sendable () -> Date = { Date() },
        onSkippedLine: (NetworkError) -> Void = { _ in }
    ) throws(NetworkError) {
        self.init(now: now)
        let advice =
            "separate its seven fields with tabs: domain, TRUE for subdomains, path, TRUE for https only, "
            + "expiry in seconds since 1970, name, value"
        let cookies = try PrivateFile(path: path)
            .entries("a valid cookie", advice: advice, onSkippedLine, comments: Cookie.isComment, Cookie.init(line:))
        for cookie in cookies { set(cookie) }
    }

    /// Writes the cookies to a file that only its owner may read, replacing it atomically.
    ///
    /// `SameSite` is lost. A cookie that the app created is left out if the format can't represent it: if it contains a
    /// tab or another control character, if a part begins or ends with a space, or if its path doesn't begin with a
    /// slash.
    ///
    /// - Parameters:
    ///   - path: The path of the file. An existing file is replaced.
    ///   - keepsSessions: Whether session cookies are written, too. `true` by default, as with curl.
    /// - Throws: `NetworkError` of kind `.file`.
    public func save(to path: String, keepsSessions: Bool = true) throws(NetworkError) {
        let lines = cookies.filter { keepsSessions || $0.expires != nil }.map(\.line).sorted()
        let head = "# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n\n"
        let readable = lines.filter { !Cookie.isComment($0[...]) && Cookie(line: $0[...]) != nil }
        try PrivateFile(path: path).write(Data((head + readable.map { $0 + "\n" }.joined()).opaqueBytes))
    }
}

extension Cookie {
    private static let httpOnlyMark = "#HttpOnly_"

    /// The cookie as a line of a file.
    fileprivate var line: String {
        [
            (isHTTPOnly ? Self.httpOnlyMark : "") + (isHostOnly ? "" : ".") + domain, isHostOnly ? "FALSE" : "TRUE",
            path,
            isSecure ? "TRUE" : "FALSE", String(end), name, value,
        ].joined(separator: "\t")
    }

    /// The expiry in seconds since 1970, clamped to the range of `Int64`, or 0 for a session cookie.
    private var end: Int64 {
        guard let seconds = expires?.timeIntervalSince1970 else { return 0 }
        return Int64(exactly: seconds.rounded(.towardZero)) ?? (seconds < 0 ? .min : .max)
    }

    /// Returns whether a line is empty or a comment.
    fileprivate static func isComment(_ line: Substring) -> Bool {
        let text = line.hasPrefix(httpOnlyMark) ? line.dropFirst(httpOnlyMark.count) : line
        return text.allSatisfy(\.isWhitespace) || text.hasPrefix("#")
    }

    /// Parses a line of a file, or returns `nil` if it isn't a valid cookie.
    fileprivate init?(line: Substring) {
        let isHTTPOnly = line.hasPrefix(Self.httpOnlyMark)
        let text = isHTTPOnly ? line.dropFirst(Self.httpOnlyMark.count) : line
        let parts = text.unicodeScalars.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 7 || parts.count == 6, !parts[0].isEmpty, parts[2].utf8.first == UInt8(ascii: "/"),
            let seconds = Int64(parts[4]), parts.allSatisfy(HTTPField.isValidValue)
        else { return nil }
        self.init(
            name: parts[5],
            value: parts.count == 7 ? parts[6] : "",
            domain: parts[0].hasPrefix(".") ? String(parts[0].dropFirst()) : parts[0],
            isHostOnly: parts[1].uppercased() != "TRUE",
            path: parts[2],
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds)),
            isSecure: parts[3].uppercased() == "TRUE",
            isHTTPOnly: isHTTPOnly
        )
    }
}
