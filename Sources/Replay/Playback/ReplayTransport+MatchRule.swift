import BeagleNet

extension ReplayTransport {
    /// A rule that selects the parts of a request that must be equal to those of a recorded request.
    ///
    /// Rules are values and can be combined.
    ///
    /// ```swift
    /// ReplayClient(recording, matching: [.method, .path, .query(ignoring: ["ts"]), try .body(ignoring: ["$.sentAt"])])
    /// ```
    ///
    /// Both sides are compared without secrets, as a log would store them. If a recording has `REDACTED` in a place, or
    /// didn't store the data, any value matches.
    public struct MatchRule: Sendable {
        private let read: @Sendable (MatchSubject, inout [RequestPart]) -> Void

        init(_ read: @escaping @Sendable (MatchSubject, inout [RequestPart]) -> Void) {
            self.read = read
        }

        /// Adds the parts of a request that the rule selects.
        func read(_ subject: MatchSubject, into parts: inout [RequestPart]) {
            read(subject, &parts)
        }
    }
}

extension [ReplayTransport.MatchRule] {
    /// The standard rules: method, origin, path, query and body.
    public static let standard: [ReplayTransport.MatchRule] = [.method, .origin, .path, .query, .body]

    /// Returns the parts of a request that the rules select, in order.
    func parts(of subject: MatchSubject) -> [RequestPart] {
        var parts: [RequestPart] = []
        for rule in self { rule.read(subject, into: &parts) }
        return parts.ordered()
    }
}

// MARK: - The head

extension ReplayTransport.MatchRule {
    /// A rule that compares the method.
    public static let method = ReplayTransport.MatchRule { subject, parts in
        parts.append(RequestPart(.method, "", subject.request.method))
    }

    /// A rule that compares scheme, host and port.
    public static let origin = origin([:])

    /// Returns a rule that compares scheme, host and port, if requests are sent to other servers than the recorded
    /// ones.
    ///
    /// - Parameter recorded: the recorded origin for each requested one: `["http://127.0.0.1:8080":
    ///   "https://api.example.com"]`.
    public static func origin(_ recorded: [String: String]) -> ReplayTransport.MatchRule {
        let recorded = Dictionary(
            recorded.map { (RequestURL($0.key).origin, RequestURL($0.value).origin) },
            uniquingKeysWith: { $1 }
        )
        return ReplayTransport.MatchRule { subject, parts in
            let origin = subject.url.origin
            parts.append(RequestPart(.origin, "", subject.isRecorded ? origin : recorded[origin] ?? origin))
        }
    }

    /// A rule that compares the path, regardless of which unreserved characters are percent-encoded.
    public static let path = ReplayTransport.MatchRule { subject, parts in
        parts.append(RequestPart(.path, "", subject.url.path))
    }

    /// A rule that compares the items of the query.
    ///
    /// Their order doesn't matter, except among items with the same name.
    public static let query = query(ignoring: [])

    /// Returns a rule that compares the items of the query, except for those with the given names.
    public static func query(ignoring ignored: Set<String>) -> ReplayTransport.MatchRule {
        ReplayTransport.MatchRule { subject, parts in
            for item in subject.url.query where !ignored.contains(item.name) {
                parts.append(RequestPart(.query, item.name, item.value))
            }
        }
    }

    /// Returns a rule that compares the values of header fields.
    public static func headers(_ names: [String]) -> ReplayTransport.MatchRule {
        let names = Set(names.map { $0.lowercased() })
        return ReplayTransport.MatchRule { subject, parts in
            for field in subject.request.fields {
                let name = field.name.lowercased()
                if names.contains(name) { parts.append(RequestPart(.header, name, subject.redacted(field))) }
            }
        }
    }

    /// A rule that compares the kind of operation, as named by `NetworkOperation.Kind`.
    ///
    /// Only a `ReplayClient` provides it, and only BeagleNet's logs contain it.
    public static let kind = ReplayTransport.MatchRule { subject, parts in
        if let kind = subject.kind { parts.append(RequestPart(.kind, "", kind)) }
    }

    /// Returns a custom rule.
    ///
    /// - Parameters:
    ///   - name: the name of the compared value in the report of a miss.
    ///   - value: returns the value that must be equal; `nil` if a request has none. It is called for each request,
    ///     also recorded ones, without secrets, and should be fast.
    public static func custom(
        _ name: String,
        _ value: @escaping @Sendable (LogEntry.Request) -> String?
    ) -> ReplayTransport.MatchRule {
        ReplayTransport.MatchRule { subject, parts in
            if let value = value(subject.withoutSecrets) { parts.append(RequestPart(.custom, name, value)) }
        }
    }
}

// MARK: - The body

extension ReplayTransport.MatchRule {
    /// A rule that compares the body according to its format.
    ///
    /// JSON is compared by its members, regardless of their order and the notation of numbers, forms by their fields,
    /// multipart forms regardless of their boundary, and other bodies by their bytes.
    public static let body = body(ignoring: [], names: [])

    /// Returns a rule that compares the body according to its format, except for some parts.
    ///
    /// - Parameter ignored: the ignored places in JSON, as paths of `JSONPath` that include everything below
    ///   (`$.sentAt`, `$.items[*].id`), and the names of ignored form fields.
    /// - Throws: `NetworkError` of kind `.badConfiguration` if a path is invalid.
    public static func body(ignoring ignored: Set<String>) throws(NetworkError) -> ReplayTransport.MatchRule {
        var paths: [JSONPath] = []
        for text in ignored.sorted() where text.hasPrefix("$") { paths.append(try JSONPath(text)) }
        return body(ignoring: paths, names: ignored)
    }

    private static func body(ignoring paths: [JSONPath], names: Set<String>) -> ReplayTransport.MatchRule {
        ReplayTransport.MatchRule { BodyParts(of: $0, ignoring: paths, names: names).read(into: &$1) }
    }

    /// A rule that compares the body's bytes.
    public static let bytes = ReplayTransport.MatchRule { subject, parts in
        BodyParts(of: subject).readBytes(into: &parts)
    }

    /// A rule that compares a GraphQL operation: its name, its variables and its document, ignoring white space, commas
    /// and comments.
    ///
    /// Other bodies are compared like in `body`.
    public static let graphQL = ReplayTransport.MatchRule { subject, parts in
        BodyParts(of: subject).readGraphQL(into: &parts)
    }
}
