import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// Credentials, and state that is kept from one run to the next.
struct AccessFlagsTests {
    private func authorization(_ arguments: String...) async throws -> String? {
        let server = try LoopbackServer(.response(200))
        let run = try await beagle(["raw", server.url] + arguments)
        #expect(run.exit == 0, "\(run.errors)")
        return server.requests.first?["Authorization"]
    }

    @Test func credentialsAreSent() async throws {
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

    @Test(arguments: [("qop=auth-int", "qop=auth-int"), ("algorithm=SHA-512-256", "the algorithm SHA-512-256")])
    func unsupportedDigestChallengeGivesTheReason(_ parameter: String, _ reason: String) async throws {
        let challenge = "Digest realm=\"r\", nonce=\"n\", \(parameter)"
        let server = try LoopbackServer(.response(401, ["WWW-Authenticate": challenge], "no"))
        let run = try await beagle("raw", server.url, "-u", "me:hunter2", "--digest")
        #expect(run.exit == 22)
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(server.record.requestCount == 1)
    }

    @Test func digestResponseFollowsTheChallenge() async throws {
        let server = try LoopbackServer { request in
            request["Authorization"] == nil
                ? .response(401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\""]) : .response(200, [:], "in")
        }
        let run = try await beagle("raw", server.url, "-u", "me:hunter2", "--digest", "-v")
        #expect(run.text == "in")
        #expect(run.errors.contains("* 401 for GET \(server.url)/"))
        #expect(!run.errors.contains("hunter2"))
    }

    private static let invalidFlagsAreUsageErrorsArguments: [[String]] = [
        ["-u", "hunter2"], ["--digest"], ["-u", "a:hunter2", "--oauth2-bearer", "b"],
        ["--netrc", "--oauth2-bearer", "hunter2"],
        ["--max-redirs", "-1"], ["--max-redirs", "x"],
    ]

    @Test(arguments: Self.invalidFlagsAreUsageErrorsArguments)
    func invalidFlagsAreUsageErrors(_ arguments: [String]) async throws {
        let run = try await beagle(["raw", "http://127.0.0.1:1/"] + arguments)
        #expect(run.exit == 64)
        #expect(!run.errors.contains("hunter2"))
    }

    @Test func invalidValueIsReportedWithItsFlag() async throws {
        let run = try await beagle("raw", "http://127.0.0.1:1/", "--oauth2-bearer", "hunter 2")
        #expect(run.exit == 43)
        #expect(run.errors.contains("--oauth2-bearer: the token contains characters"))
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

    @Test func invalidLinesOfACookieJarAreSkippedAndReported() async throws {
        let server = try LoopbackServer { .response(200, [:], $0["Cookie"] ?? "") }
        try await withDirectory { directory in
            let jar = "\(directory)/jar"
            let lines = ["hunter2"] + (1...4).map { "127.0.0.1\tFALSE\tx\tFALSE\t0\tn\($0)\thunter2" }
            let good = "127.0.0.1\tFALSE\t/\tFALSE\t0\tgood\t1"
            try Data(([lines[0], good] + lines[1...]).joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: jar))
            let run = try await beagle("raw", server.url, "-b", jar)
            #expect(run.exit == 0 && run.text == "good=1", "\(run.errors)")
            #expect(run.errors.contains("beagle: skipped a line: line 1 of \(jar) is not a valid cookie\n"))
            #expect(run.errors.contains("line 4 of \(jar)") && !run.errors.contains("line 5 of"))
            #expect(run.errors.contains("beagle: skipped 2 more lines"))
            #expect(!run.errors.contains("hunter2"))
        }
    }

    @Test func jarWithATabInAPathIsReadBack() async throws {
        let fields = "Set-Cookie: good=1; Path=/\r\nSet-Cookie: a=1; Path=/\tx\r\nSet-Cookie: b=1\u{1}\r\n"
        let server = try LoopbackServer { request in
            .raw(
                "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(request["Cookie"]?.utf8.count ?? 0)\r\n\r\n\(request["Cookie"] ?? "")"
            )
        }
        try await withDirectory { directory in
            let jar = "\(directory)/jar"
            #expect(try await beagle("raw", server.url, "-c", jar).exit == 0)
            let run = try await beagle("raw", server.url, "-b", jar)
            #expect(run.text == "good=1", "\(run.errors)")
            #expect(run.errors.isEmpty)
        }
    }

    @Test func hstsHostIsRequestedOverHTTPS() async throws {
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

    private static let cookiesOfAFailedResponseAreKeptArguments: [(LoopbackServer.Response, Int32)] = [
        (LoopbackServer.Response.response(500, ["Set-Cookie": "id=1"]), 22 as Int32),
        (.sequence([.raw("HTTP/1.1 200 OK\r\nSet-Cookie: id=1\r\nContent-Length: 9\r\n\r\nabc"), .close]), 18),
    ]

    @Test(arguments: Self.cookiesOfAFailedResponseAreKeptArguments)
    func cookiesOfAFailedResponseAreKept(_ answer: LoopbackServer.Response, exit: Int32) async throws {
        let server = try LoopbackServer(answer)
        try await withDirectory { directory in
            let jar = "\(directory)/jar"
            for command in [["raw", server.url], ["fetch", server.url], ["listen", server.url, "--retry", "0"]] {
                let run = try await beagle(command + ["-c", jar])
                #expect(run.exit == exit || command[0] == "listen", "\(command[0]): \(run.exit)")
                #expect(try String(contentsOfFile: jar, encoding: .utf8).contains("\tid\t1\n"), "\(command[0])")
                try FileManager.default.removeItem(atPath: jar)
            }
        }
    }

    /// An invalid file is not overwritten.
    @Test func invalidStateFileIsNotOverwritten() async throws {
        try await withDirectory { directory in
            for flag in ["--hsts", "--alt-svc"] {
                let file = "\(directory)/file"
                try Data("my letters\n".utf8).write(to: URL(fileURLWithPath: file))
                let run = try await beagle("raw", "http://127.0.0.1:1/", flag, file)
                #expect(run.exit == 26 && run.errors.contains("line 1 of \(file)"))
                #expect(try String(contentsOfFile: file, encoding: .utf8) == "my letters\n")
            }
        }
    }

    @Test func alternativeServiceOfTheFileIsTriedFirst() async throws {
        let alternative = try LoopbackServer(onConnect: .close) { _ in .close }
        let server = try LoopbackServer(onConnect: .close) { _ in .close }
        try await withDirectory { directory in
            let file = "\(directory)/alt-svc"
            let line = "h2 127.0.0.1 \(server.port) h2 127.0.0.1 \(alternative.port) \"20991231 23:59:59\" 1 0\n"
            try Data(line.utf8).write(to: URL(fileURLWithPath: file))
            let run = try await beagle("raw", "https://127.0.0.1:\(server.port)/", "--alt-svc", file)
            #expect(run.exit == 35)
            #expect(alternative.record.connections == 1 && server.record.connections == 1)
            #expect(try String(contentsOfFile: file, encoding: .utf8).hasSuffix(line))
        }
    }

    @Test func redirectsAndAddressesAreRestricted() async throws {
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
