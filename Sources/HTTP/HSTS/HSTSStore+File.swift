/// The file format of curl's `--hsts` (https://curl.se/docs/hsts.html).
extension HSTSStore {
    private static let unlimited = "unlimited"

    /// Creates a store with the hosts from a file in curl's format.
    ///
    /// Each line has a host, preceded by a dot if its subdomains are included, and the expiry in UTC, in quotes.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - now: The clock that decides when hosts expire.
    ///   - onSkippedLine: Called with an error of kind `.file` for each invalid line. The other lines are still read.
    /// - Throws: `NetworkError` of kind `.file` that names the file. If no line is valid, it also names the first line.
    public convenience init(
        contentsOf path: String,
        now: @escaping @Sendable () -> Date = { Date() },
        onSkippedLine: (NetworkError) -> Void = { _ in }
    ) throws(NetworkError) {
        self.init(now: now)
        let hosts = try PrivateFile(path: path)
            .entries(
                "a valid HSTS host",
                advice: "write it as: .example.com \"20301231 23:59:59\"",
                onSkippedLine,
                Self.host
            )
        for host in hosts { set(host) }
    }

    /// Writes the hosts to a file that only its owner may read, replacing it atomically.
    ///
    /// - Parameter path: The path of the file. An existing file is replaced.
    /// - Throws: `NetworkError` of kind `.file`.
    public func save(to path: String) throws(NetworkError) {
        let lines = hosts.map { host in
            let time = host.expires == .distantFuture ? Self.unlimited : host.expires.curlText
            return "\(host.includesSubdomains ? "." : "")\(host.name) \"\(time)\"\n"
        }
        let head = "# Your HSTS cache. https://curl.se/docs/hsts.html\n"
        try PrivateFile(path: path).write(head + lines.sorted().joined())
    }

    private static func host(_ line: Substring) -> Host? {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[1].count > 1, parts[1].hasPrefix("\""), parts[1].hasSuffix("\"") else {
            return nil
        }
        let name = parts[0].hasPrefix(".") ? parts[0].dropFirst() : parts[0]
        let time = parts[1].dropFirst().dropLast()
        guard let expires = time == unlimited ? .distantFuture : Date(curl: time) else { return nil }
        let host = Host(name: String(name), includesSubdomains: parts[0].hasPrefix("."), expires: expires)
        return host.name.isEmpty ? nil : host
    }
}
