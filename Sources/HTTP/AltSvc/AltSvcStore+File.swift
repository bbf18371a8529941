/// The file format of curl's `--alt-svc` (https://curl.se/docs/alt-svc.html).
extension AltSvcStore {
    /// A store with the services of a file, as curl writes it: in each line the origin's protocol, host and port, the
    /// service's protocol, host and port, in quotes until when in UTC, whether it counts in another network, and a number.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - now: tells the time, by which services are forgotten.
    ///   - onSkippedLine: Called with an error of kind `.file` for each line that cannot be read. The other lines are read, but for
    ///     those of a protocol other than HTTP/2 and HTTP/3.
    /// - Throws: `NetworkError` of kind `.file` that names the file, and the first line if no line can be read.
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

    /// Writes the services into a file that nobody but its owner may read, all at once.
    ///
    /// - Parameter path: where the file goes; one that is there is replaced.
    /// - Throws: `NetworkError` of kind `.file`.
    public func save(to path: String) throws(NetworkError) {
        // Sorted by origin alone: of one origin the best comes first.
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
        /// nil where it speaks what we do not.
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
