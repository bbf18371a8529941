import BeagleNet

/// Something that two requests must have in common to be taken for the same. Rules are values: give those that count.
///
/// ```swift
/// ReplayClient(recording, matching: [.method, .path, .query(ignoring: ["ts"]), try .body(ignoring: ["$.sentAt"])])
/// ```
///
/// What is compared is what a log would hold, on both sides: without secrets. Where a recording has `REDACTED`, or did not
/// keep what was sent, anything is the same.
public struct MatchRule: Sendable {
    private let read: @Sendable (MatchSubject, inout [RequestPart]) -> Void

    init(_ read: @escaping @Sendable (MatchSubject, inout [RequestPart]) -> Void) {
        self.read = read
    }

    /// Adds what counts of a request.
    func read(_ subject: MatchSubject, into parts: inout [RequestPart]) {
        read(subject, &parts)
    }
}

extension [MatchRule] {
    /// Method, origin, path, query and body.
    public static let standard: [MatchRule] = [.method, .origin, .path, .query, .body]

    /// What counts of a request, in order.
    func parts(of subject: MatchSubject) -> [RequestPart] {
        var parts: [RequestPart] = []
        for rule in self { rule.read(subject, into: &parts) }
        return parts.ordered()
    }
}

// MARK: - The head

extension MatchRule {
    /// The method.
    public static let method = MatchRule { subject, parts in
        parts.append(RequestPart(.method, "", subject.request.method))
    }

    /// Scheme, host and port.
    public static let origin = origin([:])

    /// Scheme, host and port, where requests go elsewhere than those recorded.
    ///
    /// - Parameter recorded: for each origin that is asked the one that stands in the recording:
    ///   `["http://127.0.0.1:8080": "https://api.example.com"]`.
    public static func origin(_ recorded: [String: String]) -> MatchRule {
        let recorded = Dictionary(
            recorded.map { (RequestURL($0.key).origin, RequestURL($0.value).origin) },
            uniquingKeysWith: { $1 }
        )
        return MatchRule { subject, parts in
            let origin = subject.url.origin
            parts.append(RequestPart(.origin, "", subject.isRecorded ? origin : recorded[origin] ?? origin))
        }
    }

    /// The path, whichever of its harmless characters are percent-encoded.
    public static let path = MatchRule { subject, parts in
        parts.append(RequestPart(.path, "", subject.url.path))
    }

    /// The items of the query, in any order; those of one name in theirs.
    public static let query = query(ignoring: [])

    /// The items of the query, in any order, but those of these names.
    public static func query(ignoring ignored: Set<String>) -> MatchRule {
        MatchRule { subject, parts in
            for item in subject.url.query where !ignored.contains(item.name) {
                parts.append(RequestPart(.query, item.name, item.value))
            }
        }
    }

    /// The values of header fields of these names.
    public static func headers(_ names: [String]) -> MatchRule {
        let names = Set(names.map { $0.lowercased() })
        return MatchRule { subject, parts in
            for field in subject.request.fields {
                let name = field.name.lowercased()
                if names.contains(name) { parts.append(RequestPart(.header, name, subject.redacted(field))) }
            }
        }
    }

    /// What sort of thing the app asked, as `NetworkOperation.Kind` names it. Only a `ReplayClient` tells, and only logs
    /// of ours have it.
    public static let kind = MatchRule { subject, parts in
        if let kind = subject.kind { parts.append(RequestPart(.kind, "", kind)) }
    }

    /// Anything else.
    ///
    /// - Parameters:
    ///   - name: what a report of a miss calls it.
    ///   - value: what must be the same; nil where a request has nothing of the sort. It is given each request without
    ///     its secrets, those of the recording too, and should be quick.
    public static func custom(
        _ name: String,
        _ value: @escaping @Sendable (LoggedRequest) -> String?
    ) -> MatchRule {
        MatchRule { subject, parts in
            if let value = value(subject.withoutSecrets) { parts.append(RequestPart(.custom, name, value)) }
        }
    }
}

// MARK: - The body

extension MatchRule {
    /// The body as what it is: JSON by its members, whatever their order and however numbers are written, forms by their
    /// fields, multipart forms whatever their boundary, all else by its bytes.
    public static let body = body(ignoring: [], names: [])

    /// The body as what it is, but for some of it.
    ///
    /// - Parameter ignored: places in JSON, as `JSONPath` has them, each with all that is below it (`$.sentAt`,
    ///   `$.items[*].id`), and names of fields.
    /// - Throws: `NetworkError` of kind `.badConfiguration` where a place cannot be read.
    public static func body(ignoring ignored: Set<String>) throws(NetworkError) -> MatchRule {
        var paths: [JSONPath] = []
        for text in ignored.sorted() where text.hasPrefix("$") { paths.append(try JSONPath(text)) }
        return body(ignoring: paths, names: ignored)
    }

    private static func body(ignoring paths: [JSONPath], names: Set<String>) -> MatchRule {
        MatchRule { BodyParts(of: $0, ignoring: paths, names: names).read(into: &$1) }
    }

    /// The body's bytes.
    public static let bytes = MatchRule { subject, parts in
        BodyParts(of: subject).readBytes(into: &parts)
    }

    /// What a GraphQL operation is told by: its name, its variables, and its document but for white space, commas and
    /// comments. A body that holds none counts as `body` has it.
    public static let graphQL = MatchRule { subject, parts in
        BodyParts(of: subject).readGraphQL(into: &parts)
    }
}
