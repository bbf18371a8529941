import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct OutboxCommandTests {
    /// A port on which no server listens.
    private func closedPort() throws -> UInt16 {
        let server = try LoopbackServer(.response(200))
        defer { server.stop() }
        return server.port
    }

    private func entries(_ outbox: String) -> [String] {
        // A missing directory has no entries.
        ((try? FileManager.default.contentsOfDirectory(atPath: outbox)) ?? []).filter { $0.hasSuffix(".entry") }
            .sorted()
    }

    @Test func entriesAreEncryptedWithAKey() async throws {
        try await withDirectory { directory in
            let (outbox, isDown) = ("\(directory)/forms", Lock(true))
            let server = try LoopbackServer { _ in isDown.withLock { $0 } ? .close : .response(201) }
            let keys = ["hex": Data(String(repeating: "a7", count: 32).utf8), "other": Data(repeating: 1, count: 32)]
            for (name, key) in keys { try key.write(to: URL(fileURLWithPath: "\(directory)/\(name)")) }
            let form = ["submit", "\(server.url)/signup", "name=Ana", "--outbox", outbox]
            #expect(try await beagle(form + ["--outbox-key", "\(directory)/hex"]).exit == 105)
            for name in entries(outbox) {
                let bytes = try #require(FileManager.default.contents(atPath: "\(outbox)/\(name)"))
                #expect(bytes.range(of: Data("Ana".utf8)) == nil)
            }
            isDown.withLock { $0 = false }
            for key in [[], ["--outbox-key", "\(directory)/other"]] {
                let flush = try await beagle(["outbox", "flush", outbox] + key)
                #expect(flush.exit == 4)
                #expect(flush.errors.contains("is encrypted, but the outbox has"), "\(flush.errors)")
            }
            let flush = try await beagle("outbox", "flush", outbox, "--outbox-key", "\(directory)/hex")
            #expect(flush.exit == 0, "\(flush.errors)")
            #expect(server.requests.last.map { String(decoding: $0.body, as: UTF8.self) } == #"{"name":"Ana"}"#)
            let missing = try await beagle("outbox", "list", outbox, "--outbox-key", "\(directory)/none")
            #expect(missing.exit == 26)
            let noOutbox = try await beagle("submit", "\(server.url)/", "a=1", "--outbox-key", "\(directory)/hex")
            #expect(noOutbox.exit == 64)
        }
    }

    @Test func formWithASecretIsStoredOnlyIfAllowed() async throws {
        try await withDirectory { directory in
            let outbox = "\(directory)/forms"
            let form = ["submit", "http://127.0.0.1:\(try closedPort())/in", "password=s3cret", "--outbox", outbox]
            let sent = try await beagle(form)
            #expect(sent.exit == 7)
            let reason = #"the outbox did not keep the request: its field "password" is secret"#
            #expect(sent.errors.contains(reason), "\(sent.errors)")
            #expect(entries(outbox) == [])
            #expect(try await beagle(form + ["--outbox-secrets"]).exit == 105)
            #expect(entries(outbox).count == 1)
        }
    }

    @Test func formsKeptWhileTheServerIsDownAreSentInOrder() async throws {
        try await withDirectory { directory in
            let outbox = "\(directory)/forms"
            let isDown = Lock(true)
            let server = try LoopbackServer { _ in isDown.withLock { $0 } ? .close : .response(201) }
            for name in ["Ana", "Eve", "Ida"] {
                let url = "\(server.url)/signup?n=\(name)"
                let run = try await beagle("submit", url, "name=\(name)", "--outbox", outbox)
                #expect(run.exit == 105)
                #expect(run.output.isEmpty)
                #expect(run.errors.contains("kept in the outbox"), "\(run.errors)")
            }
            #expect(entries(outbox).count == 3)
            let list = try await beagle("outbox", "list", outbox)
            #expect(list.lines.count == 3)
            #expect(
                list.lines.allSatisfy { $0.hasPrefix("waiting  20") && $0.hasSuffix("POST \(server.url)/signup?…") }
            )

            let tried = try await beagle("outbox", "flush", outbox)
            #expect(tried.exit == 105)
            #expect(tried.errors.contains("3 forms are still in the outbox"))
            isDown.withLock { $0 = false }
            let before = server.requests.count
            let flush = try await beagle("outbox", "flush", outbox)
            #expect(flush.exit == 0, "\(flush.errors)")
            #expect(flush.lines == Array(repeating: "201 POST \(server.url)/signup?…", count: 3))
            let sent = server.requests.dropFirst(before)
            #expect(sent.map(\.target) == ["Ana", "Eve", "Ida"].map { "/signup?n=\($0)" })
            #expect(
                sent.map { String(decoding: $0.body, as: UTF8.self) }
                    == ["Ana", "Eve", "Ida"].map { #"{"name":"\#($0)"}"# }
            )
            // With the keys of the first attempts.
            #expect(Set(server.requests.flatMap { $0.values(of: "Idempotency-Key") }).count == 3)
            #expect(entries(outbox) == [])
            #expect(try await beagle("outbox", "flush", outbox).exit == 0)
        }
    }

    @Test func reachableServerIsUsedDirectly() async throws {
        try await withDirectory { directory in
            try await withBackend { url in
                let good = try await beagle("submit", "\(url)/signup", "name=A", "email=a@b.c", "--outbox", directory)
                #expect(good.exit == 0)
                #expect(good.text == "{\"id\":7}\n")
                let bad = try await beagle("submit", "\(url)/signup", "name=A", "email=x", "--outbox", directory)
                #expect(bad.exit == 22)
                #expect(bad.errors.contains("must be an address"))
                #expect(entries(directory) == [])
            }
        }
    }

    @Test func lostResponseIsRetriedWithoutExecutingTwice() async throws {
        try await withDirectory { directory in
            try await withBackend { url in
                let form = ["\(url)/signup?answer=lost", "name=Ana", "email=a@b.c"]
                let run = try await beagle(["submit"] + form + ["--outbox", directory])
                #expect(run.exit == 105)
                let flush = try await beagle("outbox", "flush", directory)
                #expect(flush.exit == 0)
                #expect(flush.text.hasPrefix("201 POST "))
                let next = try await beagle("submit", "\(url)/signup", "name=Eve", "email=e@b.c")
                #expect(next.text == "{\"id\":8}\n")
            }
        }
    }

    @Test func nextFormSendsEarlierEntriesFirst() async throws {
        try await withDirectory { directory in
            let isDown = Lock(true)
            let server = try LoopbackServer { _ in isDown.withLock { $0 } ? .response(503) : .response(200, [:], "ok") }
            let header = "X-Api-Key: k3y"
            let first = try await beagle("submit", "\(server.url)/1", "a=1", "--outbox", directory, "-H", header)
            #expect(first.exit == 105)
            let files = entries(directory).compactMap { FileManager.default.contents(atPath: "\(directory)/\($0)") }
            #expect(files.allSatisfy { !String(decoding: $0, as: UTF8.self).contains("k3y") })
            isDown.withLock { $0 = false }
            let second = try await beagle("submit", "\(server.url)/2", "a=2", "--outbox", directory, "-H", header)
            #expect(second.text == "ok")
            #expect(server.requests.map(\.target) == ["/1", "/1", "/2"])
            #expect(server.requests.allSatisfy { $0.values(of: "X-Api-Key") == ["k3y"] })
        }
    }

    @Test func redirectToASignInPageIsNotADelivery() async throws {
        try await withDirectory { directory in
            let answer = Lock(LoopbackServer.Response.close)
            let server = try LoopbackServer { request in
                request.method == "GET" ? .response(200, [:], "Sign in") : answer.withLock { $0 }
            }
            #expect(try await beagle("submit", "\(server.url)/order", "a=1", "--outbox", directory).exit == 105)
            answer.withLock { $0 = .response(302, ["Location": "/sign-in"]) }
            let flush = try await beagle("outbox", "flush", directory)
            #expect(flush.exit == 22)
            #expect(flush.errors.contains("POST \(server.url)/order (refused: redirected)"), "\(flush.errors)")
            let list = try await beagle("outbox", "list", directory)
            #expect(list.text.hasPrefix("refused redirected  "))
            answer.withLock { $0 = .response(303, ["Location": "/thanks"]) }
            #expect(try await beagle("outbox", "retry", directory).exit == 0)
            #expect(try await beagle("outbox", "flush", directory).lines == ["200 POST \(server.url)/order"])
        }
    }

    @Test func credentialsAreRejectedForSeveralServers() async throws {
        try await withDirectory { directory in
            let urls = try ["http://127.0.0.1:\(closedPort())", "http://localhost:\(closedPort())"]
            for url in urls { _ = try await beagle("submit", url, "a=1", "--outbox", directory) }
            for flags in [["-H", "Authorization: k3y"], ["--user", "ana:k3y"], ["--cookie", "a=k3y"]] {
                let run = try await beagle(["outbox", "flush", directory] + flags)
                #expect(run.exit == 64)
                #expect(run.errors.contains("forms for 2 servers") && !run.errors.contains("k3y"))
            }
            #expect(try await beagle("outbox", "flush", directory, "-H", "X-Trace: 1").exit == 105)
        }
    }

    @Test func refusedFormIsShownAndNotSentAgain() async throws {
        try await withDirectory { directory in
            let status = Lock(503)
            let server = try LoopbackServer { _ in .response(status.withLock { $0 }) }
            _ = try await beagle("submit", server.url, "a=1", "--outbox", directory)
            status.withLock { $0 = 422 }
            let flush = try await beagle("outbox", "flush", directory, "--json")
            #expect(flush.exit == 22)
            #expect(try flush.json()["error"]?["refused"]?[0]?["state"] == "refused 422")
            #expect(try await beagle("outbox", "flush", directory).exit == 0)
            let list = try await beagle("outbox", "list", directory, "--json")
            #expect(try list.json()["result"]?[0]?["state"] == "refused 422")
            #expect(server.requests.count == 2)
        }
    }

    @Test func truncatedEntryIsReportedAndTheOthersAreSent() async throws {
        try await withDirectory { directory in
            let isDown = Lock(true)
            let server = try LoopbackServer { _ in isDown.withLock { $0 } ? .close : .response(200) }
            for number in 1...2 {
                _ = try await beagle("submit", "\(server.url)/\(number)", "a=1", "--outbox", directory)
            }
            let path = "\(directory)/\(entries(directory)[0])"
            try FileManager.default.contents(atPath: path)?.dropLast(3).write(to: URL(fileURLWithPath: path))
            isDown.withLock { $0 = false }
            let flush = try await beagle("outbox", "flush", directory)
            #expect(flush.exit == 101)
            #expect(flush.lines == ["200 POST \(server.url)/2"])
            #expect(flush.errors.contains("\(path) is damaged") && flush.errors.contains("\(directory)/damaged/"))
        }
    }

    /// With a limit on the size of files, the system refuses writes as with a full disk.
    @Test func aFullDiskFailsBeforeAnythingIsSent() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(200))
            let tool = BeagleProcess.executable("beagle").path
            let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\""
            let run = try await BeagleProcess(
                ["-c", script, "sh", tool, "submit", server.url, "a=s3cret", "--outbox", "\(directory)/forms"],
                program: "/bin/sh"
            ).outcome()
            #expect(run.exit == 23)
            #expect(run.errors.contains("cannot write \(directory)/forms/"), "\(run.errors)")
            #expect(!run.errors.contains("s3cret"))
            #expect(server.record.connections == 0)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: "\(directory)/forms").allSatisfy {
                    ["damaged", "refused", "send.lock"].contains($0)
                }
            )
        }
    }

    @Test func invalidArgumentsAreRejected() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(200))
            #expect(try await beagle("submit", server.url, "a=1", "--outbox", "").exit == 64)
            #expect(try await beagle("submit", server.url, "a=1", "-X", "get", "--outbox", directory).exit == 64)
            #expect(try await beagle("outbox", "flush", directory, "-o", "x").exit == 64)
            for command in ["flush", "list"] {
                let run = try await beagle("outbox", command, "\(directory)/none")
                #expect(run.exit == 26)
                #expect(run.errors.contains("there is no outbox"))
                #expect(!FileManager.default.fileExists(atPath: "\(directory)/none"))
            }
            #expect(server.record.connections == 0)
        }
    }

    @Test func interruptedFlushKeepsItsEntry() async throws {
        try await withDirectory { directory in
            let isDown = Lock(true)
            let server = try LoopbackServer { _ in isDown.withLock { $0 } ? .response(503) : .stall }
            _ = try await beagle("submit", server.url, "a=1", "--outbox", directory)
            isDown.withLock { $0 = false }
            let flush = try BeagleProcess(["outbox", "flush", directory])
            await server.until { $0.requests.count == 2 }
            flush.interrupt()
            #expect(await flush.outcome().exit == 130)
            #expect(entries(directory).count == 1)
        }
    }
}
