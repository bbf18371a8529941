import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetReplay
@testable import BeagleNetTesting

/// The phases of entries, compared with the server's own measurements.
///
/// No phase is shorter than the server's part in it, and the sum is not longer than the time that the test measured. So
/// no phase includes another's time, even on a busy machine. On an idle machine each equals the server's time, within 3
/// ms.
extension RecordSoakTests {
    /// Durations that a server measured, by label.
    private final class Measured: Sendable {
        private let durations = Lock<[String: Duration]>([:])

        subscript(_ what: String) -> Duration {
            get { durations.withLock { $0[what] ?? .zero } }
            set { durations.withLock { $0[what] = newValue } }
        }

        /// Measures the duration of `body`.
        func measure(_ name: String, _ body: () -> Void) {
            self[name] = ContinuousClock().measure(body)
        }
    }

    /// A recording transport with its log.
    private struct RecordingSetup {
        let transport: RecordingTransport<CurlTransport>
        let log: RequestLog

        init(_ path: String, _ configuration: CurlTransport.Configuration = CurlTransport.Configuration()) throws {
            log = try RequestLog(directory: path)
            transport = RecordingTransport(CurlTransport(configuration), log: log)
        }

        func request(
            _ server: LoopbackServer,
            _ path: String,
            body: HTTPBody? = nil,
            _ delivery: TransferRequest.Delivery = .collect
        ) -> TransferRequest {
            let method = body == nil ? HTTPRequest.Method.get : .post
            let head = HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path)
            return TransferRequest(head, body: body, delivery: delivery)
        }

        /// The entries, after a check that the written phases add up exactly to the written time.
        func entries() async throws -> [LogEntry] {
            await log.flush()
            let entries = try Array(RequestLog.Reader(directory: log.directory).entries())
            for entry in entries { #expect(try entry.writtenPhases == entry.writtenTime, "\(entry.timings)") }
            return entries
        }
    }

