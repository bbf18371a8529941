#if os(Linux)
    import BeagleNetHTTP
    import BeagleNetTesting
    import Foundation
    import Testing

    /// Bodies from and to files are streamed in pieces, regardless of their size.
    @Suite(.serialized, .timeLimit(.minutes(5))) struct BodyMemoryTests {
        private static let sizes = (small: 1 << 20, large: 128 << 20)
        private static let most = 16 << 20

        @Test(arguments: [false, true]) func sentFileIsNotHeldInMemory(_ isForm: Bool) async throws {
            try await withDirectory { directory in
                func peak(_ size: Int) async throws -> Int {
                    let path = "\(directory)/\(size)"
                    #expect(FileManager.default.createFile(atPath: path, contents: nil))
                    try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: UInt64(size))
                    let server = try LoopbackServer(readsBodies: false) { _ in .stall }
                    let arguments =
                        isForm ? ["submit", server.url, "-F", "file=@\(path)"] : ["raw", server.url, "-T", path]
                    let process = try BeagleProcess(arguments)
                    #expect(await server.until { $0.bytesReceived > size })
                    defer { process.kill() }
                    return try process.peakMemory
                }
                let (small, large) = (try await peak(Self.sizes.small), try await peak(Self.sizes.large))
                #expect(large - small < Self.most, "\(small >> 10) KiB, then \(large >> 10)")
            }
        }

        @Test(arguments: [[], ["-C", "-"]]) func receivedFileIsNotHeldInMemory(_ arguments: [String]) async throws {
            try await withDirectory { directory in
                func peak(_ size: Int) async throws -> Int {
                    let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(size + 1)\r\n\r\n"
                    let piece = LoopbackServer.Response.raw(Data(count: 1 << 20))
                    let pieces = Array(repeating: piece, count: size >> 20)
                    let server = try LoopbackServer(.sequence([.raw(head)] + pieces + [.stall]))
                    let process = try BeagleProcess(["raw", server.url, "-o", "\(directory)/\(size)"] + arguments)
                    #expect(await server.until { $0.bytesSent > size })
                    defer { process.kill() }
                    return try process.peakMemory
                }
                let (small, large) = (try await peak(Self.sizes.small), try await peak(Self.sizes.large))
                #expect(large - small < Self.most, "\(small >> 10) KiB, then \(large >> 10)")
            }
        }
    }

    extension BeagleProcess {
        /// The peak memory of the process so far, in bytes.
        var peakMemory: Int {
            get throws {
                let status = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
                let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
                return try #require(Int(line.filter(\.isNumber))) << 10
            }
        }
    }
#endif
