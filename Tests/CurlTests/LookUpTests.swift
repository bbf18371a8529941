#if os(Linux)
    import BeagleNetTesting
    import CurlPeers
    import Foundation
    import Testing

    /// The system's resolver, where it gets no answer: in a process whose `getaddrinfo` is another.
    @Suite(.timeLimit(.minutes(1)), .enabled(if: Peer.isInstalled("cc"), "there is no C compiler"))
    struct LookUpTests {
        private static let host = "standing.invalid"

        private static let library = """
            #include <netdb.h>
            #include <string.h>
            #include <unistd.h>
            int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **all) {
                if (host && !strcmp(host, "\(host)") && write(2, "asked ", 6) == 6) for (;;) pause();
                return EAI_FAIL;
            }
            """

        @Test func limitsEndALookUpThatGetsNoAnswer() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { _ = try? FileManager.default.removeItem(at: folder) }
            let source = folder.appendingPathComponent("standing.c").path
            try Data(Self.library.utf8).write(to: URL(fileURLWithPath: source))
            let compiler = Process()
            compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            compiler.arguments = ["cc", "-shared", "-fPIC", "-o", "\(folder.path)/standing.so", source]
            try #require(try await compiler.exitCode() == 0)

            let probe = Process.probe(["--look-up", Self.host])
            probe.environment = ProcessInfo.processInfo.environment.merging(
                ["LD_PRELOAD": "\(folder.path)/standing.so"]
            ) { $1 }
            let (output, errors) = (Pipe(), Pipe())
            (probe.standardOutput, probe.standardError) = (output, errors)
            #expect(try await probe.exitCode() == 0)
            let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let asked = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let limits = ["resolve", "connect", "total"]
            #expect(said.split(separator: "\n").count == limits.count)
            for (line, limit) in zip(said.split(separator: "\n"), limits) {
                #expect(line.hasPrefix("timeout resolve increase Timeouts.\(limit)"), "\(line)")
            }
            #expect(asked == "asked asked asked ")
        }
    }
#endif
