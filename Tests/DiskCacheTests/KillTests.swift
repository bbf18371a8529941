import BeagleNetCache
import BeagleNetHTTP
import DiskCacheProbe
import Foundation
import TestPrograms
import Testing

@testable import BeagleNetDiskCache

/// `BEAGLENET_KILLS` sets the number of rounds, such as 300 for a long run.
@Suite(.timeLimit(.minutes(60))) struct KillTests {
    private static let kills = ProcessInfo.processInfo.environment["BEAGLENET_KILLS"].flatMap { Int($0) } ?? 10

    /// The probe lies beside the test bundle.
    private var probe: String {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        let folder = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
        return folder.appending(path: "DiskCacheProbe").path
    }

    /// Starts a probe and kills it after some lines of output.
    private func run(_ folder: String) async throws -> (lines: [Substring], ending: Program.Ending) {
        let (reader, writer) = try Program.pipe()
        let program = try Program(probe, [folder, "\(UInt64.random(in: 0...UInt64(Int64.max)))"], output: writer)
        try writer.close()
        let most = Int.random(in: 0..<200)
        let output = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var (output, isKilled) = (Data(), false)
                while case let bytes = reader.availableData, !bytes.isEmpty {
                    output += bytes
                    if !isKilled, output.count(where: { $0 == 0x0A }) >= most {
                        program.send(SIGKILL)
                        isKilled = true
                    }
                }
                continuation.resume(returning: output)
            }
        }
        return (String(decoding: output, as: UTF8.self).split(separator: "\n"), await program.ending)
    }

    @Test func killedWritersLeaveOnlyRightResponses() async throws {
        let folder = StoreFolder()
        var (changes, served) = (0, 0)
        for _ in 0..<Self.kills {
            async let one = run(folder.path)
            async let two = run(folder.path)
            for (lines, ending) in [try await one, try await two] {
                #expect(ending == .signal(SIGKILL))
                #expect(!lines.contains { $0.hasPrefix("problem") }, "\(lines.suffix(2))")
                changes += lines.count
            }
            let store = try folder.open(maxBytes: ProbeResponse.maxBytes)
            for number in 0..<ProbeResponse.count {
                let response = ProbeResponse(number)
                let stored = await store.responses(for: response.key)
                #expect(stored.allSatisfy(response.isRight))
                served += stored.count
            }
            let statistics = store.statistics()
            #expect(statistics.bytes <= ProbeResponse.maxBytes)
            #expect(await store.verify() == .init(checked: statistics.count, removed: 0))
            #expect(folder.problems == [])
        }
        print("disk store killed \(2 * Self.kills) times: \(changes) changes, \(served) responses served")
        #expect(served > 0)
        let unused = try folder.names.count
        _ = try folder.open(maxBytes: ProbeResponse.maxBytes, unusedFileAge: -1)
        #expect(try folder.names.allSatisfy { !$0.hasSuffix(".part") })
        let store = try folder.open(maxBytes: ProbeResponse.maxBytes)
        #expect(try folder.bodies.count == store.statistics().files, "\(unused) files before")
    }
}
