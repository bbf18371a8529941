public import BeagleNet
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Recording {
    /// A filter of log entries:
    /// `type==submitForm && host~"*.example.com" && status>=400 && time>500ms && body~"token"`.
    ///
    /// - Text fields: `type` (or `kind`), `method`, `host`, `path`, `url`, `error`, `operation`, `id`, `header(Name)`
    ///   and `body`, the last two of requests and responses. `==` and `!=` compare the whole text, ignoring case for
    ///   `type`, `method`, `host` and headers. `~` finds a part of the text; with the wildcards `*` for any text and
    ///   `?` for any character, it matches the whole text. It ignores the case of ASCII letters.
    /// - Number fields: `status`, also as `4xx`; `time` in milliseconds, or with `us`, `ms`, `s`, `m`; `size` of the
    ///   response body in bytes, or with `k`, `M`, `G`. They are compared with `==`, `!=`, `>`, `>=`, `<`, `<=`.
    /// - A field alone tests whether it exists: `error`, `!header(Cookie)`. For a missing field, all comparisons except
    ///   `!=` are false.
    /// - Combinations: `&&`, `||`, `!` and parentheses. Adjacent terms are combined with `&&`. mitmproxy's `~u` (URL),
    ///   `~d` (host), `~m` (method), `~c` (status), `~t` (content type), `~b` (body) and `~e` (error) are supported.
    public struct Filter: Sendable, Hashable, CustomStringConvertible {
        /// The text of the filter.
        public let description: String
        private let condition: Condition

        /// Parses a filter.
        ///
        /// - Throws: `NetworkError` of kind `.badConfiguration` that states the column and the reason.
        public init(_ text: String) throws(NetworkError) {
            description = text
            do throws(FilterParser.Fault) {
                condition = try FilterParser.condition(in: text)
            } catch {
                throw NetworkError(
                    .badConfiguration,
                    during: .build,
                    "the filter is invalid at column \(error.column): \(error.reason)",
                    advice: error.advice
                )
            }
        }

        /// Returns whether an entry matches.
        ///
        /// Bodies in files are ignored; `Recording.entries(matching:)` reads them.
        public func matches(_ entry: LogEntry) -> Bool {
            matches(entry) { body in
                if case .data(let data) = body.content { return data }
                return nil
            }
        }

        /// Returns whether an entry matches.
        ///
        /// - Parameter data: returns the bytes of a body; called only if the filter uses bodies.
        package func matches(_ entry: LogEntry, data: (LogEntry.Body) -> Data?) -> Bool {
            withoutActuallyEscaping(data) { condition.holds(FilteredEntry(entry: entry, data: $0)) }
        }
    }
}

/// A condition on an entry.
indirect enum Condition: Sendable, Hashable {
    case all([Condition])
    case any([Condition])
    case not(Condition)
    case has(FilterField)
    /// The whole text is equal.
    case equals(FilterField, String)
    case matches(FilterField, Glob)
    case compares(FilterField, Comparison, Double)
    /// The status is in a class, such as 4xx.
    case status(hundred: Int)

    fileprivate func holds(_ entry: FilteredEntry) -> Bool {
        switch self {
        case .all(let conditions): conditions.allSatisfy { $0.holds(entry) }
        case .any(let conditions): conditions.contains { $0.holds(entry) }
        case .not(let condition): !condition.holds(entry)
        case .has(let field): field.isNumber ? entry.number(field) != nil : entry.contains(field) { _ in true }
        case .equals(let field, let text): entry.contains(field) { field.hasCase ? $0 == text : $0.isSame(text) }
        case .matches(.body, let glob): entry.bodies.contains(where: glob.matches)
        case .matches(let field, let glob): entry.contains(field, glob.matches)
        case .compares(let field, let comparison, let number):
            entry.number(field).map { comparison.holds($0, number) } ?? false
        case .status(let hundred): entry.status.map { $0 / 100 == hundred } ?? false
        }
    }
}

extension Condition {
    /// A comparison of numbers.
    enum Comparison: Sendable, Hashable {
        case equal, greater, greaterOrEqual, less, lessOrEqual

        fileprivate func holds(_ left: Double, _ right: Double) -> Bool {
            switch self {
            case .equal: left == right
            case .greater: left > right
            case .greaterOrEqual: left >= right
            case .less: left < right
            case .lessOrEqual: left <= right
            }
        }
    }
}

/// The values of an entry that a filter tests.
private struct FilteredEntry {
    let entry: LogEntry
    let data: (LogEntry.Body) -> Data?

    var status: Int? { entry.response.flatMap { $0.status > 0 ? $0.status : nil } }

    /// Returns a number in milliseconds or bytes, or a status; `nil` if the entry has no such value.
    func number(_ field: FilterField) -> Double? {
        switch field {
        case .status: status.map { Double($0) }
        case .time: entry.timings.total.milliseconds
        case .size: entry.response.flatMap { $0.body.size >= 0 ? Double($0.body.size) : nil }
        default: nil
        }
    }

    /// Returns whether one of the field's values satisfies a predicate.
    func contains(_ field: FilterField, _ isWanted: (String) -> Bool) -> Bool {
        let place = URLComponentsText(entry.request.url)
        return switch field {
        case .kind: entry.kind.map(isWanted) ?? false
        case .method: isWanted(entry.request.method)
        case .host: isWanted(place.host)
        case .path: isWanted(place.path)
        case .url: isWanted(entry.request.url)
        case .error: entry.error.map(isWanted) ?? false
        case .operation: entry.operationName.map(isWanted) ?? false
        case .id: !entry.id.isEmpty && isWanted(entry.id)
        case .body: bodies.contains { isWanted(String(decoding: $0, as: UTF8.self)) }
        case .header(let name):
            (entry.request.fields + (entry.response?.fields ?? [])).contains { field in
                field.name.isSame(name) && isWanted(field.value)
            }
        case .status, .time, .size: false
        }
    }

    var bodies: [Data] {
        [entry.request.body, entry.response?.body].compactMap(\.self).compactMap(data).filter { !$0.isEmpty }
    }
}

extension String {
    fileprivate func isSame(_ other: String) -> Bool { lowercased() == other.lowercased() }
}

extension Duration {
    /// The duration in milliseconds, the unit of archives.
    var milliseconds: Double {
        Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15
    }
}
