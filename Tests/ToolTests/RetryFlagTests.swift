import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct RetryFlagTests {
    private static let busy = LoopbackServer.Response.response(503, [:], "busy")

    /// A server that is busy for the first `count` requests.
    private static func server(busyFor count: Int) throws -> LoopbackServer {
        let requestCount = Lock(0)
        return try LoopbackServer { _ in
            let number = requestCount.withLock {
                $0 += 1
                return $0
            }
            return number > count ? .response(200, [:], "here") : busy
        }
    }

    @Test func attemptsAndWaitsAreShown() async throws {
        let server = try Self.server(busyFor: 2)
        let run = try await beagle("raw", server.url, "--retry", "3", "--retry-max-time", "30", "-v")
        #expect(run.text == "here")
        #expect(server.requests.count == 3)
        let notes = run.errors.split(separator: "\n")
        #expect(notes.count { $0.hasPrefix("> GET ") } == 3)
        #expect(notes.count { $0.hasPrefix("< HTTP/1.1 503 ") } == 2)
        for attempt in 2...3 {
            #expect(
                notes.contains {
                    $0.hasPrefix("* GET ") && $0.contains(": retrying in ")
                        && $0.hasSuffix("(attempt \(attempt)), because the server returned 503")
                },
                "\(run.errors)"
            )
        }
    }

    @Test func lastResponseIsTheResult() async throws {
        let server = try LoopbackServer(Self.busy)
        let run = try await beagle("raw", server.url, "--retry", "1", "-v")
        #expect(run.exit == 22)
        #expect(run.text == "busy")
        #expect(server.requests.count == 2)
        #expect(run.errors.contains(": not retrying, because 2 attempts failed\n"), "\(run.errors)")
    }

    @Test func refusedConnectionIsRetried() async throws {
        let run = try await beagle("fetch", "http://127.0.0.1:1/home", "--retry", "2", "-v")
        #expect(run.exit == 7)
        #expect(run.errors.contains(/: retrying in \d+ ms \(attempt 3\), because/), "\(run.errors)")
    }

    @Test func postIsRetriedOnlyWithAnIdempotencyKey() async throws {
        let server = try Self.server(busyFor: 1)
        let run = try await beagle("raw", server.url, "-d", "a=b", "--retry", "3", "-v")
        #expect(run.exit == 22)
        #expect(server.requests.count == 1)
        #expect(
            run.errors.contains(": not retrying, because the server may have processed the request"),
            "\(run.errors)"
        )
        let other = try Self.server(busyFor: 1)
        let again = try await beagle("raw", other.url, "-d", "a=b", "--retry", "3", "-H", "Idempotency-Key: k1")
        #expect(again.text == "here")
        #expect(other.requests.map { $0["Idempotency-Key"] } == ["k1", "k1"])
    }

    @Test func noAttemptStartsAfterTheTimeLimit() async throws {
        let server = try LoopbackServer(.response(503, ["Retry-After": "20"], "busy"))
        let run = try await beagle("raw", server.url, "--retry", "3", "--retry-max-time", "10", "-v")
        #expect(run.exit == 22)
        #expect(server.requests.count == 1)
        #expect(run.errors.contains("more than 10000 ms after the first"), "\(run.errors)")
    }

    @Test func fileContainsOnlyTheLastResponse() async throws {
        try await withDirectory { directory in
            let server = try Self.server(busyFor: 1)
            let run = try await beagle("raw", server.url, "--retry", "3", "-o", "\(directory)/file")
            #expect(run.exit == 0)
            #expect(try String(contentsOfFile: "\(directory)/file", encoding: .utf8) == "here")
        }
    }

    @Test(
        arguments: [
            ["--retry", "-1"], ["--retry", "x"], ["--retry", "1001"], ["--retry-max-time", "1"],
            ["--retry", "1", "--retry-max-time", "0"],
        ]
    )
    func invalidFlagsAreUsageErrors(_ flags: [String]) async throws {
        #expect(try await beagle(["raw", "http://127.0.0.1:1/"] + flags).exit == 64)
    }
}
