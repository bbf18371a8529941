import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import BeagleNetReplay

/// What takes an idle machine to measure, which `scripts/soak recording` has: elsewhere it is only seen to work.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RecordSoakTests {
    static let isAlone = ProcessInfo.processInfo.environment["BEAGLENET_RECORDING"] != nil
    private static let downloads = isAlone ? 200 : 8

    /// 200 bodies of 10 MB at once: recording them takes less than 32 MB, whatever the disk does. Where nothing may get lost
    /// all are whole; else what there was time for, which has to be seen alone.
    @Test(arguments: isAlone ? [true, false] : [true]) func memoryStaysFlatWhileLargeBodiesAreRecorded(isLossless: Bool)
        async throws
    {
        try await withLogDirectory { path in
            let body = Data((0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
            let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(body.count)\r\n\r\n"
            // As it is: an answer that is put together would be a copy for each.
            let server = try LoopbackServer(.sequence([.raw(head), .raw(body)]))
            let dependencies = BeagleDependencies()
            // By default so many connections go to one server.
            let client = NetworkClientDefault(dependencies: dependencies)
            let request = Request(url: try #require(URL(string: server.url)), type: .rawRequest(.init()))
            func downloads() async throws {
                let crowd = Crowd(Self.downloads)
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<Self.downloads {
                        group.addTask {
                            var count = 0
                            for try await chunk in try await client.stream(request).body {
                                // All of them hold as much as they can, with a log as without.
                                if Self.isAlone, count == 0 { await crowd.gather() }
                                count += chunk.count
                            }
                            return count
                        }
                    }
                    for try await count in group { #expect(count == body.count) }
                }
            }
            // What the downloads themselves take: not the same each time.
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
            let entries = try LogReader(directory: path).entries()
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

    /// Those who wait for each other, and then some time longer.
    private actor Crowd {
        private var missing: Int
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(_ count: Int) {
            missing = count
        }

        func gather() async {
            missing -= 1
            guard missing == 0 else { return await withCheckedContinuation { waiting.append($0) } }
            // In which what nobody reads comes as far as it can.
            do { try await Task.sleep(for: .seconds(1)) } catch {}
            for continuation in waiting { continuation.resume() }
        }
    }

    /// The most memory that the process has while a body runs; 0 where the system does not tell.
    private static func peakBytes(of body: () async throws -> Void) async throws -> Int {
        guard isAlone else {
            try await body()
            return 0
        }
        #if os(Linux)
            // Forgets the peak of before (proc(5)).
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
