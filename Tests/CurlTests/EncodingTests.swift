import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@testable import BeagleNetCurl

/// Content encodings: decoded completely, passed on unchanged, or rejected.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct EncodingTests {
    static let text = Data((0..<5_000).map { "line \($0 * 7919 % 1000)\n" }.joined().utf8)

    struct Encoded: Sendable, CustomTestStringConvertible {
        let name: String
        let body: Data
        var testDescription: String { name }
    }

    /// "beagle" and a line feed, encoded by brotli 1.0.9 and zstd 1.5.4.
    static let brotli = Data(base64Encoded: "CwOAYmVhZ2xlCgM=")!
    static let zstd = Data(base64Encoded: "KLUv/SAHOQAAYmVhZ2xlCg==")!

    static func encodings() throws -> [Encoded] {
        [
            Encoded(name: "gzip", body: try Deflated.gzip(text)),
            Encoded(name: "x-gzip", body: try Deflated.gzip(text)),
            Encoded(name: "GZip", body: try Deflated.gzip(text)),
            Encoded(name: "deflate", body: try Deflated.zlib(text)),
            Encoded(name: "deflate", body: try Deflated.bare(text)),
            Encoded(name: "identity", body: text),
            Encoded(name: "gzip, deflate", body: try Deflated.zlib(Deflated.gzip(text))),
            Encoded(name: "identity, gzip", body: try Deflated.gzip(text)),
        ]
    }

    let transport = CurlTransport()

    @Test(arguments: try encodings()) func bodyIsDecoded(_ encoded: Encoded) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Encoding": encoded.name], encoded.body))
        let response = try await transport.perform(server.request())
        #expect(try await response.body.collect() == Self.text)
        #expect(response.metrics.bytesReceived == Int64(encoded.body.count))
        #expect(response.metrics.decodedBytes == Int64(Self.text.count))
    }

    @Test(arguments: try encodings().dropLast(3)) func bodyIsDecodedByteByByte(_ encoded: Encoded) async throws {
        let pieces = encoded.body.map { Data([$0]) }
        let server = try LoopbackServer(.chunked(pieces, ["Content-Encoding": encoded.name]))
        #expect(try await transport.perform(server.request()).body.collect() == Self.text)
    }

    @Test(arguments: try encodings().filter { $0.name != "identity" })
    func truncatedBodyIsAnError(_ encoded: Encoded) async throws {
        for missing in [1, 4, 9, encoded.body.count / 2, encoded.body.count - 1] {
            let body = encoded.body.dropLast(missing)
            let server = try LoopbackServer(.response(200, ["Content-Encoding": encoded.name], Data(body)))
            // A bare deflate stream has no checksum: only its last bytes matter.
            let error = try await transport.failure(of: server.request())
            #expect(error.kind == .encoding, "\(missing) missing: \(error)")
            let stream = try await transport.failure(of: server.request(delivery: .stream))
            #expect(stream.kind == .encoding, "\(missing) missing: \(stream)")
        }
        try await transport.proveHealth()
    }

    @Test func damagedBodyIsAnError() async throws {
        var body = try Deflated.gzip(Self.text)
        body[body.count / 2] ^= 0x55
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "gzip"], body))
        #expect(try await transport.failure(of: server.request()).kind == .encoding)
        let plain = try LoopbackServer(.response(200, ["Content-Encoding": "gzip"], "not gzip at all"))
        #expect(try await transport.failure(of: plain.request()).kind == .encoding)
        try await transport.proveHealth()
    }

    @Test(arguments: [("br", brotli), ("zstd", zstd)])
    func newerEncodingsAreDecodedIfTheyWereRequested(_ name: String, _ body: Data) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Encoding": name], body))
        let response = try await transport.perform(server.request())
        let isAccepted = server.requests.first?["Accept-Encoding"]?.contains(name) == true
        #expect(try await response.body.collect() == (isAccepted ? Data("beagle\n".utf8) : body))

        guard isAccepted else { return }
        let cut = try LoopbackServer(.response(200, ["Content-Encoding": name], Data(body.dropLast())))
        #expect(try await transport.failure(of: cut.request()).kind == .encoding)
    }

    @Test func membersOfAGzipBodyAreJoined() async throws {
        let body = try Deflated.gzip(Data("one,".utf8)) + Deflated.gzip(Data("two".utf8))
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "gzip"], body))
        #expect(try await transport.perform(server.request()).text() == "one,two")
    }

    @Test(arguments: try encodings().filter { !$0.name.contains("identity") } + [Encoded(name: "br", body: brotli)])
    func bytesAfterTheEndAreAnError(_ encoded: Encoded) async throws {
        let fields: KeyValuePairs = ["Content-Encoding": encoded.name]
        guard encoded.name.split(separator: ", ").allSatisfy({ ContentDecoder.accepted.contains($0) }) else { return }
        for bytes in [Data([0]), Data("more".utf8)] {
            let server = try LoopbackServer(.response(200, fields, encoded.body + bytes))
            #expect(try await transport.failure(of: server.request()).kind == .encoding)
            let pieces = try LoopbackServer(.chunked([encoded.body, bytes], fields))
            #expect(try await transport.failure(of: pieces.request()).kind == .encoding)
        }
    }

    @Test func emptyBodyNeedsNoDecoding() async throws {
        let server = try LoopbackServer { .response($0.target == "/none" ? 204 : 200, ["Content-Encoding": "gzip"]) }
        for target in ["/none", "/empty"] {
            #expect(try await transport.perform(server.request(.get, target)).text() == "")
        }
        #expect(try await transport.perform(server.request(.head)).text() == "")
    }

    /// Bodies of a few kilobytes that decode to 64 MiB.
    static func bombs() throws -> [Encoded] {
        let zeros = Data(count: 64 << 20)
        let all = [
            Encoded(name: "gzip", body: try Deflated.gzip(zeros)),
            Encoded(name: "deflate", body: try Deflated.zlib(zeros)),
            Encoded(name: "gzip, gzip", body: try Deflated.gzip(Deflated.gzip(zeros))),
            Encoded(name: "zstd", body: repeatedZstd(count: 512)),
            Encoded(name: "br", body: try Deflated.brotli(zeros) ?? Data()),
        ]
        return all.filter { encoded in
            !encoded.body.isEmpty
                && encoded.name.split(separator: ", ").allSatisfy { ContentDecoder.accepted.contains($0) }
        }
    }

    /// Makes a zstd frame with blocks that each repeat one byte 128 Ki times (RFC 8878, 3.1.1).
    private static func repeatedZstd(count: UInt32) -> Data {
        var frame = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x50])
        for number in 1...count {
            let header: UInt32 = (number == count ? 1 : 0) | 1 << 1 | (128 << 10) << 3
            frame += withUnsafeBytes(of: header.littleEndian) { Array($0.prefix(3)) } + [0]
        }
        return frame
    }

    /// Although the whole body has arrived, the unread part never grows beyond a pipe and a piece of 64 KiB, and as
    /// much that the reader has taken.
    @Test(arguments: try bombs()) func decoderWaitsForItsReader(_ bomb: Encoded) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Encoding": bomb.name], bomb.body))
        let response = try await transport.perform(server.request(delivery: .stream))
        #expect(await server.until { $0.responses == 1 })
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        #expect(count == 64 << 20)
        #if COUNTS_LEFTOVERS
            let peak = try #require(ResourceTracker.current).peak(.buffered)
            #expect(peak >= 1 << 20 && peak <= 2 * (1 << 20 + 64 << 10))
        #endif
    }

    @Test func bodyWithUnknownEncodingIsNotDecoded() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "rot13"], "orntyr"))
        let response = try await transport.perform(server.request())
        #expect(response.head.headerFields[.contentEncoding] == "rot13")
        #expect(try await response.text() == "orntyr")
    }

    @Test func hundredEncodingsAreAnError() async throws {
        let names = Array(repeating: "gzip", count: 100).joined(separator: ", ")
        let server = try LoopbackServer(.response(200, ["Content-Encoding": names], "x"))
        #expect(try await transport.failure(of: server.request()).kind == .encoding)
        try await transport.proveHealth()
    }

    @Test func callersOwnAcceptEncodingKeepsTheBodyRaw() async throws {
        let body = try Deflated.gzip(Self.text)
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "gzip"], body))
        let response = try await transport.perform(server.request(.get, "/", ["Accept-Encoding": "gzip"]))
        #expect(try await response.body.collect() == body)
        #expect(server.requests.first?.values(of: "Accept-Encoding") == ["gzip"])
    }

    @Test func decodedBodyIsWrittenToTheFile() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "gzip"], Deflated.gzip(Self.text)))
        try await withTemporaryFolder { folder in
            _ = try await transport.perform(server.request(delivery: .file(path: folder + "/text")))
            #expect(try await HTTPBody.file(path: folder + "/text").collect() == Self.text)
        }
    }
}
