import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// The demo backend's HTTP server, tested with raw bytes.
@Suite(.timeLimit(.minutes(5))) struct BackendTests {
    /// Sends these bytes, and returns the backend's output until it closes the connection.
    private static func answer(_ url: String, _ bytes: Data, finishes: Bool = false) throws -> String {
        let client = try RawClient(url)
        client.send(bytes)
        if finishes { client.finish() }
        return String(decoding: client.readAll(), as: UTF8.self)
    }

    private static func answer(_ url: String, _ lines: String..., body: String = "") throws -> String {
        let head = (lines + ["Host: a", "Connection: close", "Content-Length: \(body.utf8.count)"])
            .joined(separator: "\r\n")
        return try answer(url, Data("\(head)\r\n\r\n\(body)".utf8))
    }

    private static func status(_ answer: String) -> Int? {
        answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    private static let formIsReadLenientlyArguments: [(String, Int)] = [
        ("name=a b&email=a@b.c", 201), ("name=ü&email=a@b.c", 201), ("name=|&email=a@b.c", 201),
        ("name=%&email=a@b.c", 201), ("name=%zz&email=a%40b.c", 201), ("name=%FF&email=a@b.c", 201),
        ("name=+&email=a@b.c", 201), ("%", 422), ("", 422), ("&&=&", 422), ("name", 422), ("[]{}\"<>^`\\", 422),
    ]

    @Test(
        "a form with an invalid encoding is read as far as possible",
        arguments: Self.formIsReadLenientlyArguments
    )
    func formIsReadLeniently(body: String, status: Int) async throws {
        try await withBackend { url in
            let type = "Content-Type: application/x-www-form-urlencoded"
            let answer = try Self.answer(url, "POST /signup?answer=%&| HTTP/1.1", type, body: body)
            #expect(Self.status(answer) == status, "\(answer)")
        }
    }

    @Test func repeatedFieldsAreCombined() async throws {
        try await withBackend { url in
            let echo = try Self.answer(url, "GET /echo HTTP/1.1", "X-A: 1", "x-a: 2", "Cookie: a=1", "Cookie: b=2")
            #expect(echo.contains(#""X-A":"1, 2""#) && echo.contains(#""Cookie":"a=1; b=2""#), "\(echo)")
            let home = try Self.answer(url, "GET /home HTTP/1.1")
            let tag = try #require(home.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
            let fields = ["If-None-Match: \(tag)", "If-None-Match: \"x\""]
            for fields in [fields, fields.reversed()] {
                let answer = try Self.answer(url, "GET /home HTTP/1.1", fields[0], fields[1])
                #expect(Self.status(answer) == 304)
            }
        }
    }

    private static let requestHeadIsValidatedArguments: [(String, Int)] = [
        ("GARBAGE", 400), ("GET /home", 400), ("GET  /home HTTP/1.1", 400), ("GET home HTTP/1.1", 400),
        ("GET /home HTTP/2.0", 505), ("G(T /home HTTP/1.1", 400), ("GET http://a/home HTTP/1.1", 200),
        ("GET /home HTTP/1.1\r\nX : 1", 400), ("GET /home HTTP/1.1\r\nX: 1\r\n folded", 400),
        ("GET /home HTTP/1.1\r\nX", 400), ("GET /home HTTP/1.1\r\nX: \u{0}", 400),
        ("GET /home HTTP/1.1\r\nHost: b", 400), ("GET /home HTTP/1.1\r\nContent-Length: -1", 400),
        ("GET /home HTTP/1.1\r\nContent-Length: 99999999999999999999", 400),
        ("GET /home HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2", 400),
        ("POST /echo HTTP/1.1\r\nTransfer-Encoding: gzip", 501),
        ("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1", 400),
        ("GET /%zz HTTP/1.1", 404), ("GET /home?%&| HTTP/1.1", 200), ("* /echo HTTP/1.1", 200),
    ]

    @Test(arguments: Self.requestHeadIsValidatedArguments)
    func requestHeadIsValidated(_ lines: String, status: Int) async throws {
        try await withBackend { url in
            let answer = try Self.answer(url, Data("\(lines)\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
            #expect(Self.status(answer) == status, "\(answer)")
        }
    }

    private static let chunkedBodyIsValidatedArguments: [(String, Int)] = [
        ("3\r\nabc\r\n0\r\n\r\n", 200), ("3;x=y\r\nabc\r\n0\r\nX: 1\r\n\r\n", 200), ("zz\r\n", 400), ("\r\n", 400),
        ("-1\r\n", 400), ("FFFFFFFFFFFFFFFFF\r\n", 400), ("1\r\nab\r\n0\r\n\r\n", 400), ("200000\r\n", 413),
    ]

    @Test(arguments: Self.chunkedBodyIsValidatedArguments)
    func chunkedBodyIsValidated(_ body: String, status: Int) async throws {
        try await withBackend { url in
            let head = "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            let bytes = Data((head + body).utf8)
            // A chunk that is too large is rejected after it is received.
            let more = status == 413 ? Data(count: 0x200000) : Data()
            let answer = try Self.answer(url, bytes + more)
            #expect(Self.status(answer) == status, "\(answer)")
            #expect(status != 200 || answer.contains(#""body":"abc""#))
        }
    }

    @Test func headSizeIsLimited() async throws {
        try await withBackend { url in
            let field = "X-A: \(String(repeating: "a", count: 15 << 10))\r\n"
            let head = "GET /home HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
            for (bytes, status) in [
                ("\(head)\(field)\r\n", 200), ("\(head)\(field)\(field)\r\n", 431), (field + field, 431),
            ] {
                let answer = try Self.answer(url, Data(bytes.utf8))
                #expect(Self.status(answer) == status)
            }
        }
    }

    @Test func slowHeadTimesOut() async throws {
        try await Backend.serving(port: 0, headTime: .milliseconds(100)) { url in
            let answer = try Self.answer(url, Data("GET /home HTTP/1.1\r\n".utf8))
            #expect(Self.status(answer) == 408)
        }
    }

    @Test func clientsThatSendEndlessFieldsDoNotBlockOthers() async throws {
        try await withBackend { url in
            let isOver = Lock(false)
            let senders = DispatchGroup()
            for _ in 0..<16 {
                let client = try RawClient(url)
                senders.enter()
                Thread.detachNewThread {
                    client.send(Data("GET /home HTTP/1.1\r\n".utf8))
                    // Sends until the backend closes the connection or the test ends.
                    while !isOver.withLock({ $0 }), client.send(Data("a: b\r\n".utf8)) {}
                    senders.leave()
                }
            }
            for _ in 0..<3 { #expect(try Self.status(Self.answer(url, "GET /home HTTP/1.1")) == 200) }
            isOver.withLock { $0 = true }
            await withCheckedContinuation { done in senders.notify(queue: .global()) { done.resume() } }
        }
    }

    @Test func echoLimitsTheBodyToOneMebibyte() async throws {
        try await withBackend { url in
            let head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length:"
            let fits = try Self.answer(
                url,
                Data("\(head) 1048576\r\nConnection: close\r\n\r\n".utf8) + Data(repeating: 0x61, count: 1 << 20)
            )
            #expect(Self.status(fits) == 200)
            let more = try Self.answer(
                url,
                Data("\(head) 8388608\r\n\r\n".utf8) + Data(repeating: 0x61, count: 8 << 20)
            )
            #expect(Self.status(more) == 413)
            // A client that sends `Expect: 100-continue` is rejected before it sends the body.
            let asks = "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length:"
            #expect(try Self.status(Self.answer(url, Data("\(asks) 999999999999\r\n\r\n".utf8))) == 413)
            let response = try Self.answer(url, Data("\(asks) 2\r\nConnection: close\r\n\r\nab".utf8))
            #expect(response.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func requestsArePipelinedOnAConnection() async throws {
        try await withBackend { url in
            let one = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n"
            // The route of the second request doesn't read its body.
            let two = "POST /fail HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
            let three = "GET /home HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let answer = try Self.answer(url, Data("\(one)x\(two)\(three)".utf8))
            let statuses = answer.split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
            #expect(statuses == ["200", "500", "200"])
        }
    }

    private static let rangeIsParsedArguments: [(String, Int, String?)] = [
        ("bytes=0-15", 206, "bytes 0-15/1048576"), ("bytes=1048570-", 206, "bytes 1048570-1048575/1048576"),
        ("bytes=-16", 206, "bytes 1048560-1048575/1048576"),
        ("BYTES=5-99999999999999999999", 206, "bytes 5-1048575/1048576"),
        ("bytes=1048576-", 416, "bytes */1048576"), ("bytes=-0", 416, "bytes */1048576"),
        ("bytes=99999999999999999999-", 416, "bytes */1048576"),
        ("bytes=5-2", 200, nil), ("bytes=0-1,5-6", 200, nil), ("bytes=-", 200, nil), ("items=0-1", 200, nil),
        ("bytes=a-b", 200, nil),
    ]

    @Test(arguments: Self.rangeIsParsedArguments)
    func rangeIsParsed(_ range: String, status: Int, contentRange: String?) async throws {
        try await withBackend { url in
            let answer = try Self.answer(url, "GET /file HTTP/1.1", "Range: \(range)")
            #expect(Self.status(answer) == status)
            let lines = answer.split(separator: "\r\n")
            #expect(lines.first { $0.hasPrefix("Content-Range: ") }?.dropFirst(15).description == contentRange)
        }
    }

    @Test func ifRangeComparesTheETag() async throws {
        try await withBackend { url in
            let whole = try Self.answer(url, "HEAD /file HTTP/1.1")
            let tag = try #require(whole.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
            for (condition, status) in [("\(tag)", 206), ("\"x\"", 200), ("W/\(tag)", 200)] {
                let fields = ["Range: bytes=16-31", "If-Range: \(condition)"]
                let answer = try Self.answer(url, "GET /file HTTP/1.1", fields[0], fields[1])
                #expect(Self.status(answer) == status)
                #expect(status != 206 || answer.hasSuffix("\r\n\r\nline at 0000010\n"))
            }
        }
    }

    @Test func cachedDocumentHasAMaxAgeAndIsRevalidated() async throws {
        try await withBackend { url in
            let answer = try Self.answer(url, "GET /cached HTTP/1.1")
            #expect(answer.contains("Cache-Control: max-age=60\r\n"))
            let tag = try #require(answer.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
            #expect(try Self.status(Self.answer(url, "GET /cached HTTP/1.1", "If-None-Match: \(tag)")) == 304)
        }
    }

    @Test func variedDocumentDependsOnTheLanguage() async throws {
        try await withBackend { url in
            for (language, text) in [("pt-BR, en;q=0.5", "Olá"), ("en", "Hello")] {
                let answer = try Self.answer(url, "GET /varied HTTP/1.1", "Accept-Language: \(language)")
                #expect(answer.contains("Vary: Accept-Language\r\n"))
                #expect(answer.contains("Cache-Control: max-age=60\r\n"))
                #expect(answer.contains(text))
            }
            #expect(try Self.answer(url, "GET / HTTP/1.1").contains("/varied"))
        }
    }

    @Test func imagesAreFreshForAnHour() async throws {
        try await withBackend { url in
            let answer = try Self.answer(url, "GET /img/logo.png HTTP/1.1", "Range: bytes=0-3")
            #expect(Self.status(answer) == 206)
            #expect(answer.contains("Cache-Control: max-age=3600\r\n") && answer.contains("ETag: \""))
        }
    }

    @Test(arguments: ["application/json", "text/event-stream"])
    func mutationByGetIsRejected(_ type: String) async throws {
        try await withBackend { url in
            let target = "/graphql?query=mutation%7BcreatePost(title:%22x%22)%7Bid%7D%7D"
            let answer = try Self.answer(url, "GET \(target) HTTP/1.1", "Accept: \(type)")
            #expect(answer.contains("a mutation cannot be sent by GET"), "\(answer)")
        }
    }

    private static let upgrade =
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

    /// Payloads of close frames, and the codes of the backend's.
    @Test(arguments: [([], []), ([3, 0xE8], [3, 0xE8]), ([3], [3, 0xEA])] as [([UInt8], [UInt8])])
    func closeFrameIsAnsweredWithACode(_ payload: [UInt8], _ code: [UInt8]) async throws {
        try await withBackend { url in
            let client = try RawClient(url)
            let frame = Data([0x88, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload)
            client.send(Data("GET /ws HTTP/1.1\r\nHost: a\r\n\(Self.upgrade)\r\n".utf8) + frame)
            let answer = client.readAll()
            let head = try #require(answer.firstRange(of: Data("\r\n\r\n".utf8)))
            let close = answer[head.upperBound...]
            #expect(close.first == 0x88 && Array(close.dropFirst(2).prefix(2)) == code, "\(Array(close))")
        }
    }

    /// Valid conversations of clients. The test corrupts each at random places.
    private static let conversations: [Data] = {
        func frame(_ opcode: UInt8, _ text: String, length: [UInt8]? = nil) -> Data {
            let count = text.utf8.count
            let known = count < 126 ? [0x80 | UInt8(count)] : [0xFE, UInt8(count >> 8), UInt8(count & 0xFF)]
            return Data([0x80 | opcode] + (length ?? known) + [0, 0, 0, 0] + text.utf8)
        }
        let multipart = "--a\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"x\"\r\n\r\nx\r\n--a--\r\n"
        func post(_ target: String, _ type: String, _ body: String) -> Data {
            Data(
                "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    .utf8
            )
        }
        return [
            post("/signup?answer=x", "application/x-www-form-urlencoded", "name=a%20b&email=a@b.c"),
            post("/signup", "application/json", #"{"name":"a","email":1e5}"#),
            post("/signup", "multipart/form-data; boundary=a", multipart),
            post("/upload", "multipart/form-data; boundary=a", multipart),
            post(
                "/graphql",
                "application/json",
                #"{"query":"query Q($i: ID! = 1) { p: post(id: $i) { id } hero { ...F @include(if: true) } } fragment F on Character { friends { name } }","variables":{"i":"2"},"operationName":"Q","extensions":{"persistedQuery":{"sha256Hash":"x"}}}"#
            ),
            Data(
                "GET /graphql?query=%7Bhello%7D&variables=%7B%7D HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n"
                    .utf8
            ),
            Data("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".utf8),
            Data("GET /file HTTP/1.1\r\nHost: a\r\nRange: bytes=1-2\r\nIf-Range: \"x\"\r\n\r\n".utf8),
            Data("GET /events HTTP/1.0\r\nLast-Event-ID: -9223372036854775808\r\n\r\n".utf8),
            Data("GET /ws HTTP/1.1\r\nHost: a\r\n\(upgrade)\r\n".utf8) + frame(1, "hi") + frame(9, "")
                + frame(8, "\u{3}\u{68}"),
            Data("GET /ws HTTP/1.1\r\nHost: a\r\n\(upgrade)\r\n".utf8)
                + frame(2, "x", length: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            Data(
                "GET /graphql HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\(upgrade)\r\n"
                    .utf8
            )
                + frame(1, #"{"type":"connection_init"}"#)
                + frame(1, #"{"type":"subscribe","id":"1","payload":{"query":"subscription { count(to: 1) }"}}"#),
        ]
    }()

    @Test func corruptedConversationsDoNotStopTheServer() async throws {
        try await withBackend { url in
            var random = SeededGenerator(seed: 7)
            for round in 0..<600 {
                var bytes = Self.conversations[round % Self.conversations.count]
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let place = bytes.startIndex + Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0...3, using: &random) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: place)
                    case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                    default: bytes = bytes[..<place] + bytes[place...] + bytes[place...]
                    }
                }
                _ = try Self.answer(url, bytes, finishes: true)
            }
            #expect(try Self.status(Self.answer(url, "GET /home HTTP/1.1")) == 200)
        }
    }
}

/// A client that sends raw bytes.
private final class RawClient: Sendable {
    private let descriptor: Int32

    init(_ url: String) throws {
        descriptor = try BackendSocket.connected(to: UInt16(url.split(separator: ":").last ?? "") ?? 0)
    }

    deinit { BackendSocket(descriptor: descriptor).close() }

    /// - Returns: Whether the backend accepted the bytes.
    @discardableResult
    func send(_ bytes: Data) -> Bool {
        do {
            try BackendSocket(descriptor: descriptor).write(bytes)
            return true
        } catch {
            return false
        }
    }

    func finish() { BackendSocket(descriptor: descriptor).finish() }

    /// Reads all bytes until the end of the connection.
    func readAll() -> Data {
        var bytes: [UInt8] = []
        do {
            while try BackendSocket(descriptor: descriptor).read(into: &bytes, until: .now + .seconds(30)) {}
        } catch {
            // A reset also ends the connection.
        }
        return Data(bytes)
    }
}

extension BackendSocket {
    /// The descriptor of a socket that is connected to a port of this machine.
    fileprivate static func connected(to port: UInt16) throws -> Int32 {
        #if os(Linux)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            // A `sockaddr_in` begins as a `sockaddr` does, and is as large.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw ConnectionEnd.lost }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return descriptor
    }
}
