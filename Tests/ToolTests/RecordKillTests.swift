import BeagleNetHTTP
import BeagleNetReplay
import Foundation
import Testing

extension KillTests {
    /// How many processes write at once.
    private static let writers = 4

    @Test func whatALogHasAcknowledgedIsThereAndWhatWasUnderWayIsListed() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            var (started, ended): (Set<Int>, Set<Int>) = ([], [])
            var kills = 0
            while kills < Self.kills * Self.writers {
                let processes = try (0..<Self.writers).map { writer in
                    // Numbers of its own for each process.
                    try BeagleProcess(["write", path, "\((kills + writer) * 1_000_000)"], program: "RecordProbe")
                }
                for process in processes { _ = await process.line() }
                for process in processes.shuffled() {
                    try await Task.sleep(for: .microseconds(.random(in: 0..<10_000)))
                    process.kill()
                }
                for process in processes {
                    let outcome = await process.outcome()
                    #expect(outcome.exit == -1, "\(outcome.errors)")
                    for line in outcome.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                        let words = line.split(separator: " ")
                        guard words.count == 2, let number = Int(words[1]) else { continue }
                        switch words[0] {
                        case "start": started.insert(number)
                        case "end": ended.insert(number)
                        default: break
                        }
                    }
                }
                kills += Self.writers
            }
            let entries = try LogReader(directory: path).entries()
            var (whole, interrupted): (Set<Int>, Set<Int>) = ([], [])
            for entry in entries {
                let number = try #require(Int(entry.request.url.split(separator: "/").last ?? ""))
                if entry.isInterrupted { interrupted.insert(number) } else { whole.insert(number) }
                if !entry.isInterrupted, number % 3 == 0 {
                    guard case .file(let name)? = entry.response?.body.content else {
                        Issue.record("\(number) has no body: \(String(describing: entry.response?.body.content))")
                        continue
                    }
                    let size = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.size] as? Int
                    #expect(size == 40_000)
                }
            }
            #expect(ended.subtracting(whole) == [], "acknowledged, and not there")
            #expect(started.subtracting(whole).subtracting(interrupted) == [], "under way, and not listed")
            #expect(entries.skipped <= kills, "more than one record lost for a kill")
            print(
                "log killed \(kills) times: \(ended.count) acknowledged, \(whole.count) whole,",
                "\(interrupted.count) interrupted, \(entries.skipped) records torn"
            )
        }
    }
}

@Suite struct RecordFaultTests {
    @Test func aDiskThatIsFullFailsNoRequestAndIsToldOnce() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            let run = try await BeagleProcess(["limit", path], program: "RecordProbe").outcome()
            #expect(run.exit == 0, "\(run.text)")
            #expect(run.lines == ["warned 1"])
            let read = try LogReader(directory: path).entries()
            #expect(read.warnings.contains { $0.reason.hasSuffix("there was no room for them") }, "\(read.warnings)")
            let entries = Array(read)
            #expect(entries.count > 1 && entries.count < 201)
            #expect(entries.last?.request.url == "http://a.example/last")
            let text = try String(contentsOfFile: "\(path)/000001.jsonl", encoding: .utf8)
            #expect(text.contains("\"lostRecords\":"))
        }
    }

    @Test func aChildAndItsParentWriteIntoOneLog() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            let run = try await BeagleProcess(["fork", path], program: "RecordProbe").outcome()
            #expect(run.exit == 0, "\(run.text) \(run.errors)")
            let entries = try LogReader(directory: path).entries()
            #expect(entries.warnings == [])
            #expect(entries.map { $0.request.url.split(separator: "/").last } == ["parent", "child", "again"])
            #expect(Set(entries.map { $0.id.prefix(36) }).count == 2)
        }
    }

    @Test func aPlaceWhereNothingCanBeMadeIsAnErrorThatSaysWhatToDo() throws {
        let error = #expect(throws: NetworkError.self) { try RequestLog(directory: "/proc/a.bglog") }
        #expect(error?.kind == .file)
        #expect(error?.advice?.contains("may write") == true)
    }
}
