import BeagleNetHTTP
import CBeagleNetCurl
import Testing

@testable import BeagleNetCurl

struct SpareHandlesTests {
    @Test func reusedHandleHasTheOptionsOfANewOne() throws {
        let spares = SpareHandles(areKept: true)
        #expect(spares.take() == nil)
        try addHandle(to: spares)
        let handle = try #require(spares.take())
        spares.add(handle)
        let reused = try makeHandle(from: spares)
        #expect(reused.pointer == handle && spares.isEmpty)
        #expect(reused.string(CURLINFO_EFFECTIVE_URL) == "")
    }

    @Test func handleIsKeptOnlyIfItsReuseIsAllowed() throws {
        let spares = SpareHandles(areKept: true)
        _ = try makeHandle(from: spares)
        #expect(spares.isEmpty)
        try addHandle(to: spares)
        #expect(!spares.isEmpty)
    }

    @Test func theNumberOfSparesIsLimited() throws {
        let spares = SpareHandles(areKept: true)
        let handles = try (0...SpareHandles.maxCount).map { _ in try #require(curl_easy_init()) }
        for handle in handles { spares.add(handle) }
        for handle in handles.dropLast().reversed() {
            #expect(spares.take() == handle)
            curl_easy_cleanup(handle)
        }
        #expect(spares.isEmpty)
    }

    @Test func olderLibcurlKeepsNone() throws {
        let spares = SpareHandles(areKept: false)
        try addHandle(to: spares)
        #expect(spares.isEmpty)
    }

    private func addHandle(to spares: SpareHandles) throws {
        var easy = try makeHandle(from: spares)
        try easy.apply([.string(.url, "http://127.0.0.1/first")])
        easy.allowReuse(by: spares)
    }

    private func makeHandle(from spares: SpareHandles) throws -> EasyHandle {
        guard let easy = EasyHandle(FieldList([:], lines: []), from: spares) else { throw NetworkError.noMemory }
        return easy
    }
}
