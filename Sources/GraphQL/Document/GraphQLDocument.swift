public import BeagleNet

/// An executable document of GraphQL: operations and the fragments they use, read and checked as far as that needs no
/// schema.
///
/// ```swift
/// let document = try GraphQLDocument(parsing: "query Post($id: ID!) { post(id: $id) { id title } }")
/// try document.operation(named: nil).rootFields[0].key  // post
/// ```
/// Understood is the language of October 2021, and what the draft of 2025 adds to it: descriptions in front of
/// operations, fragments and variables, and `\u{…}`. Two documents are equal where their texts are, byte for byte.
public struct GraphQLDocument: Sendable {
    package let storage: GraphQLDocumentStorage

    /// Reads a document.
    ///
    /// - Parameter text: operations and fragments, nested no deeper than 200 levels.
    /// - Throws: `NetworkError` of kind `.badRequest` where the text is not GraphQL, or where it breaks a rule that
    ///   needs no schema: names that repeat, an operation without a name beside others, fragments that don't exist or
    ///   contain themselves, variables that are not declared. It tells line and column, counted from 1.
    public init(parsing text: String) throws(NetworkError) {
        storage = try GraphQLDocumentStorage(text)
    }

    /// The text as it was given.
    public var text: String { storage.text }

    /// What it holds to be run, in its order.
    public var operations: [Operation] { storage.details.operations }

    /// The names of its fragments, in its order.
    public var fragments: [String] { storage.details.fragments }

    /// The shortest text that means the same: without comments, descriptions and white space that is not needed.
    public var minified: String { storage.minified }

    /// The SHA-256 of `text` in lower-case hexadecimal, by which servers know documents.
    ///
    /// - Throws: `NetworkError` where the system has no SHA-256 (no libcrypto on Linux).
    public var hash: String {
        get throws(NetworkError) { try storage.hash() }
    }
}

extension GraphQLDocument: Hashable {
    /// Whether both have the same text, byte for byte.
    public static func == (one: Self, other: Self) -> Bool {
        one.storage === other.storage || one.storage.bytes == other.storage.bytes
    }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) {
        storage.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension GraphQLDocument: CustomStringConvertible {
    /// The text.
    public var description: String { text }
}
