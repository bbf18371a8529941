public import BeagleNet

/// A document as a literal, with fragments and selections put into it.
///
/// ```swift
/// let text: GraphQLText = """
///     query Post($id: ID!) {
///       post(id: $id) { title author { \(authorParts) } comments \(selectionOf: [Comment].self) }
///     }
///     """
/// ```
/// A fragment is written as `...Name`, and its definition is appended once, with those of the fragments it uses. No value
/// can be put in: between quotes it could end them and change what the server does, and each value would make another
/// document, which no server and no cache would know. Values are variables.
public struct GraphQLText: Sendable, Hashable {
    /// The text without the definitions of fragments that were put into it.
    let body: String
    /// All fragments of the text, each once, those first that come first.
    let fragments: [GraphQLFragment]
    /// Why something that was put in could not be written.
    let problem: Problem?

    struct Problem: Sendable, Hashable {
        let message: String
        let advice: String?
    }

    /// Text as it is.
    ///
    /// - Parameter text: a document or a part of one, as a file has it. Never what a user wrote.
    public init(verbatim text: String) {
        self.init(body: text)
    }

    init(body: String, fragments: [GraphQLFragment] = [], problem: Problem? = nil) {
        self.body = body
        self.fragments = fragments
        self.problem = problem
    }

    /// The text, read.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` where it is no document, or a selection could not be derived.
    public func document() throws(NetworkError) -> GraphQLDocument {
        if let problem {
            throw NetworkError(.badRequest, during: .build, problem.message, advice: problem.advice)
        }
        return try GraphQLDocument.cached(description)
    }
}

extension GraphQLText: CustomStringConvertible {
    /// The text, with the definitions of its fragments behind it.
    public var description: String {
        ([body] + fragments.map(\.definition)).joined(separator: "\n")
    }
}

extension GraphQLText: ExpressibleByStringInterpolation {
    /// Text without anything put in.
    public init(stringLiteral value: String) {
        self.init(body: value)
    }

    /// Text with what was put in.
    public init(stringInterpolation: StringInterpolation) {
        self.init(
            body: stringInterpolation.body,
            fragments: stringInterpolation.fragments,
            problem: stringInterpolation.problem
        )
    }

    /// What can be put into a document.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var body = ""
        fileprivate var fragments: [GraphQLFragment] = []
        fileprivate var problem: Problem?

        /// Room for a text.
        public init(literalCapacity: Int, interpolationCount: Int) {
            body.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Writes a part of the literal.
        public mutating func appendLiteral(_ literal: String) {
            body += literal
        }

        /// Spreads a fragment, and appends its definition to the document.
        public mutating func appendInterpolation(_ fragment: GraphQLFragment) {
            body += "...\(fragment.name)"
            append([fragment] + fragment.selection.fragments, fragment.selection.problem)
        }

        /// Writes another text here, and appends the definitions of its fragments to the document.
        public mutating func appendInterpolation(_ text: GraphQLText) {
            body += text.body
            append(text.fragments, text.problem)
        }

        /// Writes what a Swift type reads, in braces: see `GraphQLSelection.of`. It is nothing for what has no fields.
        ///
        /// - Parameters:
        ///   - type: the type.
        ///   - arguments: what fields are given, by the way to them.
        public mutating func appendInterpolation(
            selectionOf type: (some Decodable).Type,
            arguments: [String: GraphQLMembers] = [:]
        ) {
            do throws(NetworkError) {
                appendInterpolation(try GraphQLSelection.of(type, arguments: arguments))
            } catch {
                // Nobody shall take it for a document.
                body += "{}"
                append([], Problem(message: error.message, advice: error.advice))
            }
        }

        /// Writes a selection, in braces, and appends the definitions of its fragments to the document.
        public mutating func appendInterpolation(_ selection: GraphQLSelection) {
            var writer = GraphQLWriter()
            writer.write(selection)
            body += writer.text
            append(writer.fragments, writer.problem)
        }

        /// Writes text as it is: a name that is chosen at run time, a part from a file. Never what a user wrote.
        public mutating func appendInterpolation(verbatim text: String) {
            body += text
        }

        /// A value does not belong here.
        @available(
            *,
            unavailable,
            message: "a value could change the meaning of the document: declare a variable and send the value in it"
        )
        public mutating func appendInterpolation<Value>(_ value: Value) {}

        private mutating func append(_ more: [GraphQLFragment], _ problem: Problem?) {
            for fragment in more where !fragments.contains(fragment) { fragments.append(fragment) }
            self.problem = self.problem ?? problem
        }
    }
}
