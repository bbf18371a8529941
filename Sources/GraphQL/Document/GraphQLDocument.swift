public import BeagleNet

/// An executable GraphQL document: operations and the fragments they use, parsed and validated by the rules that need
/// no schema.
///
/// ```swift
/// let document = try GraphQLDocument(parsing: "query Post($id: ID!) { post(id: $id) { id title } }")
/// try document.operation(named: nil).rootFields[0].key  // post
/// ```
/// Supports the specification of October 2021, and these additions of the 2025 draft: `\u{…}`, and descriptions of
/// operations, fragments and variables. Two documents are equal if their texts are equal, byte for byte.
public struct GraphQLDocument: Sendable {
    package let storage: GraphQLDocumentStorage

    /// Parses and validates a document.
    ///
    /// - Parameter text: Operations and fragments, nested no deeper than 200 levels.
    /// - Throws: `NetworkError` of kind `.badRequest` if the text is not valid GraphQL, or if it breaks a rule that
    ///   needs no schema: duplicate names, an unnamed operation next to others, fragments that don't exist or contain
    ///   themselves, undeclared variables. The message has the line and column, counted from 1.
    public init(parsing text: String) throws(NetworkError) {
        storage = try GraphQLDocumentStorage(text)
    }

    /// The source text, unchanged.
    public var text: String { storage.text }

    /// The operations of the document, in source order.
    public var operations: [Operation] { storage.details.operations }

    /// The names of the document's fragments, in source order.
    public var fragments: [String] { storage.details.fragments }

    /// The shortest equivalent text: without comments, descriptions and unneeded white space.
    public var minified: String { storage.minified }

    /// The SHA-256 of `text` in lower-case hexadecimal, which servers use as the document's ID.
    ///
    /// - Throws: `NetworkError` if the system has no SHA-256 (no libcrypto on Linux).
    public var hash: String {
        get throws(NetworkError) { try storage.hash() }
    }
}

extension GraphQLDocument: Hashable {
    /// Returns whether both documents have the same text, byte for byte.
    public static func == (one: Self, other: Self) -> Bool {
        one.storage === other.storage || one.storage.bytes == other.storage.bytes
    }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) {
        storage.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension GraphQLDocument: CustomStringConvertible {
    /// The source text.
    public var description: String { text }
}
