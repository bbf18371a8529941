import Testing

@testable import BeagleNetGraphQL

struct GraphQLDocumentCacheTests {
    @Test func sameTextIsParsedOnce() throws {
        let text = "query CachedOnce { a }"
        let first = try GraphQLDocument.cached(text)
        #expect(try GraphQLDocument.cached(text).storage === first.storage)
        #expect(try GraphQLDocument.cached(String(text.map { $0 })).storage === first.storage)
        #expect(try GraphQLDocument.cached(text + " ").storage !== first.storage)
    }

    @Test func canonicallyEquivalentTextsAreDistinct() throws {
        let composed = try GraphQLDocument.cached("{ a(b: \"\u{E9} and more\") }")
        let decomposed = try GraphQLDocument.cached("{ a(b: \"e\u{301} and more\") }")
        #expect(composed.storage !== decomposed.storage)
        // These two also have the same number of bytes.
        let one = try GraphQLDocument.cached("{ a(b: \"a\u{323}\u{307}\") }")
        let other = try GraphQLDocument.cached("{ a(b: \"a\u{307}\u{323}\") }")
        #expect(one.text == other.text && one.storage !== other.storage)
    }

    @Test func leastRecentlyUsedDocumentsAreEvictedAtTheLimit() throws {
        var cache = GraphQLDocumentCache()
        let favourite = try GraphQLDocument(parsing: "{ favourite }")
        cache.insert(favourite)
        for index in 0..<1000 {
            cache.insert(try GraphQLDocument(parsing: "{ f\(index) }"))
            #expect(cache.document("{ favourite }")?.storage === favourite.storage)
            #expect(cache.count <= GraphQLDocumentCache.limit)
        }
        #expect(cache.document("{ f999 }") != nil)
        #expect(cache.document("{ f0 }") == nil)
    }

    @Test func longTextsAreNotCached() throws {
        var cache = GraphQLDocumentCache()
        let text = "{ a } #" + String(repeating: "x", count: GraphQLDocumentCache.maxTextBytes)
        cache.insert(try GraphQLDocument(parsing: text))
        #expect(cache.count == 0)
    }

    @Test func invalidTextThrowsEachTime() {
        for _ in 0..<2 {
            #expect(throws: NetworkError.self) { try GraphQLDocument.cached("{ never closed") }
        }
    }
}
