public import BeagleNet
import BeagleNetHTTP

/// One entry of `errors` in a server's answer (GraphQL specification, 7.1.7).
///
/// Read tolerantly: what is missing or of another shape is left out, and `raw` keeps what was said.
public struct GraphQLError: Error, Sendable, Hashable {
    /// A place in the document, counted from 1.
    public struct Location: Sendable, Hashable {
        /// The line.
        public var line: Int
        /// The column.
        public var column: Int

        /// A place.
        public init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    /// A step on the way to a field of the answer.
    public enum PathElement: Sendable, Hashable {
        /// A response key.
        case key(String)
        /// A place in a list, counted from 0.
        case index(Int)
    }

    /// What the server said; empty where it said nothing.
    public var message: String
    /// Where in the document.
    public var locations: [Location]
    /// Which field of the answer; empty where it is about the whole request.
    public var path: [PathElement]
    /// What servers add, as a `code`.
    public var extensions: [String: JSONValue]
    /// The entry as it came.
    public var raw: JSONValue

    /// An error that says this.
    public init(
        _ message: String,
        locations: [Location] = [],
        path: [PathElement] = [],
        extensions: [String: JSONValue] = [:]
    ) {
        self.message = message
        self.locations = locations
        self.path = path
        self.extensions = extensions
        raw = .object(["message": .string(message)])
    }

    /// An entry of `errors` of any shape.
    public init(_ entry: JSONValue) {
        message = entry["message"]?.string ?? entry.string ?? ""
        locations = (entry["locations"]?.array ?? []).compactMap { place in
            guard let line = place["line"]?.integer, let column = place["column"]?.integer else { return nil }
            return Location(line: Int(clamping: line), column: Int(clamping: column))
        }
        path = (entry["path"]?.array ?? []).compactMap { step in
            step.string.map(PathElement.key) ?? step.integer.map { .index(Int(clamping: $0)) }
        }
        extensions = entry["extensions"]?.object ?? [:]
        raw = entry
    }

    /// `extensions.code`, by which servers tell kinds of errors apart.
    public var code: String? { extensions["code"]?.string }
}

extension GraphQLError: CustomStringConvertible {
    /// The server's message, the field and the code, without secrets; `message` is as it came. An entry without a message is
    /// shown as JSON.
    public var description: String {
        var text = message.isEmpty ? "an error without a message\(entryText)" : message
        if !path.isEmpty { text += " at \(path.map(\.description).joined(separator: "."))" }
        if let code { text += " [\(code)]" }
        return Redactor.standard.redact(text: text)
    }

    private var entryText: String {
        if raw == .null || raw.object?.isEmpty == true || raw.string?.isEmpty == true { return "" }
        return ": \(Redactor.standard.redact(text: raw.description).prefix(1000))"
    }
}

extension GraphQLError.PathElement: CustomStringConvertible {
    /// The key or the index.
    public var description: String {
        switch self {
        case .key(let key): key
        case .index(let index): "\(index)"
        }
    }
}
