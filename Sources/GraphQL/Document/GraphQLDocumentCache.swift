public import BeagleNet

/// Documents that were read already, by their text: the younger half of those kept, and the older half.
struct GraphQLDocumentCache {
    /// How many documents are kept.
    static let limit = 256
    /// Longer texts are read each time.
    static let longestText = 256 * 1024

    /// A text, found by some of its bytes and compared by all: texts that are the same storage are the same at once.
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
            // One that is not contiguous becomes so in this copy.
            let sample = text.withUTF8 { bytes in
                stride(from: 0, to: bytes.count, by: bytes.count / 16 + 1)
                    .reduce(0 as UInt64) { $0 &* 31 &+ UInt64(bytes[$1]) }
            }
            hasher.combine(sample)
        }
    }

    private var young: [Key: GraphQLDocument] = [:]
    private var old: [Key: GraphQLDocument] = [:]

    /// The document of this text, which is now one of the younger.
    mutating func document(_ text: String) -> GraphQLDocument? {
        let key = Key(text: text)
        if let document = young[key] { return document }
        guard let document = old[key] else { return nil }
        keep(document)
        return document
    }

    mutating func keep(_ document: GraphQLDocument) {
        guard document.text.utf8.count <= Self.longestText else { return }
        if young.count >= Self.limit / 2 {
            old = young
            young = [:]
        }
        young[Key(text: document.text)] = document
    }

    /// How many documents are kept.
    var count: Int { young.count + old.count }
}

extension GraphQLDocument {
    private static let cache = Lock(GraphQLDocumentCache())

    /// The document of this text: read once, then found again while it is one of the last 256 that were asked for.
    ///
    /// - Parameter text: operations and fragments. Of more than 256 KB, it is read each time.
    /// - Throws: as `init(parsing:)`.
    public static func cached(_ text: String) throws(NetworkError) -> GraphQLDocument {
        if let document = cache.withLock({ $0.document(text) }) { return document }
        let document = try GraphQLDocument(parsing: text)
        cache.withLock { $0.keep(document) }
        return document
    }
}
