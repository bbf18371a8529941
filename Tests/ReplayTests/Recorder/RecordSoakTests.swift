import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import BeagleNetReplay

/// What takes an idle machine to measure, which `scripts/soak recording` has: elsewhere it is only seen to work.
@Suite(.serialized) struct RecordSoakTests {
    static let isAlone = ProcessInfo.processInfo.environment["BEAGLENET_RECORDING"] != nil
    private static let downloads = isAlone ? 200 : 8

    /// 200 bodies of 10 MB at once: the memory of the process grows by less than 32 MB, whatever the disk does. Of fewer, to
    /// which nothing may get lost, all are whole.
    @Test func memoryStaysFlatWhileLargeBodiesAreRecorded() async throws {
        try await withLogDirectory { path in
            let body = Data((0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
            let server = try LoopbackServer { _ in .response(200, ["Content-Type": "image/png"], body) }
            let dependencies = BeagleDependencies()
            // By default so many connections go to one server.
            let client = NetworkClientDefault(dependencies: dependencies)
            let url = try #require(URL(string: server.url))
            @Sendable func download() async throws -> Int {
                var count = 0
                let stream = try await client.stream(Request(url: url, type: .rawRequest(.init())))
                for try await chunk in stream.body { count += chunk.count }
                return count
            }
            func downloads() async throws {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<Self.downloads { group.addTask { try await download() } }
                    for try await count in group { #expect(count == body.count) }
                }
            }
            // What the downloads themselves take, without a log.
            try await downloads()
            let before = Self.peakBytes
            var options = RequestLog.Options()
            options.maxBytes = 8 << 30
            options.isLossless = !Self.isAlone
            let log = try RequestLog(directory: path, options: options)
            dependencies.requestLog = log
            try await downloads()
            await log.flush()
            let growth = Self.peakBytes - before
            print("\(Self.downloads) downloads of 10 MB recorded: the peak grew by \(growth >> 10) KiB")
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
            #expect(whole >= (Self.isAlone ? 20 : Self.downloads))
            withExtendedLifetime(dependencies) {}
        }
    }

    /// The most memory that the process has had.
    private static var peakBytes: Int {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        return usage.ru_maxrss << 10
    }
}
