import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import Testing

/// Content encodings: decoded whole, handed over as they came, or refused.
@Suite(.timeLimit(.minutes(1)))
struct EncodingTests {
    static let text = Data((0..<5_000).map { "line \($0 * 7919 % 1000)\n" }.joined().utf8)

    struct Encoded: Sendable, CustomTestStringConvertible {
        let name: String
        let body: Data
        var testDescription: String { name }
    }

    /// "beagle" and a line feed, as brotli 1.0.9 and zstd 1.5.4 write it.
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

    @Test(arguments: try encodings().dropLast(3)) func everySplitIsDecoded(_ encoded: Encoded) async throws {
        let pieces = encoded.body.map { Data([$0]) }
        let server = try LoopbackServer(.chunked(pieces, ["Content-Encoding": encoded.name]))
        #expect(try await transport.perform(server.request()).body.collect() == Self.text)
    }

    @Test(arguments: try encodings().filter { $0.name != "identity" })
    func truncatedBodyIsAnError(_ encoded: Encoded) async throws {
        for missing in [1, 4, 9, encoded.body.count / 2, encoded.body.count - 1] {
            let body = encoded.body.dropLast(missing)
            let server = try LoopbackServer(.response(200, ["Content-Encoding": encoded.name], Data(body)))
            // A bare deflate stream has no check sum: only its last bytes matter.
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
    func newerEncodingsAreDecodedWhereTheyAreAskedFor(_ name: String, _ body: Data) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Encoding": name], body))
        let response = try await transport.perform(server.request())
        let isAskedFor = server.requests.first?["Accept-Encoding"]?.contains(name) == true
        #expect(try await response.body.collect() == (isAskedFor ? Data("beagle\n".utf8) : body))

        guard isAskedFor else { return }
        let cut = try LoopbackServer(.response(200, ["Content-Encoding": name], Data(body.dropLast())))
        #expect(try await transport.failure(of: cut.request()).kind == .encoding)
    }

    @Test func membersOfAGzipBodyAreJoined() async throws {
        let body = try Deflated.gzip(Data("one,".utf8)) + Deflated.gzip(Data("two".utf8))
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "gzip"], body))
        #expect(try await transport.perform(server.request()).text() == "one,two")
    }

    @Test func emptyBodyNeedsNoDecoding() async throws {
        let server = try LoopbackServer { .response($0.target == "/none" ? 204 : 200, ["Content-Encoding": "gzip"]) }
        for target in ["/none", "/empty"] {
            #expect(try await transport.perform(server.request(.get, target)).text() == "")
        }
        #expect(try await transport.perform(server.request(.head)).text() == "")
    }

    @Test func unknownEncodingIsHandedOverAsItCame() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "rot13"], "orntyr"))
        let response = try await transport.perform(server.request())
        #expect(response.head.headerFields[.contentEncoding] == "rot13")
        #expect(try await response.text() == "orntyr")
    }

    @Test func hundredEncodingsAreRefused() async throws {
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

    @Test func fileGetsTheDecodedBody() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "gzip"], Deflated.gzip(Self.text)))
        try await withTemporaryFolder { folder in
            _ = try await transport.perform(server.request(delivery: .file(path: folder + "/text")))
            #expect(try await HTTPBody.file(path: folder + "/text").collect() == Self.text)
        }
    }
}
