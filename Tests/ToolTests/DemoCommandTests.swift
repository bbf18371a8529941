import BeagleNetHTTP
import Foundation
import Testing

@testable import beagle

struct DemoCommandTests {
    @Test func storyIsToldToItsEnd() async throws {
        let run = try await beagle("demo", "--cancels", "100")
        #expect(run.exit == 0)
        #expect(run.errors.isEmpty)
        let steps = run.lines.map { $0.split(separator: " ")[1] }
        #expect(steps == ["backend", "fetch", "image", "submit", "submit", "raw", "swap", "cancel"])
        #expect(run.lines.last?.contains("100 completions") == true)
    }

    @Test func interruptEndsTheStorm() async throws {
        let process = try BeagleProcess(["demo", "--cancels", "10000000"])
        while case let line = await process.line(), !line.contains("swap") {
            try #require(!line.isEmpty)
        }
        process.interrupt()
        #expect(await process.outcome().exit == 130)
    }

    @Test func stepsAreInTheJSON() async throws {
        let run = try await beagle("demo", "--cancels", "1", "--json")
        #expect(run.exit == 0)
        #expect(try run.json()["result"]?["steps"]?.array?.count == 8)
    }
}
