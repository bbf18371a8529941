/// The file format of curl's `--hsts` (https://curl.se/docs/hsts.html).
extension HSTSStore {
    private static let forEver = "unlimited"

    /// A store with the hosts of a file, as curl writes it: in each line a host, a dot before it where those below are
    /// meant, and in quotes until when in UTC.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - now: tells the time, by which hosts are forgotten.
    ///   - onSkippedLine: Called with an error of kind `.file` for each line that cannot be read. The other lines are read.
    /// - Throws: `NetworkError` of kind `.file` that names the file, and the first line if no line can be read.
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

    /// Writes the hosts into a file that nobody but its owner may read, all at once.
    ///
    /// - Parameter path: where the file goes; one that is there is replaced.
    /// - Throws: `NetworkError` of kind `.file`.
    public func save(to path: String) throws(NetworkError) {
        let lines = hosts.map { host in
            let time = host.expires == .distantFuture ? Self.forEver : host.expires.curlText
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
        guard let expires = time == forEver ? .distantFuture : Date(curl: time) else { return nil }
        let host = Host(name: String(name), includesSubdomains: parts[0].hasPrefix("."), expires: expires)
        return host.name.isEmpty ? nil : host
    }
}
