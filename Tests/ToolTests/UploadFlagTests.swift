import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// `-T` and `--max-filesize`.
struct UploadFlagTests {
    @Test func fileIsUploadedWithPUT() async throws {
        let server = try LoopbackServer { .response(201, [:], "\($0.body.count)") }
        try await withDirectory { directory in
            let path = "\(directory)/gr\u{FC}n & co.bin"
            try Data(count: 300_000).write(to: URL(fileURLWithPath: path))
            #expect(try await beagle("raw", "\(server.url)/to/name?a=b", "-T", path).text == "300000")
            #expect(try await beagle("raw", "\(server.url)/to/?a=b", "-T", path, "-X", "POST").text == "300000")
        }
        #expect(server.requests.map(\.method) == ["PUT", "POST"])
        #expect(server.requests.map(\.target) == ["/to/name?a=b", "/to/gr%C3%BCn%20%26%20co.bin?a=b"])
        #expect(server.requests.allSatisfy { $0["Content-Length"] == "300000" && $0["Content-Type"] == nil })
    }

    @Test func standardInputIsStreamedWithPUT() async throws {
        let server = try LoopbackServer { .response(200, [:], $0.body) }
        let input = String(repeating: "0123456789", count: 100_000)
        let run = try await beagle("raw", "\(server.url)/", "-T", "-", "-H", "Content-Type: text/plain", input: input)
        #expect(run.text == input)
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT" && request.target == "/")
        #expect(request["Transfer-Encoding"] == "chunked")
        #expect(request["Content-Type"] == "text/plain")
    }

    /// The input so far is sent before the rest is available.
    @Test func interruptEndsAnUploadOfStandardInput() async throws {
        let server = try LoopbackServer(.response(200))
        let process = try BeagleProcess(["raw", server.url, "-T", "-"], input: "some", keepsInputOpen: true)
        #expect(await server.until { $0.bytesReceived > 0 })
        process.interrupt()
        #expect(await process.outcome().exit == 130)
        #expect(server.requests.isEmpty)
    }

    @Test func unreadableFileFailsBeforeSending() async throws {
        let server = try LoopbackServer(.response(200))
        for path in ["/nonexistent/file", "/"] {
            let run = try await beagle("raw", server.url, "-T", path)
            #expect(run.exit == 26)
            #expect(run.errors.contains("cannot read \(path)"))
        }
        #expect(try await beagle("raw", server.url, "-T", "").exit == 64)
        #expect(try await beagle("raw", server.url, "-T", "file", "-d", "x").exit == 64)
        #expect(server.record.requestCount == 0)
    }

    private static let maxFilesizeLimitsTheBodyArguments: [(String, Int32)] = [
        ("1k", 0), ("1023", 63), ("1K", 0), ("1M", 0),
    ]

    @Test(arguments: Self.maxFilesizeLimitsTheBodyArguments) func maxFilesizeLimitsTheBody(
        _ limit: String,
        _ exit: Int32
    ) async throws {
        let server = try LoopbackServer(.chunked([Data(count: 1024)]))
        for arguments in [[], ["-o", "/dev/null"]] {
            let run = try await beagle(["raw", server.url, "--max-filesize", limit] + arguments)
            #expect(run.exit == exit, "\(run.errors)")
            #expect(exit == 0 || run.errors.contains("--max-filesize"))
        }
    }

    @Test func sizesAreParsedLikeCurl() {
        let sizes = ["1", "2k", "2K", "3M", "1g", "7b"].map { ByteSize(argument: $0)?.bytes }
        #expect(sizes == [1, 2048, 2048, 3 << 20, 1 << 30, 7])
        for text in ["", "0", "-1", "k", "1kk", "1x", "99999999999999999999", "9223372036854775807k", "1.5k", "٣"] {
            #expect(ByteSize(argument: text) == nil)
        }
    }
}
