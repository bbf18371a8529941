/// The file format of Netscape's browser, which curl reads and writes (https://curl.se/docs/http-cookies.html).
extension CookieJar {
    /// A jar with the cookies of a file in Netscape's format, as curl writes it.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - now: tells the time, by which cookies end.
    ///   - onSkippedLine: Called with an error of kind `.file` for each line that holds no cookie. The other lines are read.
    /// - Throws: `NetworkError` of kind `.file` that names the file, and the first line if no line holds a cookie.
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

    /// Writes the cookies into a file that nobody but its owner may read, all at once. `SameSite` is lost, and a cookie of the app's
    /// own with a part that the format can't hold is left out: a tab or another control character, spaces at its beginning or end, or a
    /// path that doesn't begin with a slash.
    ///
    /// - Parameters:
    ///   - path: where the file goes; one that is there is replaced.
    ///   - keepsSessions: whether cookies that end with the jar are written, too. Yes by default, as with curl.
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

    /// One line of a file.
    fileprivate var line: String {
        [
            (isHTTPOnly ? Self.httpOnlyMark : "") + (isHostOnly ? "" : ".") + domain, isHostOnly ? "FALSE" : "TRUE",
            path,
            isSecure ? "TRUE" : "FALSE", String(end), name, value,
        ].joined(separator: "\t")
    }

    /// Seconds since 1970, as far away as their number goes; 0: with the jar.
    private var end: Int64 {
        guard let seconds = expires?.timeIntervalSince1970 else { return 0 }
        return Int64(exactly: seconds.rounded(.towardZero)) ?? (seconds < 0 ? .min : .max)
    }

    /// Whether a line is empty or a comment.
    fileprivate static func isComment(_ line: Substring) -> Bool {
        let text = line.hasPrefix(httpOnlyMark) ? line.dropFirst(httpOnlyMark.count) : line
        return text.allSatisfy(\.isWhitespace) || text.hasPrefix("#")
    }

    /// nil for a line that holds no cookie.
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
