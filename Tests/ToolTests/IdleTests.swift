#if os(Linux)
    import BeagleNetHTTP
    import BeagleNetTesting
    import CurlPeers
    import Foundation
    import Testing

    @testable import beagle

    /// Who waits for a server that says nothing takes no time of the processor: the threads of its loops are not run at all.
    @Suite(.timeLimit(.minutes(1))) struct IdleTests {
        @Test func aSilentEventStreamCostsNothing() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            let server = try LoopbackServer(.sequence([.raw("\(head)data: a\n\n"), .stall]))
            let process = try BeagleProcess(["listen", server.url])
            defer { process.kill() }
            #expect(await process.line() == "a")
            try await expectIdle(process)
        }

        @Test(.enabled(if: WebSocketPeer.isAvailable, "websockets is not installed: scripts/setup.sh --peers"))
        func aSilentWebSocketCostsNothing() async throws {
            let peer = try WebSocketPeer.shared.get()
            let arguments = [
                "ws", peer.request(.secure, "/echo").head.urlText, "--cacert", Peer.path("Certificates/ca.pem"),
            ]
            let process = try BeagleProcess(arguments, input: "a\n", keepsInputOpen: true)
            defer { process.kill() }
            #expect(await process.line() == "a")
            try await expectIdle(process)
        }

        /// How often the threads of a process's loops were taken off a processor: each time they have run and sleep again.
        private func runs(of process: BeagleProcess) throws -> Int {
            let tasks = "/proc/\(process.identifier)/task"
            let loops = try FileManager.default.contentsOfDirectory(atPath: tasks)
                .map { "\(tasks)/\($0)" }
                .filter { try String(contentsOfFile: "\($0)/comm", encoding: .utf8) == "beaglenet-curl\n" }
            try #require(!loops.isEmpty)
            return try loops.reduce(into: 0) { sum, task in
                for line in try String(contentsOfFile: "\(task)/status", encoding: .utf8).split(separator: "\n")
                where line.contains("_ctxt_switches:") {
                    sum += Int(line.split(separator: "\t").last ?? "") ?? 0
                }
            }
        }

        private func expectIdle(_ process: BeagleProcess) async throws {
            // What the last answer left to be done.
            try await Task.sleep(for: .milliseconds(500))
            let before = try runs(of: process)
            try await Task.sleep(for: .seconds(2))
            #expect(try runs(of: process) == before)
        }
    }
#endif
