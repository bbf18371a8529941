public import BeagleNet
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Says which entries of a log are wanted:
/// `type==submitForm && host~"*.example.com" && status>=400 && time>500ms && body~"token"`.
///
/// - Fields of text: `type` (or `kind`), `method`, `host`, `path`, `url`, `error`, `operation`, `id`, `header(Name)` and
///   `body`, the last two of message and answer. `==` and `!=` compare the whole text, `type`, `method`, `host` and headers
///   without regard to case; `~` looks for a part of it, or matches all of it with `*` for any text and `?` for any
///   character. ASCII letters match in either case.
/// - Fields of numbers: `status`, also as `4xx`; `time` in milliseconds, or with `us`, `ms`, `s`, `m`; `size` of the
///   answer's body in bytes, or with `k`, `M`, `G`. They compare by `==`, `!=`, `>`, `>=`, `<`, `<=`.
/// - A field alone asks whether there is something: `error`, `!header(Cookie)`. What an entry does not have compares as
///   nothing, and only `!=` is true of it.
/// - `&&`, `||`, `!` and parentheses; terms beside each other must all be true. mitmproxy's `~u` (URL), `~d` (host), `~m`
///   (method), `~c` (status), `~t` (content type), `~b` (body) and `~e` (error) are understood.
public struct EntryFilter: Sendable, Hashable, CustomStringConvertible {
    /// The filter as it was written.
    public let description: String
    private let condition: Condition

    /// Reads a filter.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` that says at which column what should be.
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

    /// Whether an entry is wanted. A body that is in a file is taken for none: `Recording.entries(matching:)` reads it.
    public func matches(_ entry: LogEntry) -> Bool {
        matches(entry) { body in
            if case .data(let data) = body.content { return data }
            return nil
        }
    }

    /// Whether an entry is wanted.
    ///
    /// - Parameter data: the bytes of a body; asked only where the filter looks at bodies.
    package func matches(_ entry: LogEntry, data: (LoggedBody) -> Data?) -> Bool {
        withoutActuallyEscaping(data) { condition.holds(FilteredEntry(entry: entry, data: $0)) }
    }
}

/// What must be true of an entry.
indirect enum Condition: Sendable, Hashable {
    case all([Condition])
    case any([Condition])
    case not(Condition)
    case has(FilterField)
    /// The whole text.
    case equals(FilterField, String)
    case matches(FilterField, Glob)
    case compares(FilterField, Comparison, Double)
    /// A hundred of statuses.
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

/// How numbers are compared.
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

/// What a filter can look at.
enum FilterField: Sendable, Hashable {
    case kind, method, host, path, url, status, time, size, error, operation, id, body
    /// Fields of this name, of message and answer.
    case header(String)

    var isNumber: Bool {
        switch self {
        case .status, .time, .size: true
        default: false
        }
    }

    /// Whether `==` tells upper from lower case.
    fileprivate var hasCase: Bool {
        switch self {
        case .kind, .method, .host, .header: false
        default: true
        }
    }
}

/// What a filter sees of an entry.
private struct FilteredEntry {
    let entry: LogEntry
    let data: (LoggedBody) -> Data?

    var status: Int? { entry.response.flatMap { $0.status > 0 ? $0.status : nil } }

    /// Milliseconds, bytes, or a status; nil where there is none.
    func number(_ field: FilterField) -> Double? {
        switch field {
        case .status: status.map { Double($0) }
        case .time: entry.timings.total.milliseconds
        case .size: entry.response.flatMap { $0.body.size >= 0 ? Double($0.body.size) : nil }
        default: nil
        }
    }

    /// Whether one of the field's values, where it has any, is as it should be.
    func contains(_ field: FilterField, _ isWanted: (String) -> Bool) -> Bool {
        let place = URLPlace(entry.request.url)
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
    /// The duration as archives write it.
    var milliseconds: Double {
        Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15
    }
}

/// Where a URL leads, as far as its text says so: a log's URL need not be a valid one.
package struct URLPlace: Hashable {
    /// In lower case and without a port; of an IPv6 address without brackets.
    package let host: String
    /// As it is written, and `/` where it is empty.
    package let path: String

    package init(_ url: String) {
        // Among scalars: a combining character behind a mark makes one `Character` of the two.
        let all = url.unicodeScalars
        let start = all.firstRange(of: "://".unicodeScalars)?.upperBound ?? all.startIndex
        let place = all[start...].prefix { $0 != "?" && $0 != "#" }
        let authority = place.prefix { $0 != "/" }
        let path = String(place[authority.endIndex...])
        self.path = path.isEmpty ? "/" : path
        let site = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let host = site.first == "[" ? site.dropFirst().prefix { $0 != "]" } : site.prefix { $0 != ":" }
        self.host = String(host).lowercased()
    }
}
