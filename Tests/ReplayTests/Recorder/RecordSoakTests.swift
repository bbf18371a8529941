import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import BeagleNetReplay

/// Measurements that need an idle machine, as in `scripts/soak recording`. Otherwise the tests only check that it
/// works.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RecordSoakTests {
    static let isAlone = ProcessInfo.processInfo.environment["BEAGLENET_RECORDING"] != nil
    private static let downloads = isAlone ? 200 : 8

    /// 200 concurrent bodies of 10 MB: recording them takes less than 32 MB, however slow the disk is. A lossless log
    /// has all bodies completely; another log has as many as there was time for, which needs an idle machine to be
    /// measured.
    @Test(arguments: isAlone ? [true, false] : [true]) func memoryStaysFlatWhileLargeBodiesAreRecorded(isLossless: Bool)
        async throws
    {
        try await withLogDirectory { path in
            let body = Data((0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
            let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(body.count)\r\n\r\n"
            // Raw data: a composed response would be copied for each request.
            let server = try LoopbackServer(.sequence([.raw(head), .raw(body)]))
            let dependencies = BeagleDependencies()
            // The default number of connections per server is sufficient.
            let client = NetworkClientDefault(dependencies: dependencies)
            let request = Request(url: try #require(URL(string: server.url)), type: .rawRequest(.init()))
            func downloads() async throws {
                let crowd = DownloadBarrier(Self.downloads)
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<Self.downloads {
                        group.addTask {
                            var count = 0
                            for try await chunk in try await client.stream(request).body {
                                // Every download buffers as much as possible, with and without a log.
                                if Self.isAlone, count == 0 { await crowd.gather() }
                                count += chunk.count
                            }
                            return count
                        }
                    }
                    for try await count in group { #expect(count == body.count) }
                }
            }
            // The memory of the downloads themselves varies between runs.
            var without = 0
            for _ in 0..<(Self.isAlone ? 3 : 1) { without = max(without, try await Self.peakBytes(of: downloads)) }
            var options = RequestLog.Options()
            options.maxBytes = 8 << 30
            options.isLossless = isLossless
            let log = try RequestLog(directory: path, options: options)
            dependencies.requestLog = log
            let began = ContinuousClock.now
            let growth =
                try await Self.peakBytes {
                    try await downloads()
                    await log.flush()
                } - without
            let time = began.duration(to: .now)
            print(
                "\(Self.downloads) downloads of 10 MB: \(without >> 20) MiB, recorded \(growth >> 10) KiB more, in \(time)"
            )
            if Self.isAlone { #expect(growth < 32 << 20) }
            let entries = try RequestLog.Reader(directory: path).entries()
            #expect(entries.count == Self.downloads)
            var whole = 0
            for entry in entries {
                guard let logged = entry.response?.body, !logged.isTruncated else { continue }
                guard case .file(let name) = logged.content else {
                    #expect(logged.content == .omitted("not written"))
                    continue
                }
                let size = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.size] as? Int
                #expect(size == body.count)
                whole += 1
            }
            print("\(whole) of \(Self.downloads) bodies are whole")
            #expect(isLossless ? whole == Self.downloads : whole > 0)
            withExtendedLifetime(dependencies) {}
        }
    }

    /// A barrier for all downloads, with a delay after the last one arrives.
    private actor DownloadBarrier {
        private var missing: Int
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(_ count: Int) {
            missing = count
        }

        func gather() async {
            missing -= 1
            guard missing == 0 else { return await withCheckedContinuation { waiting.append($0) } }
            // Time for the unread data to fill all buffers.
            do { try await Task.sleep(for: .seconds(1)) } catch {}
            for continuation in waiting { continuation.resume() }
        }
    }

    /// The peak memory of the process while `body` runs; 0 if the system does not report it.
    private static func peakBytes(of body: () async throws -> Void) async throws -> Int {
        guard isAlone else {
            try await body()
            return 0
        }
        #if os(Linux)
            // Resets the peak (proc(5)).
            try FileHandle(forWritingTo: URL(filePath: "/proc/self/clear_refs")).write(contentsOf: Data("5".utf8))
            try await body()
            let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(Int(line.filter(\.isNumber))) << 10
        #else
            try await body()
            return 0
        #endif
    }
}
