import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetReplay
@testable import BeagleNetTesting

/// A log with an entry of every kind, recorded over real sockets.
enum EveryKind {
    static let text = "téxt \u{2028}\r\n\"\\ 😀"
    static let bytes = Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
    static let zipped = String(repeating: "zipped ", count: 20)
    /// `zipped`, compressed with gzip.
    private static let gzip = "H4sIAAAAAAAC/6vKLChITVGoGgwUALIvwVSMAAAA"

    /// Waits for the client's frame of nine bytes, so that it is in the log before the server closes.
    private static let opened = LoopbackServer.Response.played { $0.take(9) != nil }

    /// The server's response to each path. Other paths, such as `/failed`, reset the connection.
    static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        switch request.target {
        case "/text":
            return .response(
                200,
                ["Content-Type": "text/plain; charset=utf-8", "Set-Cookie": "a=1", "set-cookie": "b=2"],
                text
            )
        case "/bytes": return .response(200, ["Content-Type": "image/png"], bytes)
        case "/gzip":
            let body = Data(base64Encoded: gzip) ?? Data()
            return .response(200, ["Content-Type": "text/html", "Content-Encoding": "gzip"], body)
        case "/empty": return .response(200, ["Content-Type": "text/plain"])
        case "/none": return .response(204)
        case "/moved": return .response(302, ["Location": "/text"])
        case "/form": return .response(201, ["Content-Type": "application/json"], #"{"a":1.10,"é":"\u0000"}"#)
        case "/socket":
            guard let accept = try? WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? "") else { return .close }
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            let frames = Data([0x81, 2, 0x68, 0x69, 0x82, 2, 0, 0xFF, 0x88, 2, 3, 0xE8])
            return .sequence([.raw("\(head)Sec-WebSocket-Accept: \(accept)\r\n\r\n"), opened, .raw(frames), .finish])
        default: return .reset
        }
    }

    /// Runs `body` with the path of the log, after the server has stopped.
    static func withLog<R>(_ body: (_ path: String) async throws -> R) async throws -> R {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            try await record(in: log)
            await log.close()
            try leave(in: path)
            return try await body(path)
        }
    }

    private static func record(in log: RequestLog) async throws {
        let server = try LoopbackServer(answer: answer)
        let dependencies = BeagleDependencies()
        dependencies.networkClient = NetworkClientDefault(
            dependencies: dependencies,
            transport: CurlTransport(),
            options: TransferOptions()
        )
        dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 0)))
        dependencies.interceptors.add(CacheInterceptor())
        dependencies.requestLog = log
        let client = dependencies.networkClient
        func url(_ path: String) throws -> URL { try #require(URL(string: server.url + path)) }
        for path in ["/text", "/bytes", "/gzip", "/empty", "/none", "/moved", "/failed"] {
            let request = Request(url: try url(path), type: .rawRequest(.init()))
            // The last request is meant to fail.
            do throws(NetworkError) { _ = try await client.executeRequest(request) } catch {}
        }
        let form = Request.FormData(method: .post, values: ["name": "Ána", "password": "s3same"])
        _ = try await client.executeRequest(Request(url: url("/form"), type: .submitForm(form)))
        var operation = NetworkOperation(Request(url: try url("/text"), type: .fetchComponent), policy: .cacheFirst)
        operation.partition = "ana"
        for _ in 0..<2 { _ = try await client.run(operation) }
        let transport = RecordingTransport(CurlTransport(), log: log)
        let head = HTTPRequest(method: .get, scheme: "ws", authority: server.authority, path: "/socket")
        let socket = try await transport.openWebSocket(WebSocket.Request(head))
        try await socket.send(.text("hé"))
        for try await _ in socket.messages {}
    }

    /// Appends the start of a request without its end, as a process leaves it that is killed during the request.
    private static func leave(in path: String) throws {
        var entry = LogEntry.sample(2_000_000_000, url: "http://a.example/killed")
        (entry.id, entry.response) = ("killed-1", nil)
        var output = JSONOutput()
        output.object { output in
            output.member("k", "start")
            output.name("entry")
            entry.write(to: &output)
        }
        let file = try FileHandle(forWritingTo: URL(filePath: LogDirectory(path: path).segment(1)))
        try file.seekToEnd()
        try file.write(contentsOf: Data("\n".utf8) + output.bytes + Data("\n".utf8))
        try file.close()
    }

    /// The kinds, each with a predicate that matches its entries.
    static let kinds: KeyValuePairs<String, @Sendable (LogEntry) -> Bool> = [
        "normal": { $0.response?.status == 200 && $0.error == nil && !$0.isFromStore },
        "posted": { $0.request.body != nil },
        "empty": { $0.response?.status == 204 },
        "redirect": { $0.response?.status == 302 },
        "failed": { $0.response == nil && $0.error != nil && !$0.isInterrupted },
        "stored": { $0.isFromStore },
        "WebSocket": { $0.messages.count > 1 },
        "interrupted": { $0.isInterrupted },
    ]

    /// Writes an archive of a log.
    static func archive(of log: String, to path: String, bodies: HARWriter.Bodies = .embedded) throws {
        let writer = try HARWriter(to: path, bodies: bodies)
        for entry in try RequestLog.Reader(directory: log).entries() {
            try writer.write(HARWriter.Entry(entry, directory: log))
        }
        try writer.finish()
        #expect(writer.warnings == [])
    }
}
