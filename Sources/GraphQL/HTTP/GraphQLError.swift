public import BeagleNet
import BeagleNetHTTP

/// An entry of `errors` in a server's response (GraphQL specification, 7.1.7).
///
/// Parsing is lenient: missing or malformed members are left out, and `raw` holds the original entry.
public struct GraphQLError: Error, Sendable, Hashable {
    /// A position in the document, counted from 1.
    public struct Location: Sendable, Hashable {
        /// The line number.
        public var line: Int
        /// The column number.
        public var column: Int

        /// Creates a position.
        public init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    /// An element of the path to a field of the response.
    public enum PathElement: Sendable, Hashable {
        /// A response key.
        case key(String)
        /// A list index, counted from 0.
        case index(Int)
    }

    /// The server's message; empty if it is missing.
    public var message: String
    /// The positions in the document.
    public var locations: [Location]
    /// The path of the field in the response; empty if the error concerns the whole request.
    public var path: [PathElement]
    /// Additional information from the server, such as a `code`.
    public var extensions: [String: JSONValue]
    /// The entry as received.
    public var raw: JSONValue

    /// Creates an error.
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

    /// Creates an error from an entry of `errors` of any shape.
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

    /// The value of `extensions.code`, which servers use to identify kinds of errors.
    public var code: String? { extensions["code"]?.string }
}

extension GraphQLError: CustomStringConvertible {
    /// The message, field path and code, with secrets redacted; `message` itself is not redacted.
    ///
    /// An entry without a message is shown as JSON.
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
