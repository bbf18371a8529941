import BeagleNet
import BeagleNetCurl
import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetObservability
import BeagleNetTesting
import InMemoryLogging
import InMemoryTracing
import Logging
import Testing
import Tracing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// All output of sending the plants over real sockets: the log and everything derived from it, the output of loggers
/// and tracers, and the texts of errors.
struct CanaryOutputs {
    private(set) var outputs: [String: Data] = [:]
    /// The entries of the log.
    let entries: [LogEntry]
    /// The number of requests with a secret that a server has received.
    let sent: Int

    init(_ plants: [Plant], _ style: LogInterceptor.Style, log path: String) async throws {
        let log = try RequestLog(directory: path)
        let ears = EventReceivers(style)
        let server = try Self.server(plants)
        var errors = try await Self.send(plants, to: server.url, ears.dependencies(log))
        errors += try await Self.fail(ears.dependencies(log))
        try await Self.measure(plants, server.url, ears.dependencies(log), ears.tracer)
        let spoken = try await Self.speak(log)
        await log.flush()
        sent = (server.requests + spoken).count { !Canary.forms(in: $0.raw).isEmpty }

        let recording = try Recording(contentsOf: path)
        entries = recording.entries
        errors += try await Self.miss(plants, recording)
        outputs["errors"] = Data(errors.joined(separator: "\n").utf8)
        outputs["logger"] = Data(ears.memory.messages.joined(separator: "\n").utf8)
        outputs["swift-log"] = Data(ears.handler.entries.map { "\($0)" }.joined(separator: "\n").utf8)
        outputs["spans"] = Data(ears.spans.utf8)
        outputs["bodies"] = Self.bodies(of: recording)
        outputs["page"] = try Recording.HTMLReport(recording, title: "a", redactor: nil).page()
        outputs["commands"] = Data(entries.map { $0.curlCommand() }.joined(separator: "\n").utf8)
        outputs["tests"] = Data(Recording.GeneratedTests(recording, title: "a", redactor: nil).source.utf8)
        outputs["inner text"] = Data(String(reflecting: entries).utf8)
        try add(filesBelow: path, as: "log")
        try addArchives(of: recording, nextTo: path)
    }

    private mutating func addArchives(of recording: Recording, nextTo path: String) throws {
        try recording.writeHAR(to: "\(path).har")
        outputs["archive"] = try contents("\(path).har")
        let folder = "\(path)-attached"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try recording.writeHAR(to: "\(folder)/a.har", bodies: .attached)
        try add(filesBelow: folder, as: "attached")
        try recording.writeHAR(to: "\(path).zhar")
        outputs["compressed archive"] = Self.inflated(try contents("\(path).zhar"))
    }

