import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct ListenCommandTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    private static let parked = LoopbackServer.Response.sequence([.raw("\(head)data: a\n\n"), .stall])

    private static func events(_ text: String) -> LoopbackServer.Response {
        .sequence([.raw("\(head)\(text)"), .close])
    }

    /// Sends two events over each connection, numbered from the last event id, and drops the connection.
    private static func dropping() throws -> LoopbackServer {
        try LoopbackServer { request in
            let first = (request["Last-Event-ID"].flatMap(Int.init) ?? 0) + 1
            return events(
                (first...first + 1).map { "id: \($0)\nevent: tick\ndata: \($0)\ndata:\n\n" }.joined() + "data: lo"
            )
        }
    }

    @Test func eventsContinueAfterDroppedConnections() async throws {
        let server = try Self.dropping()
        let run = try await beagle("listen", "\(server.url)/events", "--count", "5", "-H", "X-One: 1")
        #expect(run.exit == 0)
        #expect(run.text == "1\n\n2\n\n3\n\n4\n\n5\n\n")
        #expect(run.errors.split(separator: "\n").count == 2)
        #expect(run.errors.contains("the server ended the event stream; reconnecting in "))
        #expect(server.requests.map { $0["Last-Event-ID"] } == [nil, "2", "4"])
        #expect(server.requests.allSatisfy { $0["X-One"] == "1" && $0["Accept"] == "text/event-stream" })
    }

    @Test func jsonPrintsEachEventAndTheOutcomeLast() async throws {
        let server = try Self.dropping()
        let run = try await beagle("listen", server.url, "--count", "2", "--last-event-id", "6", "--json")
        #expect(run.exit == 0)
        let lines = try run.lines.map { try JSONValue(parsing: $0) }
        try #require(lines.count == 3)
        #expect(lines[0] == ["type": "tick", "id": "7", "data": "7\n"])
        #expect(lines[1] == ["type": "tick", "id": "8", "data": "8\n"])
        #expect(lines[2]["ok"] == true && lines[2]["exit"] == 0 && lines[2]["result"] == ["events": 2])
    }

    @Test func status204EndsTheCommand() async throws {
        let server = try LoopbackServer(.response(204))
        let run = try await beagle("listen", server.url, "--json")
        #expect(run.exit == 0)
        #expect(try run.json()["result"] == ["events": 0])
        #expect(server.requests.count == 1)
    }

    @Test func responseThatIsNotAnEventStreamIsAnError() async throws {
        let server = try LoopbackServer { request in
            request.target == "/page" ? .response(200, ["Content-Type": "text/html"]) : .response(404)
        }
        let missing = try await beagle("listen", server.url, "--json")
        #expect(missing.exit == 22)
        #expect(try missing.json()["error"]?["code"] == "status")
        let page = try await beagle("listen", "\(server.url)/page")
        #expect(page.exit == 8)
        #expect(page.errors.contains("the response is text/html, not an event stream"))
        #expect(server.requests.count == 2)
    }

    @Test func reconnectingStopsAfterTheRetries() async throws {
        let server = try LoopbackServer(Self.events(""))
        let run = try await beagle("listen", server.url, "--retry", "1")
        #expect(run.exit == 56)
        #expect(run.errors.contains("the server ended the event stream"))
        #expect(server.requests.count == 1)
    }

    @Test func conflictingCredentialsAreReportedWithTheirFlag() async throws {
        let run = try await beagle("listen", "http://127.0.0.1:9/", "--user", "a:b", "-H", "Authorization: x")
        #expect(run.exit == 43)
        #expect(run.errors.contains("--user: credentials are set"))
    }

    @Test func maxTimeEndsTheCommand() async throws {
        let server = try LoopbackServer(Self.parked)
        let run = try await beagle("listen", server.url, "--max-time", "0.2")
        #expect(run.exit == 28)
        #expect(run.errors.contains("--max-time") && !run.errors.contains("body"))
        #expect(server.requests.count == 1)
    }

    @Test func interruptEndsTheCommand() async throws {
        let server = try LoopbackServer(Self.parked)
        let process = try BeagleProcess(["listen", server.url])
        #expect(await process.line() == "a")
        process.interrupt()
        #expect(await process.outcome().exit == 130)
        #expect(server.requests.count == 1)
    }

    @Test func offlineShowsTheRequest() async throws {
        let run = try await beagle("listen", "http://host/events", "--offline", "--last-event-id", "7")
        #expect(run.exit == 0)
        for line in ["GET http://host/events", "Accept: text/event-stream", "Last-Event-ID: 7"] {
            #expect(run.lines.contains(line))
        }
    }

    private static let invalidFlagsAreUsageErrorsArguments: [[String]] = [
        ["--count", "0"], ["--retry", "-1"], ["--last-event-id", "a\nb"], ["-o", "file"], ["-i"], ["--count", "x"],
    ]

    @Test(arguments: Self.invalidFlagsAreUsageErrorsArguments)
    func invalidFlagsAreUsageErrors(arguments: [String]) async throws {
        let run = try await beagle(["listen", "http://127.0.0.1:9/"] + arguments)
        #expect(run.exit == 64)
        #expect(run.text.isEmpty && !run.errors.isEmpty)
    }
}
