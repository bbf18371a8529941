public import BeagleNet

/// A cache of parsed documents by text, in two generations: recently used and older documents.
struct GraphQLDocumentCache {
    /// The maximum number of documents in the cache.
    static let limit = 256
    /// The maximum length of a cached text, in bytes. Longer texts are parsed each time.
    static let maxTextBytes = 256 * 1024

    /// A text that is hashed by a sample of its bytes and compared by all of them. Texts with the same storage compare
    /// equal without reading them.
    struct Key: Hashable {
        let text: String

        static func == (one: Key, other: Key) -> Bool {
            guard one.text.utf8.count == other.text.utf8.count else { return false }
            let isSame = one.text.utf8.withContiguousStorageIfAvailable { one in
                other.text.utf8.withContiguousStorageIfAvailable { other in
                    one.baseAddress == other.baseAddress || one.elementsEqual(other)
                }
            }
            return (isSame ?? nil) ?? one.text.utf8.elementsEqual(other.text.utf8)
        }

        func hash(into hasher: inout Hasher) {
            var text = text
            hasher.combine(text.utf8.count)
            // Makes a text that is not contiguous contiguous, in this copy.
            let sample = text.withUTF8 { bytes in
                stride(from: 0, to: bytes.count, by: bytes.count / 16 + 1)
                    .reduce(0 as UInt64) { $0 &* 31 &+ UInt64(bytes[$1]) }
            }
            hasher.combine(sample)
        }
    }

    private var recent: [Key: GraphQLDocument] = [:]
    private var older: [Key: GraphQLDocument] = [:]

    /// Returns the cached document of a text and marks it as recently used.
    mutating func document(_ text: String) -> GraphQLDocument? {
        let key = Key(text: text)
        if let document = recent[key] { return document }
        guard let document = older[key] else { return nil }
        insert(document)
        return document
    }

    mutating func insert(_ document: GraphQLDocument) {
        guard document.text.utf8.count <= Self.maxTextBytes else { return }
        if recent.count >= Self.limit / 2 {
            older = recent
            recent = [:]
        }
        recent[Key(text: document.text)] = document
    }

    /// The number of documents in the cache.
    var count: Int { recent.count + older.count }
}

extension GraphQLDocument {
    private static let cache = Lock(GraphQLDocumentCache())

    /// Returns the document of a text, parsing it only if it isn't one of the last 256 documents used.
    ///
    /// - Parameter text: Operations and fragments. A text of more than 256 KB is parsed each time.
    /// - Throws: The errors of ``init(parsing:)``.
    public static func cached(_ text: String) throws(NetworkError) -> GraphQLDocument {
        if let document = cache.withLock({ $0.document(text) }) { return document }
        let document = try GraphQLDocument(parsing: text)
        cache.withLock { $0.insert(document) }
        return document
    }
}
