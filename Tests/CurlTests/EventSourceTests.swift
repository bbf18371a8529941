import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Event streams of servers that disconnect or misbehave.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct EventSourceTests {
    private let clock = InstantClock()

    private func source(
        _ server: LoopbackServer,
        method: HTTPRequest.Method = .get,
        at authority: String? = nil,
        options: TransferOptions = TransferOptions()
    ) throws -> EventSource {
        let fields: KeyValuePairs = ["Accept": "text/html", "X-Mine": "1"]
        var request = try server.request(method, "/events", fields, options: options)
        if let authority { request.head.authority = authority }
        var source = EventSource(request, over: CurlTransport())
        source.clock = clock
        return source
    }

    /// Makes a server that sends these responses in order and repeats the last one.
    private func server(_ answers: LoopbackServer.Response...) throws -> LoopbackServer {
        let count = Lock(0)
        return try LoopbackServer { _ in
            count.withLock { count in
                defer { count += 1 }
                return answers[min(count, answers.count - 1)]
            }
        }
    }

    @Test func repeatedContentTypeIsAccepted() async throws {
        let type = "Content-Type: text/event-stream\r\n"
        let server = try server(
            .sequence([.raw("HTTP/1.1 200 OK\r\n\(type)\(type)\r\ndata: 1\n\n"), .close]),
            .response(204)
        )
        #expect(try await all(source(server)).map(\.data) == ["1"])
    }

    private func all(_ source: EventSource) async throws -> [EventStream.Event] {
        var events: [EventStream.Event] = []
        for try await event in source { events.append(event) }
        return events
    }

    private static let over = LoopbackServer.Response.response(204)

    // MARK: connections that end

    @Test func eventsContinueAfterTheLastEventOnEachConnection() async throws {
        let server = try server(
            .events("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: lost"),
            .sequence([.chunkedHead, .raw("d\r\nid:4\ndata:c\n\n"), .close]),
            .sequence([.chunkedHead, .raw("d\r\nid:5\ndata:d\n\n\r\n"), .reset]),
            .close,
            .events(": nothing\n\n"),
            .events("data: e\n\n"),
            Self.over
        )
        let events = try await all(source(server))
        #expect(events.map(\.data) == ["a", "b", "c", "d", "e"])
        #expect(events.map(\.id) == ["1", "2", "4", "5", "5"])
        let requests = server.requests.filter { $0.connection != 4 }
        #expect(requests.map { $0["Last-Event-ID"] } == [nil, "2", "4", "5", "5", "5"])
        for request in requests {
            #expect(request.values(of: "Accept") == ["text/event-stream"])
            #expect(request["Cache-Control"] == "no-store")
            #expect(request["X-Mine"] == "1")
        }
    }

    @Test func sourceResumesAfterTheGivenLastEventID() async throws {
        let server = try server(.events("data: a\n\n"), Self.over)
        var source = try source(server)
        source.lastEventID = "ä 7"
        #expect(try await all(source) == [EventStream.Event(data: "a", id: "ä 7")])
        #expect(server.requests.map { $0["Last-Event-ID"] } == ["ä 7", "ä 7"])
    }

    @Test func silentConnectionIsReopened() async throws {
        let server = try server(
            .sequence([.eventsHead, .raw("data: a\n\n"), .stall]),
            .sequence([.eventsHead, .stall]),
            Self.over
        )
        let options = TransferOptions(timeouts: TransferOptions.Timeouts(idle: .milliseconds(50)))
        #expect(try await all(source(server, options: options)).map(\.data) == ["a"])
        // Silence isn't a failure: the backoff doesn't grow.
        #expect(clock.waits.count == 2 && clock.waits.allSatisfy { $0 <= .seconds(1) })
    }

    @Test func postIsNotReconnected() async throws {
        let whole = try server(.events("data: a\n\n"))
        #expect(try await all(source(whole, method: .post)).map(\.data) == ["a"])
        let cut = try server(.sequence([.chunkedHead, .raw("5\r\ndat"), .close]))
        let error = await #expect(throws: NetworkError.self) { try await all(source(cut, method: .post)) }
        #expect(error?.kind == .truncated)
        #expect(whole.requests.count == 1 && cut.requests.count == 1)
    }

    // MARK: waits

    @Test func reconnectsBackOffUntilTheLimitWithoutEvents() async throws {
        let server = try server(.events("retry: 0\n\n"))
        var source = try source(server)
        source.backoff = Backoff(limit: 8)
        let causes = Lock<[NetworkError.Kind]>([])
        source.onReconnect = { cause, _ in causes.withLock { $0.append(cause.kind) } }
        let error = await #expect(throws: NetworkError.self) { try await all(source) }
        #expect(error?.kind == .network)
        #expect(server.requests.count == 8)
        #expect(causes.withLock { $0 } == Array(repeating: .network, count: 7))
        #expect(zip(clock.waits, [1, 2, 4, 8, 16, 30, 30]).allSatisfy { $0 <= .seconds($1) })
        #expect(clock.waits.reduce(.zero, +) > .seconds(2))
    }

    @Test func eventResetsTheFailureCount() async throws {
        let server = try server(
            .close,
            .events("data: a\n\n"),
            .close,
            .events("data: b\n\n"),
            .events("data: c\n\n"),
            .close,
            Self.over
        )
        var source = try source(server)
        source.backoff.limit = 3
        #expect(try await all(source).map(\.data) == ["a", "b", "c"])
    }

    @Test(arguments: [(5_000, 5), (999_999_999, 60)])
    func retryFieldSetsTheMinimumWaitUpToACap(milliseconds: Int, seconds: Int) async throws {
        let server = try server(.events("retry: \(milliseconds)\n\n"), .events("data: a\n\n"), .close, Self.over)
        var source = try source(server)
        source.backoff.maxServerDelay = .seconds(60)
        _ = try await all(source)
        #expect(clock.waits.count == 3)
        #expect(clock.waits.allSatisfy { $0 >= .seconds(seconds) && $0 <= .seconds(seconds + 2) }, "\(clock.waits)")
    }

    @Test func unreachableHostIsRetriedUntilTheLimit() async throws {
        let server = try server(Self.over)
        var source = try source(server, at: "127.0.0.1:1")
        source.backoff.limit = 3
        let error = await #expect(throws: NetworkError.self) { try await all(source) }
        #expect(error?.kind == .connect)
        #expect(clock.waits.count == 2)
    }

    // MARK: the end

    @Test(arguments: [400, 404, 500, 503, 206])
    func anotherStatusIsAnError(status: Int) async throws {
        let server = try server(.events("data: a\n\n"), .response(status, ["Content-Type": "text/event-stream"], "why"))
        var iterator = try source(server).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        let error = await #expect(throws: NetworkError.self) { try await iterator.next() }
        #expect(error?.kind == .status)
        #expect(error?.response?.status.code == status)
        #expect(error?.data == Data("why".utf8))
        #expect(error?.url == "\(server.url)/events")
        #expect(try await iterator.next() == nil)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: ["text/html", "text/event-streams", ""])
    func anotherMediaTypeIsAnError(contentType: String) async throws {
        let server = try server(.response(200, ["Content-Type": contentType], "data: a\n\n"))
        let error = await #expect(throws: NetworkError.self) { try await all(source(server)) }
        #expect(error?.kind == .decoding)
        #expect(server.requests.count == 1)
    }

    @Test func parametersOfTheMediaTypeAreIgnored() async throws {
        let server = try server(
            .response(200, ["Content-Type": "Text/Event-Stream;charset=x"], "data: a\n\n"),
            Self.over
        )
        #expect(try await all(source(server)).map(\.data) == ["a"])
    }

    @Test func endlessEventIsAnError() async throws {
        let server = try server(.sequence([.eventsHead, .raw("data: "), .endless("x")]))
        var source = try source(server)
        source.maxEventBytes = 1 << 16
        let error = await #expect(throws: NetworkError.self) { try await all(source) }
        #expect(error?.kind == .tooLarge)
        #expect(server.requests.count == 1)
    }

    @Test func invalidLastEventIDIsRejectedBeforeAnythingIsSent() async throws {
        let server = try server(Self.over)
        var source = try source(server)
        source.lastEventID = "a\r\nX-Evil: 1"
        let error = await #expect(throws: NetworkError.self) { try await all(source) }
        #expect(error?.kind == .badRequest)
        #expect(server.requests.isEmpty)
    }

    @Test func releasedIteratorEndsTheTransfer() async throws {
        let server = try server(.sequence([.eventsHead, .raw("data: a\n\n"), .stall]))
        for try await event in try source(server) where event.data == "a" { break }
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func slowReaderLimitsTheBufferedBytes() async throws {
        let server = try server(.sequence([.eventsHead, .endless("data: \(String(repeating: "x", count: 1000))\n\n")]))
        var iterator = try source(server).makeAsyncIterator()
        for _ in 0..<5_000 { #expect(try await iterator.next()?.data.count == 1000) }
        #if COUNTS_LEFTOVERS
            let peak = ResourceTracker.current?.peak(.buffered) ?? .max
            #expect(peak < 3 << 20, "\(peak) bytes were buffered")
        #endif
    }

    @Test(arguments: [true, false])
    func cancelledTaskEndsTheStream(whileWaiting isWaiting: Bool) async throws {
        let server = try server(isWaiting ? .events("retry: 60000\n\n") : .sequence([.eventsHead, .stall]))
        var source = try source(server)
        source.clock = ContinuousClock()
        let (waits, continuation) = AsyncStream.makeStream(of: Void.self)
        source.onReconnect = { _, _ in continuation.yield() }
        let task = Task { [source] in try await all(source) }
        if isWaiting { for await _ in waits { break } } else { await server.until { $0.requests.count == 1 } }
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
    }
}

extension LoopbackServer.Response {
    fileprivate static let eventsHead = raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    fileprivate static let chunkedHead = raw(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )

    /// An event stream that ends with its connection.
    fileprivate static func events(_ text: String) -> LoopbackServer.Response {
        sequence([eventsHead, raw(text), close])
    }
}
