import BeagleNetGraphQL
import Testing

struct RequestParametersTests {
    @Test func onlyNameAndKindAreRequired() {
        let request = RequestParameters(name: "Posts", operationKind: .query)
        #expect(request == RequestParameters(name: "Posts", operationKind: .query, text: nil, id: nil))
        #expect(request.text == nil)
        #expect(request.id == nil)
        #expect(request.cacheID == nil)
        #expect(request.metadata.isEmpty)
        #expect(request != RequestParameters(name: "Posts", operationKind: .query, metadata: ["live": true]))
    }

    @Test func cacheConfigHasEmptyDefaults() {
        var config = CacheConfig()
        #expect(!config.force)
        #expect(config.poll == nil)
        #expect(config.metadata == nil)
        #expect(config.transactionID == nil)
        #expect(config.liveConfigID == nil)
        config = CacheConfig(force: true, poll: 5, metadata: ["screen": "home"], transactionID: "t1")
        #expect(config.metadata as? [String: String] == ["screen": "home"])
    }
}
