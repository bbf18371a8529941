import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// Who asks, and what is remembered from one run to the next.
struct AccessFlagsTests {
    private func authorization(_ arguments: String...) async throws -> String? {
        let server = try LoopbackServer(.response(200))
        let run = try await BeagleProcess(["raw", server.url] + arguments).outcome()
        #expect(run.exit == 0, "\(run.errors)")
        return server.requests.first?["Authorization"]
    }

    @Test func whoAsksIsSent() async throws {
        #expect(try await authorization("-u", "Aladdin:open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try await authorization("--oauth2-bearer", "abc") == "Bearer abc")
        try await withDirectory { directory in
            let file = "\(directory)/netrc"
            try Data("machine 127.0.0.1 login Aladdin password \"open sesame\"".utf8).write(
                to: URL(fileURLWithPath: file)
            )
            #expect(try await authorization("--netrc-file", file) == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        }
    }

    @Test func digestAnswersTheChallenge() async throws {
        let server = try LoopbackServer { request in
            request["Authorization"] == nil
                ? .response(401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\""]) : .response(200, [:], "in")
        }
        let run = try await beagle("raw", server.url, "-u", "me:hunter2", "--digest", "-v")
        #expect(run.text == "in")
        #expect(run.errors.contains("* 401 of GET \(server.url)/"))
        #expect(!run.errors.contains("hunter2"))
    }

    @Test(arguments: [
        ["-u", "hunter2"], ["--digest"], ["-u", "a:hunter2", "--oauth2-bearer", "b"],
        ["--netrc", "--oauth2-bearer", "hunter2"],
        ["--max-redirs", "-1"], ["--max-redirs", "x"],
    ])
    func flagsThatDoNotFitAreUsageErrors(_ arguments: [String]) async throws {
        let run = try await BeagleProcess(["raw", "http://127.0.0.1:1/"] + arguments).outcome()
        #expect(run.exit == 64)
        #expect(!run.errors.contains("hunter2"))
    }

    @Test func valueThatCannotBeSentIsNamedByItsFlag() async throws {
        let run = try await beagle("raw", "http://127.0.0.1:1/", "--oauth2-bearer", "hunter 2")
        #expect(run.exit == 43)
        #expect(run.errors.contains("--oauth2-bearer holds a token"))
        #expect(!run.errors.contains("hunter"))
        let missing = try await beagle("raw", "http://127.0.0.1:1/", "-b", "/nonexistent/jar")
        #expect(missing.exit == 26)
        #expect(missing.errors.contains("/nonexistent/jar"))
    }

    @Test func cookiesAreKeptFromRunToRun() async throws {
        let server = try LoopbackServer { request in
            request.target == "/login"
                ? .response(302, ["Location": "/", "Set-Cookie": "id=1"]) : .response(200, [:], request["Cookie"] ?? "")
        }
        try await withDirectory { directory in
            let jar = "\(directory)/jar"
            #expect(try await beagle("raw", "\(server.url)/login", "-c", jar).text == "id=1")
            #expect(try await beagle("raw", server.url, "-b", jar, "-b", "own=2").text == "own=2; id=1")
            #expect(try await beagle("raw", server.url, "-b", "own=2").text == "own=2")
            let kept = try String(contentsOfFile: jar, encoding: .utf8)
            #expect(kept.contains("\tid\t1\n"))
        }
    }

    @Test func hostsThatWantHTTPSAreAskedSo() async throws {
        let server = try LoopbackServer(onConnect: .close) { _ in .close }
        try await withDirectory { directory in
            let file = "\(directory)/hsts"
            try Data("localhost \"unlimited\"\n".utf8).write(to: URL(fileURLWithPath: file))
            let run = try await beagle("raw", "http://localhost:\(server.port)/", "--hsts", file)
            #expect(run.exit == 35)
            #expect(run.errors.contains("https://localhost"))
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains("localhost \"unlimited\""))
        }
    }

    @Test func redirectsAreLimitedAndAddressesGuarded() async throws {
        let server = try LoopbackServer(.response(302, ["Location": "/"]))
        #expect(try await beagle("raw", server.url, "--max-redirs", "2").exit == 47)
        #expect(server.record.requestCount == 3)
        #expect(try await beagle("raw", server.url, "--max-redirs", "0").exit == 0)
        let run = try await beagle("raw", server.url, "--public-only")
        #expect(run.exit == 7)
        #expect(run.errors.contains("is loopback, which --public-only does not allow"))
        #expect(server.record.requestCount == 4)
    }
}
