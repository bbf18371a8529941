public import BeagleNet

/// A document literal with interpolated fragments and selections.
///
/// ```swift
/// let text: GraphQLText = """
///     query Post($id: ID!) {
///       post(id: $id) { title author { \(authorParts) } comments \(selectionOf: [Comment].self) }
///     }
///     """
/// ```
/// A fragment is written as `...Name`, and its definition is appended once, together with the fragments it uses. Values
/// can't be interpolated: a value in quotes could end the quotes and change the operation, and each value would create
/// another document that servers and caches don't know. Use variables for values.
public struct GraphQLText: Sendable, Hashable {
    /// The text without the definitions of interpolated fragments.
    let body: String
    /// The fragments of the text without duplicates, in order of first use.
    let fragments: [GraphQLSelection.Fragment]
    /// An error in an interpolation.
    let problem: Problem?

    struct Problem: Sendable, Hashable {
        let message: String
        let advice: String?
    }

    /// Creates a text from a string.
    ///
    /// - Parameter text: A document or a part of one, for example from a file. Never pass user input.
    public init(verbatim text: String) {
        self.init(body: text)
    }

    init(body: String, fragments: [GraphQLSelection.Fragment] = [], problem: Problem? = nil) {
        self.body = body
        self.fragments = fragments
        self.problem = problem
    }

    /// Returns the parsed document.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` if the text is not a valid document, or if a selection could not
    ///   be derived.
    public func document() throws(NetworkError) -> GraphQLDocument {
        if let problem {
            throw NetworkError(.badRequest, during: .build, problem.message, advice: problem.advice)
        }
        return try GraphQLDocument.cached(description)
    }
}

extension GraphQLText: CustomStringConvertible {
    /// The text, followed by the definitions of its fragments.
    public var description: String {
        ([body] + fragments.map(\.definition)).joined(separator: "\n")
    }
}

extension GraphQLText: ExpressibleByStringInterpolation {
    /// Creates a text without interpolations.
    public init(stringLiteral value: String) {
        self.init(body: value)
    }

    /// Creates a text with interpolations.
    public init(stringInterpolation: StringInterpolation) {
        self.init(
            body: stringInterpolation.body,
            fragments: stringInterpolation.fragments,
            problem: stringInterpolation.problem
        )
    }

    /// The interpolations of a document literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var body = ""
        fileprivate var fragments: [GraphQLSelection.Fragment] = []
        fileprivate var problem: Problem?

        /// Creates an empty text with reserved capacity.
        public init(literalCapacity: Int, interpolationCount: Int) {
            body.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Appends a part of the literal.
        public mutating func appendLiteral(_ literal: String) {
            body += literal
        }

        /// Appends a fragment spread, and adds the fragment's definition to the document.
        public mutating func appendInterpolation(_ fragment: GraphQLSelection.Fragment) {
            body += "...\(fragment.name)"
            append([fragment] + fragment.selection.fragments, fragment.selection.problem)
        }

        /// Appends another text, and adds the definitions of its fragments to the document.
        public mutating func appendInterpolation(_ text: GraphQLText) {
            body += text.body
            append(text.fragments, text.problem)
        }

        /// Appends the selection of a Swift type, in braces; see `GraphQLSelection.of`.
        ///
        /// Appends nothing for a type without fields.
        ///
        /// - Parameters:
        ///   - type: The type.
        ///   - arguments: The arguments of fields by path.
        public mutating func appendInterpolation(
            selectionOf type: (some Decodable).Type,
            arguments: [String: GraphQLValue.Members] = [:]
        ) {
            do throws(NetworkError) {
                appendInterpolation(try GraphQLSelection.of(type, arguments: arguments))
            } catch {
                // Empty braces make the document invalid.
                body += "{}"
                append([], Problem(message: error.message, advice: error.advice))
            }
        }

        /// Appends a selection in braces, and adds the definitions of its fragments to the document.
        public mutating func appendInterpolation(_ selection: GraphQLSelection) {
            var writer = GraphQLWriter()
            writer.write(selection)
            body += writer.text
            append(writer.fragments, writer.problem)
        }

        /// Appends a string unchanged, such as a name chosen at run time or a part from a file.
        ///
        /// Never pass user input.
        public mutating func appendInterpolation(verbatim text: String) {
            body += text
        }

        /// Rejects values, which must be sent as variables.
        @available(
            *,
            unavailable,
            message: "a value could change the meaning of the document: declare a variable and send the value in it"
        )
        public mutating func appendInterpolation<Value>(_ value: Value) {}

        private mutating func append(_ more: [GraphQLSelection.Fragment], _ problem: Problem?) {
            for fragment in more where !fragments.contains(fragment) { fragments.append(fragment) }
            self.problem = self.problem ?? problem
        }
    }
}