    /// Expects the phase to be no shorter than the server's time, and on an idle machine no longer.
    private func expect(
        _ phase: Duration?,
        is measured: Duration,
        upTo most: Duration? = nil,
        _ name: String,
        at location: SourceLocation = #_sourceLocation
    ) {
        let phase = phase ?? .zero
        print("\(name): \(phase), at the server \(measured)")
        // Entries have microseconds. On a busy machine, a thread may notice late that it has sent something.
        let late: Duration = Self.isAlone ? .microseconds(1) : .milliseconds(10)
        #expect(measured > .zero && phase >= measured - late, "\(name)", sourceLocation: location)
        let limit = (most ?? measured) + .milliseconds(3)
        if Self.isAlone { #expect(phase < limit, "\(name)", sourceLocation: location) }
    }

    private func expect(
        _ entries: [LogEntry],
        takeNoLongerThan seen: Duration,
        at location: SourceLocation = #_sourceLocation
    ) {
        let total = entries.reduce(.zero) { $0 + $1.timings.total }
        #expect(total <= seen, sourceLocation: location)
    }

    @Test func waitAndReceiveAreThoseOfTheServer() async throws {
        try await withLogDirectory { path in
            let (measured, headsReceived) = (Measured(), LoopbackServer.GateBox())
            let server = try LoopbackServer { request in
                .played { connection in
                    measured.measure("wait \(request.target)") { usleep(50_000) }
                    let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n".utf8)
                    measured.measure("answer \(request.target)") {
                        // Wait until the client has the head: its receive phase starts then, even if it is late.
                        guard connection.send(head), headsReceived.wait(request.target, connection) else { return }
                        measured.measure("receive \(request.target)") {
                            for _ in 0..<7 {
                                _ = connection.send(Data("a".utf8))
                                usleep(10_000)
                            }
                        }
                    }
                    return connection.send(Data("b".utf8))
                }
            }
            let setup = try RecordingSetup(path)
            for number in 0..<5 {
                let begin = ContinuousClock.now
                let target = "/\(number)"
                let answer = try await setup.transport.perform(setup.request(server, target, .stream))
                headsReceived.open(target)
                #expect(try await answer.body.collect().count == 8)
                let seen = ContinuousClock.now - begin
                let entry = try #require(try await setup.entries().last)
                expect(entry.timings.wait, is: measured["wait \(target)"], "wait \(number)")
                let (receive, most) = (measured["receive \(target)"], measured["answer \(target)"])
                expect(entry.timings.receive, is: receive, upTo: most, "receive \(number)")
                expect([entry], takeNoLongerThan: seen)
                // The first request opens the connection that the others reuse.
                #expect((entry.timings.connect != nil) == (number == 0))
                #expect(entry.timings.dns == nil && entry.timings.tls == nil)
            }
        }
    }

    /// The body is larger than the socket buffers, so sending takes as long as the server delays reading.
    @Test func sendIsAsLongAsTheServerDelaysReading() async throws {
        try await withLogDirectory { path in
            let measured = Measured()
            let body = Data(count: 32 << 20)
            let server = try LoopbackServer(readsBodies: false) { _ in
                .played { connection in
                    measured.measure("send") { usleep(60_000) }
                    guard connection.take(body.count) != nil else { return false }
                    measured.measure("wait") { usleep(40_000) }
                    return connection.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
                }
            }
            let setup = try RecordingSetup(path)
            let begin = ContinuousClock.now
            _ = try await setup.transport.perform(setup.request(server, "/", body: HTTPBody(body)))
            let seen = ContinuousClock.now - begin
            let entries = try await setup.entries()
            let timings = try #require(entries.first?.timings)
            // The time for transferring the bytes is not measured.
            #expect(timings.send ?? .zero >= measured["send"])
            #expect(timings.wait ?? .zero >= measured["wait"])
            expect(entries, takeNoLongerThan: seen)
        }
    }

    @Test func blockedIncludesTheTimeInTheQueue() async throws {
        try await withLogDirectory { path in
            let (measured, gate) = (Measured(), try LoopbackServer.Gate())
            let server = try LoopbackServer { request in
                guard request.target == "/second" else { return .sequence([.gate(gate), .response(200)]) }
                return .played { connection in
                    measured.measure("wait") { usleep(20_000) }
                    return connection.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
                }
            }
            var configuration = CurlTransport.Configuration()
            configuration.maxConnectionsPerOrigin = 1
            let setup = try RecordingSetup(path, configuration)
            async let first = setup.transport.perform(setup.request(server, "/first"))
            await server.until { $0.requestCount == 1 }
            let second = AsyncStream.makeStream(of: Void.self)
            let begin = ContinuousClock.now
            setup.transport.perform(setup.request(server, "/second")) { _ in second.continuation.finish() }
            measured.measure("blocked") { usleep(70_000) }
            gate.open()
            for await _ in second.stream {}
            let seen = ContinuousClock.now - begin
            _ = try await first
            let entry = try #require(try await setup.entries().first { $0.request.url.hasSuffix("/second") })
            expect(entry.timings.blocked, is: measured["blocked"], "blocked")
            expect(entry.timings.wait, is: measured["wait"], "wait")
            expect([entry], takeNoLongerThan: seen)
            #expect(entry.timings.connect == nil)
        }
    }

    @Test func eachHopOfARedirectHasItsOwnPhases() async throws {
        try await withLogDirectory { path in
            let measured = Measured()
            let server = try LoopbackServer { request in
                .played { connection in
                    let isLast = request.target == "/2"
                    measured.measure(request.target) { usleep(isLast ? 40_000 : 20_000) }
                    let head = isLast ? "200 OK" : "302 Found\r\nLocation: /2"
                    return connection.send(Data("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\n".utf8))
                }
            }
            let setup = try RecordingSetup(path)
            let begin = ContinuousClock.now
            _ = try await setup.transport.perform(setup.request(server, "/1"))
            let seen = ContinuousClock.now - begin
            let entries = try await setup.entries()
            try #require(entries.count == 2)
            expect(entries[0].timings.wait, is: measured["/1"], "first hop")
            expect(entries[1].timings.wait, is: measured["/2"], "second hop")
            expect(entries, takeNoLongerThan: seen)
            #expect(entries[0].timings.connect != nil && entries[1].timings.connect == nil)
            // The second starts after the first has ended. Dates are less exact than durations.
            let distance = entries[1].started.timeIntervalSince(entries[0].started)
            #expect(distance >= entries[0].timings.total / .seconds(1) - 0.000_01)
        }
    }
}

extension LoopbackServer {
    /// Gates by the path of the request.
    fileprivate final class GateBox: Sendable {
        private let gates = Lock<[String: Gate]>([:])

        private func gate(_ path: String) -> Gate? {
            gates.withLock { gates in
                if let gate = gates[path] { return gate }
                gates[path] = try? Gate()
                return gates[path]
            }
        }

        func open(_ path: String) { gate(path)?.open() }

        func wait(_ path: String, _ connection: borrowing Connection) -> Bool {
            guard let gate = gate(path) else { return false }
            return Poll.wait(for: .hangUp, on: connection.socket, or: connection.stage.stopping, orUntil: gate.latch)
                == .passed
        }
    }
}

extension LogEntry {
    /// `time` of the archive in microseconds.
    fileprivate var writtenTime: Int? {
        get throws { try written()["time"]?.microseconds }
    }

    /// The sum of the archive's phases in microseconds; those that did not take place are -1.
    fileprivate var writtenPhases: Int? {
        get throws {
            let timings = try written()["timings"]
            return ["blocked", "dns", "connect", "send", "wait", "receive"]
                .compactMap { timings?[$0]?.microseconds }.filter { $0 >= 0 }.reduce(0, +)
        }
    }

    private func written() throws -> JSONValue {
        var output = JSONOutput()
        write(to: &output)
        return try JSONValue(parsing: Data(output.bytes))
    }
}

extension JSONValue {
    /// Milliseconds with three digits at most, exactly.
    fileprivate var microseconds: Int? {
        number.map { Int(($0 * 1000).rounded()) }
    }
}
