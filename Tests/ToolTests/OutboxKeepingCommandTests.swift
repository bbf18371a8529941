import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct OutboxKeepingCommandTests {
    private func entries(_ outbox: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: outbox).filter { $0.hasSuffix(".entry") }.sorted()
    }

    /// With a limit on the size of files, the system refuses writes as with a full disk.
    private func onFullDisk(_ arguments: String...) async throws -> BeagleProcess.Outcome {
        let tool = BeagleProcess.executable("beagle").path
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\""
        return try await BeagleProcess(["-c", script, "sh", tool] + arguments, program: "/bin/sh").outcome()
    }

    @Test func aFullDiskDoesNotPreventSending() async throws {
        try await withDirectory { directory in
            let status = Lock(503)
            let server = try LoopbackServer { request in
                .response(request.target == "/2" && status.withLock { $0 } == 200 ? 422 : status.withLock { $0 })
            }
            for number in 1...3 {
                _ = try await beagle("submit", "\(server.url)/\(number)", "a=1", "--outbox", directory)
            }
            status.withLock { $0 = 200 }
            let flush = try await onFullDisk("outbox", "flush", directory)
            #expect(flush.exit == 22, "\(flush.errors)")
            #expect(flush.lines == [1, 3].map { "200 POST \(server.url)/\($0)" })
            #expect(try entries(directory) == [])
        }
    }

    @Test func refusedFormsAreReportedAndCanBeRetriedOrRemoved() async throws {
        try await withDirectory { directory in
            let status = Lock(503)
            let server = try LoopbackServer { request in
                .response(request.target == "/9" ? 200 : status.withLock { $0 })
            }
            for number in 1...2 {
                _ = try await beagle("submit", "\(server.url)/\(number)", "a=1", "--outbox", directory)
            }
            status.withLock { $0 = 422 }
            let submit = try await beagle("submit", "\(server.url)/9", "a=1", "--outbox", directory)
            #expect(submit.exit == 0)
            #expect(submit.errors.contains("POST \(server.url)/1 (refused: 422)"), "\(submit.errors)")
            let ids = try await beagle("outbox", "list", directory, "--json").json()["result"]?.array?
                .compactMap { $0["id"]?.string }
            let (first, second) = (try #require(ids?.first), try #require(ids?.last))

            let one = try await beagle("outbox", "retry", directory, second)
            #expect(one.lines == ["\(second)  POST \(server.url)/2"])
            #expect(try await beagle("outbox", "retry", directory, second).exit == 26)
            #expect(try await beagle("outbox", "retry", directory).lines == ["\(first)  POST \(server.url)/1"])
            #expect(try entries(directory).map { $0.contains(second) } == [true, false])
            #expect(
                try await beagle("outbox", "remove", directory, second, "--json").json()["result"]?[0]?.string == second
            )
            #expect(try await beagle("outbox", "remove", directory, second).exit == 26)
            status.withLock { $0 = 200 }
            #expect(try await beagle("outbox", "flush", directory).lines == ["200 POST \(server.url)/1"])
        }
    }

    @Test func listShowsDamagedEntriesAndKeepsThem() async throws {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(503))
            for number in 1...2 {
                _ = try await beagle("submit", "\(server.url)/\(number)", "a=1", "--outbox", directory)
            }
            let names = try entries(directory)
            let path = "\(directory)/\(names[0])"
            try Data("x".utf8).write(to: URL(fileURLWithPath: path))
            let list = try await beagle("outbox", "list", directory)
            #expect(list.exit == 0)
            #expect(list.lines.count == 2)
            #expect(list.lines.last?.hasPrefix("damaged  the outbox entry \(path) is damaged") == true)
            #expect(try entries(directory) == names)
            let submit = try await beagle("submit", "\(server.url)/3", "a=1", "--outbox", directory)
            #expect(submit.errors.contains("\(path) is damaged"), "\(submit.errors)")
            let after = try await beagle("outbox", "list", directory, "--json").json()
            #expect(after["result"]?.array?.last?["state"] == "damaged")
        }
    }

    @Test func refusedFormForAnotherServerDoesNotBlockCredentials() async throws {
        try await withDirectory { directory in
            let status = Lock(503)
            let server = try LoopbackServer { _ in .response(status.withLock { $0 }) }
            let other = server.url.replacingOccurrences(of: "127.0.0.1", with: "localhost")
            _ = try await beagle("submit", other, "a=1", "--outbox", directory)
            status.withLock { $0 = 422 }
            #expect(try await beagle("outbox", "flush", directory).exit == 22)
            status.withLock { $0 = 503 }
            _ = try await beagle("submit", server.url, "a=1", "--outbox", directory)
            status.withLock { $0 = 200 }
            let flush = try await beagle("outbox", "flush", directory, "-H", "X-Api-Key: k3y")
            #expect(flush.exit == 0, "\(flush.errors)")
            #expect(server.requests.last?.values(of: "X-Api-Key") == ["k3y"])
        }
    }
}
