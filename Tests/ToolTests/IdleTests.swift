#if os(Linux)
    import BeagleNetHTTP
    import BeagleNetTesting
    import CurlPeers
    import Foundation
    import Testing

    @testable import beagle

    /// A process that waits for a silent server uses no CPU time: its event loop threads don't run at all.
    @Suite(.timeLimit(.minutes(5))) struct IdleTests {
        @Test func silentEventStreamUsesNoCPUTime() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            let server = try LoopbackServer(.sequence([.raw("\(head)data: a\n\n"), .stall]))
            let process = try BeagleProcess(["listen", server.url])
            defer { process.kill() }
            #expect(await process.line() == "a")
            try await expectIdle(process)
        }

        @Test(.enabled(if: WebSocketPeer.isAvailable, "websockets is not installed: scripts/setup.sh --peers"))
        func silentWebSocketUsesNoCPUTime() async throws {
            let peer = try WebSocketPeer.shared.get()
            let arguments = [
                "ws", peer.request(.secure, "/echo").head.urlText, "--cacert", Peer.path("Certificates/ca.pem"),
            ]
            let process = try BeagleProcess(arguments, input: "a\n", keepsInputOpen: true)
            defer { process.kill() }
            #expect(await process.line() == "a")
            try await expectIdle(process)
        }

        /// The number of context switches of each event loop thread, which increases each time it runs.
        private func runs(of process: BeagleProcess) throws -> [String: Int] {
            let tasks = "/proc/\(process.identifier)/task"
            var runs: [String: Int] = [:]
            for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
                // Another thread may end in the meantime.
                guard let name = try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8),
                    name == "beaglenet-curl\n"
                else { continue }
                let status = try String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
                let lines = status.split(separator: "\n").filter { $0.contains("_ctxt_switches:") }
                runs[task] = lines.reduce(0) { sum, line in
                    sum + (line.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
                }
            }
            try #require(!runs.isEmpty && runs.values.allSatisfy { $0 > 0 })
            return runs
        }

        private func expectIdle(_ process: BeagleProcess) async throws {
            // Time to finish the work of the last response.
            try await Task.sleep(for: .milliseconds(500))
            let before = try runs(of: process)
            try await Task.sleep(for: .seconds(2))
            #expect(try runs(of: process) == before)
        }
    }
#endif
