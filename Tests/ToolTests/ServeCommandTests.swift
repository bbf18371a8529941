import BeagleNetHTTP
import Foundation
import Testing

@testable import beagle

struct ServeCommandTests {
    @Test func urlIsTheFirstLineAndAnInterruptEndsTheServer() async throws {
        let server = try BeagleProcess(["serve", "--port", "0"])
        let url = await server.line()
        #expect(url.hasPrefix("http://127.0.0.1:"))
        #expect(try await beagle("fetch", "\(url)/home").exit == 0)
        server.interrupt()
        #expect(await server.outcome().exit == 130)
    }

    @Test func portOfTheExamplesIsTheDefault() async throws {
        let help = try await beagle("serve", "--help").text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(help.contains("(default: 8080)") && help.contains("beagle fetch http://127.0.0.1:8080/home"), "\(help)")
    }

    @Test func usedPortIsReported() async throws {
        try await withBackend { url in
            let port = try #require(url.split(separator: ":").last)
            let run = try await beagle("serve", "--port", String(port))
            #expect(run.exit == 7)
            #expect(run.errors.contains("port \(port)"))
        }
    }

    @Test func headReturnsOnlyTheLengthOfTheBody() async throws {
        try await withBackend { url in
            let run = try await beagle("raw", "\(url)/home", "-X", "HEAD", "-i")
            #expect(run.text.contains("Content-Length: \(DemoScreens.home.utf8.count + 1)\n"))
            #expect(run.text.hasSuffix("\n\n"))
        }
    }

    @Test func unsupportedMethodIsRejectedWithTheAllowedOnes() async throws {
        try await withBackend { url in
            let run = try await beagle("raw", "\(url)/signup", "-X", "DELETE", "-i")
            #expect(run.text.hasPrefix("HTTP/1.1 405 "))
            #expect(run.text.contains("Allow: GET, HEAD, POST, PUT\n"))
        }
    }
}
