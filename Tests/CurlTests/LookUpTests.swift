#if os(Linux)
    import BeagleNetTesting
    import CurlPeers
    import Foundation
    import TestPrograms
    import Testing

    /// The system resolver when it gets no response: runs in a process with a replaced `getaddrinfo`.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: Peer.isInstalled("cc"), "there is no C compiler"))
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

        @Test func timeoutsEndALookUpThatGetsNoResponse() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { _ = try? FileManager.default.removeItem(at: folder) }
            let source = folder.appendingPathComponent("standing.c").path
            try Data(Self.library.utf8).write(to: URL(fileURLWithPath: source))
            let library = "\(folder.path)/standing.so"
            let compiler = try Program("cc", ["-shared", "-fPIC", "-o", library, source])
            try #require(await compiler.ending == .exit(0))

            let errors = try Program.pipe()
            let (ending, output) = try await Program.run(
                Program.probe,
                ["--look-up", Self.host],
                environment: ProcessInfo.processInfo.environment.merging(["LD_PRELOAD": library]) { $1 },
                errors: errors.writer
            )
            #expect(ending == .exit(0))
            try errors.writer.close()
            let said = String(decoding: output, as: UTF8.self)
            let diagnostics = String(decoding: try errors.reader.readToEnd() ?? Data(), as: UTF8.self)
            let limits = ["resolve", "connect", "total"]
            #expect(said.split(separator: "\n").count == limits.count)
            for (line, limit) in zip(said.split(separator: "\n"), limits) {
                #expect(line.hasPrefix("timeout resolve increase Timeouts.\(limit)"), "\(line)")
            }
            #expect(diagnostics == "asked asked asked ")
        }
    }
#endif
