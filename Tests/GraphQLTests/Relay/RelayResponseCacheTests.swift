import BeagleNetGraphQL
import BeagleNetHTTP
import Foundation
import Testing

struct RelayResponseCacheTests {
    private let time = Lock(Date(timeIntervalSince1970: 1_000))
    private let answer = Data(#"{"data":{}}"#.utf8)

    private func cache(size: Int = 10, ttl: Duration = .seconds(60)) -> RelayResponseCache {
        RelayResponseCache(size: size, ttl: ttl) { [time] in time.withLock { $0 } }
    }

    private func pass(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }

    @Test func storedResponseHasATimestamp() {
        let cache = cache()
        cache.store(answer, of: "q", ["a": 1])
        pass(30)
        let expected = Data(#"{"data":{},"extensions":{"cacheTimestamp":1000000}}"#.utf8)
        #expect(cache.response(to: "q", ["a": 1]) == expected)
    }

    @Test func responsesAreKeyedByIDAndVariables() {
        let cache = cache()
        cache.store(answer, of: "q", ["a": 1, "b": ["x": "1", "y": "2"]])
        #expect(cache.response(to: "q", ["b": ["y": "2", "x": "1"], "a": 1]) != nil)
        #expect(cache.response(to: "r", ["a": 1, "b": ["x": "1", "y": "2"]]) == nil)
        #expect(cache.response(to: "q", ["a": 2, "b": ["x": "1", "y": "2"]]) == nil)
        #expect(cache.response(to: "q", ["a": "1", "b": ["x": "1", "y": "2"]]) == nil)
    }

    @Test func expiredResponsesAreRemoved() {
        let cache = cache(ttl: .seconds(60))
        cache.store(answer, of: "old", [:])
        pass(30)
        cache.store(answer, of: "new", [:])
        pass(30)
        #expect(cache.response(to: "old", [:]) != nil)
        pass(0.001)
        #expect(cache.count == 2)
        #expect(cache.response(to: "old", [:]) == nil)
        #expect(cache.response(to: "new", [:]) != nil)
        #expect(cache.count == 1)
    }

    @Test func oldestStoredResponseIsEvicted() {
        let cache = cache(size: 2)
        cache.store(answer, of: "a", [:])
        cache.store(answer, of: "b", [:])
        cache.store(answer, of: "a", [:])
        #expect(cache.response(to: "b", [:]) != nil)
        cache.store(answer, of: "c", [:])
        #expect(cache.response(to: "b", [:]) == nil)
        #expect(cache.response(to: "a", [:]) != nil)
        #expect(cache.response(to: "c", [:]) != nil)
    }

    @Test func cacheOfSizeZeroStoresNothing() {
        let cache = cache(size: 0)
        cache.store(answer, of: "a", [:])
        #expect(cache.response(to: "a", [:]) == nil)
    }

    @Test func clearRemovesAllResponses() {
        let cache = cache()
        cache.store(answer, of: "a", [:])
        cache.clear()
        #expect(cache.response(to: "a", [:]) == nil)
        #expect(cache.count == 0)
    }
}
