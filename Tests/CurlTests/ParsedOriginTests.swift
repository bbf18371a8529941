import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@testable import BeagleNetCurl

@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct ParsedOriginTests {
    let transport = CurlTransport()

    /// The parsed parts of a URL are reused for the next request to the same site, and for no other site.
    @Test func requestsToSeveralSitesReachTheRightServer() async throws {
        let servers = try (0..<3).map { number in try LoopbackServer(.response(200, [:], "\(number)")) }
        for path in ["/a", "/b?c", "/a"] {
            for (number, server) in servers.enumerated() {
                let response = try await transport.perform(server.request(.get, path))
                #expect(try await response.text() == "\(number)")
                #expect(response.url == server.url + path)
            }
        }
        #expect(servers.allSatisfy { $0.requests.map(\.target) == ["/a", "/b?c", "/a"] })
    }

    /// Requests more parsedOrigins than the cache holds.
    @Test func siteCacheEvictsEntriesWhenFull() throws {
        var parsedOrigins = ParsedOriginCache()
        for number in [1, 1, 2, 300, 1, 2] + Array(1...600) + [1] {
            #expect(try parsedOrigins.origin(of: message(to: "h:\(number)")).url == "http://h:\(number)/")
        }
        for _ in 1...2 { #expect(throws: NetworkError.self) { try parsedOrigins.origin(of: message(to: "h:0")) } }
    }

    private func message(to authority: String) -> Message {
        Message(TransferRequest(HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/a")))
    }
}
