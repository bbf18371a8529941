/// A selection that several documents share, by its name.
///
/// ```swift
/// let author = GraphQLFragment("AuthorParts", on: "User", "{ id name }")
/// let text: GraphQLText = "query Post($id: ID!) { post(id: $id) { title author { \(author) } } }"
/// ```
public struct GraphQLFragment: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// The type whose fields it selects.
    public let type: String
    /// What it selects, in braces. It may use other fragments.
    public let selection: GraphQLText

    /// A fragment.
    ///
    /// - Parameters:
    ///   - name: its name; other than those of all fragments it meets in a document.
    ///   - type: the type whose fields it selects.
    ///   - selection: what it selects, with its braces.
    public init(_ name: String, on type: String, _ selection: GraphQLText) {
        self.name = name
        self.type = type
        self.selection = selection
    }

    /// A fragment that selects what a Swift type reads: `GraphQLSelection.of`.
    public init(_ name: String, on type: String, selectionOf value: (some Decodable).Type) {
        self.init(name, on: type, "\(selectionOf: value)")
    }

    /// The definition, without those of the fragments it uses.
    var definition: String { "fragment \(name) on \(type) \(selection.body)" }
}
