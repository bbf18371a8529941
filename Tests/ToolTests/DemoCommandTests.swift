import BeagleNetHTTP
import BeagleNetReplay
import Foundation
import Testing

@testable import beagle

struct DemoCommandTests {
    @Test func demoRunsToItsEnd() async throws {
        let run = try await beagle("demo", "--cancels", "100")
        #expect(run.exit == 0)
        #expect(run.errors.isEmpty)
        let steps = run.lines.map { $0.split(separator: " ")[1] }
        #expect(steps == ["backend", "fetch", "image", "submit", "submit", "raw", "replay", "swap", "cancel"])
        #expect(run.lines.last?.contains("100 completions") == true)
    }

    @Test func demoIsRecordedIfRequested() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).bglog").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let run = try await beagle("demo", "--cancels", "10", "--record", path)
        #expect(run.exit == 0)
        let entries = Array(try RequestLog.Reader(directory: path).entries())
        #expect(entries.prefix(5).map(\.kind) == ["component", "image", "form", "form", "raw"])
        // The screen after the swap.
        #expect(entries.count > 5 && entries[5].kind == "component")
        for entry in entries.prefix(2) {
            let again = try await beagle("raw", entry.request.url, "--replay", path)
            #expect(again.exit == 0)
            #expect(again.output == (try Recording(contentsOf: path).data(of: #require(entry.response).body)))
        }
    }

    @Test func interruptEndsTheDemo() async throws {
        let process = try BeagleProcess(["demo", "--cancels", "10000000"])
        while case let line = await process.line(), !line.contains("swap") {
            try #require(!line.isEmpty)
        }
        process.interrupt()
        #expect(await process.outcome().exit == 130)
    }

    @Test func jsonListsTheSteps() async throws {
        let run = try await beagle("demo", "--cancels", "1", "--json")
        #expect(run.exit == 0)
        #expect(try run.json()["result"]?["steps"]?.array?.count == 9)
    }
}