    private mutating func add(filesBelow folder: String, as name: String) throws {
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            let values = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)")
            guard values[.type] as? FileAttributeType == .typeRegular else { continue }
            outputs["\(name) \(file)"] = Data(file.utf8) + (try contents("\(folder)/\(file)"))
        }
    }

    /// The text around the first secret.
    static func around(_ data: Data) -> String {
        let text = String(decoding: data, as: UTF8.self)
        guard let place = text.lowercased().firstRange(of: "c4n4ryq") else { return "in another form" }
        let start = text.index(place.lowerBound, offsetBy: -200, limitedBy: text.startIndex) ?? text.startIndex
        return String(text[start...].prefix(300))
    }

    // MARK: - Actions

    private static func server(_ plants: [Plant]) throws -> LoopbackServer {
        let answers = Dictionary(uniqueKeysWithValues: plants.map { ("/\($0.name)", $0.answer) })
        return try LoopbackServer { request in
            answers[String(request.target.prefix { $0 != "?" })] ?? .response(404)
        }
    }

    /// Sends all plants and returns the texts of the errors.
    private static func send(_ plants: [Plant], to url: String, _ dependencies: BeagleDependencies) async throws
        -> [String]
    {
        let client = NetworkClientDefault(dependencies: dependencies)
        var errors: [String] = []
        for plant in plants {
            do { _ = try await client.executeRequest(try plant.request(to: url)) } catch { errors += text(of: error) }
        }
        return errors
    }

    /// Records the spans of a screen that was left before it loaded anything, so that nothing is sent.
    private static func measure(
        _ plants: [Plant],
        _ url: String,
        _ dependencies: BeagleDependencies,
        _ tracer: InMemoryTracer
    ) async throws {
        let client = NetworkClientDefault(dependencies: dependencies)
        let screen = ViewClient(client: client).open("canary", images: ImageLoader(client: client))
        screen.close()
        for plant in plants {
            let request = ScreenRequest(try plant.request(to: url).url)
            await #expect(throws: NetworkError.self) { try await screen.fetch(request, as: JSONValue.self) }
        }
        try await screen.timing.recordSpans(with: tracer)
    }

    /// Sends requests to hosts that don't respond.
    private static func fail(_ dependencies: BeagleDependencies) async throws -> [String] {
        let client = NetworkClientDefault(dependencies: dependencies)
        var errors: [String] = []
        for host in ["127.0.0.1:1", "nobody.invalid", "ana:\(Canary.secret(9_001))@127.0.0.1:1"] {
            let url = try #require(URL(string: "http://\(host)/?token=\(Canary.secret(9_002))"))
            do {
                _ = try await client.executeRequest(Request(url: url, type: .rawRequest(.init())))
                Issue.record("\(host) responded")
            } catch { errors += text(of: error) }
        }
        return errors
    }

    /// Sends and receives secrets through a WebSocket.
    private static func speak(_ log: RequestLog) async throws -> [LoopbackServer.Request] {
        let said = (0..<2).map { #"{"access_token":"\#(Canary.secret(9_010 + $0))"}"# }
        var entry = Exchanges.entry("GET", "/talk", status: 101)
        entry.request.url = "ws://a.example/talk?token=x"
        entry.messages = [
            LogEntry.Message(.send, at: entry.started, Data("x".utf8)),
            LogEntry.Message(.receive, at: entry.started, Data(said[0].utf8)),
            LogEntry.Message(.receive, at: entry.started, Data("Bearer \(Canary.secret(9_013))".utf8)),
        ]
        let server = try RecordedServer(Recording([entry]))
        let address = server.url.dropFirst("http://".count)
        var head = HTTPRequest(
            method: .get,
            scheme: "ws",
            authority: String(address),
            path: "/talk?token=\(Canary.secret(9_014))"
        )
        head.headerFields[.authorization] = "Bearer \(Canary.secret(9_015))"
        let socket = try await RecordingTransport(CurlTransport(), log: log).openWebSocket(WebSocket.Request(head))
        try await socket.send(.text(said[1]))
        var received = 0
        for try await message in socket.messages {
            guard case .text(let text) = message, !Canary.forms(in: Data(text.utf8)).isEmpty else { continue }
            received += 1
        }
        #expect(received == 2)
        return server.requests
    }

    /// Sends requests that are not in the recording.
    private static func miss(_ plants: [Plant], _ recording: Recording) async throws -> [String] {
        let dependencies = BeagleDependencies()
        dependencies.logger = .off
        let client = ReplayClient(
            recording,
            matching: .standard + [.headers(["X-Never", "Authorization"])],
            dependencies: dependencies
        )
        var errors: [String] = []
        for var plant in plants {
            plant.headers["X-Never"] = "x"
            do { _ = try await client.executeRequest(try plant.request(to: "http://a.example")) } catch {
                #expect(error.kind == .notInRecording, "\(plant.name): \(error)")
                errors += text(of: error)
            }
        }
        return errors
    }

    private static func text(of error: NetworkError) -> [String] {
        var dumped = ""
        dump(error, to: &dumped)
        return ["\(error)", String(reflecting: error), error.message, error.url ?? "", dumped]
    }

    /// The bytes of all bodies, with decompressed copies of compressed ones.
    private static func bodies(of recording: Recording) -> Data {
        recording.entries.flatMap { [$0.request.body, $0.response?.body] }.compactMap(\.self)
            .compactMap { recording.readable($0) }
            .reduce(into: Data()) { $0 += $1 + inflated($1) }
    }

    /// The decompressed bytes if the data is gzip or zlib; otherwise no bytes.
    private static func inflated(_ data: Data) -> Data {
        var (text, rest) = (Data(), Optional(data))
        do {
            let inflater = try Inflater()
            while true {
                let piece = try inflater.next { () throws(NetworkError) -> Data? in
                    defer { rest = nil }
                    return rest
                }
                guard let piece else { break }
                text += piece
            }
        } catch {
            return text
        }
        return text
    }
}

/// The loggers and the tracer that receive events of requests.
private struct EventReceivers {
    let memory = MemoryLogger()
    let handler = InMemoryLogHandler()
    let tracer = InMemoryTracer()
    private let style: LogInterceptor.Style

    init(_ style: LogInterceptor.Style) {
        self.style = style
    }

    func dependencies(_ log: RequestLog) -> BeagleDependencies {
        let dependencies = BeagleDependencies()
        var logger = Logger(label: "canary") { _ in handler }
        logger.logLevel = .trace
        dependencies.logger = MultiplexLogger(memory, SwiftLogLogger(logger))
        dependencies.interceptors.removeAll { $0 is LogInterceptor }
        dependencies.interceptors.add(LogInterceptor(style))
        dependencies.interceptors.add(TracingInterceptor(tracer: tracer))
        dependencies.requestLog = log
        return dependencies
    }

    /// The text of all spans.
    var spans: String {
        tracer.finishedSpans.map { span in
            var words = [span.operationName]
            span.attributes.forEach { words.append("\($0)=\($1)") }
            for event in span.events {
                words.append(event.name); event.attributes.forEach { words.append("\($0)=\($1)") }
            }
            words += span.errors.flatMap { ["\($0.error)", String(reflecting: $0.error)] }
            words.append(span.status.map { "\($0)" } ?? "")
            return words.joined(separator: " ")
        }
        .joined(separator: "\n")
    }
}
