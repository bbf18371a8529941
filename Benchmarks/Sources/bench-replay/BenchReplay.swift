import BeagleNet
import BeagleNetReplay
import Foundation

/// Measures the cost of a recording of 10,000 entries: of opening it, of each answer, and of each miss.
@main struct BenchReplay {
    static let count = 10_000
    static let clock = ContinuousClock()

    /// Runs in a detached task, so that answers don't pass through the main thread.
    static func main() async throws { try await Task.detached { try await measure() }.value }

    static func measure() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).bglog").path
        let log = try RequestLog(directory: directory, options: lossless)
        for index in 0..<count { log.append(entry(index)) }
        await log.close()
        var transport = ReplayTransport(Recording([]))
        let opening = try clock.measure { transport = ReplayTransport(try Recording(contentsOf: directory)) }
        print("opening a log of \(count) entries, ready to answer: \(opening.milliseconds) ms")
        try FileManager.default.removeItem(atPath: directory)

        let byHead = try await cost(of: transport) { message(.get, "/screens/\($0)?page=\($0)&token=abc") }
        print("by its head: \(byHead)")
        let byBody = try await cost(of: transport) { message(.post, "/graphql", body(of: $0 + 1, "secret")) }
        print("by one of 5,000 JSON bodies at one path: \(byBody)")

        var misses: [Double] = []
        for index in 0..<200 {
            let missing = message(.post, "/graphql", body(of: -index, "x"))
            let start = clock.now
            _ = try? await transport.perform(missing)
            misses.append((clock.now - start).microseconds / 1000)
        }
        misses.sort()
        print("a miss beside them: \(misses[100]) ms in the middle, \(misses[198]) ms at the 99th of a hundred")
    }

    private static var lossless: RequestLog.Options {
        var options = RequestLog.Options()
        options.isLossless = true
        return options
    }

    /// Returns medians of rounds: the time from the call to its return, when the entry is chosen, and to the answer.
    static func cost(
        of transport: ReplayTransport,
        _ message: (Int) -> TransferRequest
    ) async throws -> String {
        var (matches, answers): ([Double], [Double]) = ([], [])
        for _ in 0..<5 {
            let messages = (0..<count).map { message($0 & ~1) }
            var start = clock.now
            for message in messages { _ = try await transport.perform(message) }
            answers.append((clock.now - start).microseconds / Double(count))
            let (completions, end) = AsyncStream.makeStream(of: Void.self)
            start = clock.now
            for message in messages { transport.perform(message) { _ in end.yield() } }
            matches.append((clock.now - start).microseconds / Double(count))
            for await _ in completions.prefix(count) {}
        }
        return "a match \(matches.sorted()[2]) µs, an answer \(answers.sorted()[2]) µs"
    }

    /// Every second request is a GraphQL operation. These have the same URL.
    static func entry(_ index: Int) -> LogEntry {
        let isOperation = index % 2 == 1
        let posted = LogEntry.Body(.data(body(of: index, "REDACTED")), mediaType: "application/json")
        return LogEntry(
            started: Date(timeIntervalSince1970: Double(index)),
            request: LogEntry.Request(
                method: isOperation ? "POST" : "GET",
                url: "https://api.example.com"
                    + (isOperation ? "/graphql" : "/screens/\(index)?page=\(index)&token=REDACTED"),
                body: isOperation ? posted : nil
            ),
            response: LogEntry.Response(status: 200, body: LogEntry.Body(.data(Data(#"{"ok":true}"#.utf8))))
        )
    }

    static func body(of index: Int, _ secret: String) -> Data {
        let query = "query Items($first: Int) { items(first: $first) { id name price } }"
        let variables = #"{"first":\#(index),"filter":{"tags":["a","b"],"text":"x"},"token":"\#(secret)"}"#
        return Data(#"{"operationName":"Items","query":"\#(query)","variables":\#(variables)}"#.utf8)
    }

    static func message(_ method: HTTPRequest.Method, _ path: String, _ body: Data? = nil) -> TransferRequest {
        var head = HTTPRequest(method: method, scheme: "https", authority: "api.example.com", path: path)
        if body != nil { head.headerFields[.contentType] = "application/json" }
        return TransferRequest(head, body: body.map { HTTPBody($0) })
    }
}

extension Duration {
    var microseconds: Double { self / .microseconds(1) }
    var milliseconds: Double { self / .milliseconds(1) }
}
