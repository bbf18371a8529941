import BeagleNetHTTP

/// A part of an archive's text.
struct ArchivePart: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// An element of `log.entries`, with its index.
        case entry(Int)
        /// A member of `log`.
        case logMember(String)
        /// A member of the outermost object.
        case outerMember(String)
    }

    let kind: Kind
    /// The path in the JSON text.
    let path: String
    /// The byte offset in the text.
    let offset: Int
    /// The JSON text of the part.
    let bytes: [UInt8]
}
