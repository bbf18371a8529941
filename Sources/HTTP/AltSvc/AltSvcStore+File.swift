/// The file format of curl's `--alt-svc` (https://curl.se/docs/alt-svc.html).
extension AltSvcStore {
    /// Creates a store with the services from a file in curl's format.
    ///
    /// Each line has the origin's protocol, host and port; the service's protocol, host and port; the expiry in UTC, in
    /// quotes; 1 if the service stays valid when the network changes, otherwise 0; and a number that is ignored.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - now: The clock that decides when services expire.
    ///   - onSkippedLine: Called with an error of kind `.file` for each invalid line. The other lines are still read.
    ///     Lines for protocols other than HTTP/2 and HTTP/3 are skipped without an error.
    /// - Throws: `NetworkError` of kind `.file` that names the file. If no line is valid, it also names the first line.
    public convenience init(
        contentsOf path: String,
        now: @escaping @Sendable () -> Date = { Date() },
        onSkippedLine: (NetworkError) -> Void = { _ in }
    ) throws(NetworkError) {
        self.init(now: now)
        let advice = "write it as: h2 example.org 443 h2 other.example.org 8443 \"20301231 23:59:59\" 0 0"
        let lines = try PrivateFile(path: path)
            .entries("a valid alternative service", advice: advice, onSkippedLine, Line.init)
        for case let service? in lines.map(\.service) { try add(service) }
    }

    /// Writes the services to a file that only its owner may read, replacing it atomically.
    ///
    /// - Parameter path: The path of the file. An existing file is replaced.
    /// - Throws: `NetworkError` of kind `.file`.
    public func save(to path: String) throws(NetworkError) {
        // Sort by origin only, because the services of an origin are in order of preference.
        let lines = Dictionary(grouping: services, by: \.origin).map { origin, services in
            services.map { service in
                let name = service.version == .http3 ? "h3" : "h2"
                return "h2 \(origin.host) \(origin.port) \(name) \(service.host) \(service.port) "
                    + "\"\(service.expires.curlText)\" \(service.isPersistent ? 1 : 0) 0\n"
            }.joined()
        }
        let head = "# Your alt-svc cache. https://curl.se/docs/alt-svc.html\n"
        try PrivateFile(path: path).write(head + lines.sorted().joined())
    }

    private struct Line {
        /// The service, or `nil` if its protocol isn't supported.
        let service: Service?

        init?(_ line: Substring) {
            let quoted = line.split(separator: "\"", omittingEmptySubsequences: false)
            guard quoted.count == 3, let expires = Date(curl: quoted[1]) else { return nil }
            let words = quoted[0].split(separator: " ").map(String.init)
            let flags = quoted[2].split(separator: " ")
            guard words.count == 6, let port = Int(words[2]), let otherPort = Int(words[5]), flags.count == 2,
                flags[0] == "0" || flags[0] == "1", (1...65_535).contains(port)
            else { return nil }
            guard let version = Service.versions[words[3]] else {
                service = nil
                return
            }
            let service = Service(
                for: Origin(scheme: "https", host: words[1], port: port),
                version,
                host: words[4].contains(":") && !words[4].hasPrefix("[") ? "[\(words[4])]" : words[4],
                port: otherPort,
                expires: expires,
                isPersistent: flags[0] == "1"
            )
            guard service.problem == nil else { return nil }
            self.service = service
        }
    }
}
