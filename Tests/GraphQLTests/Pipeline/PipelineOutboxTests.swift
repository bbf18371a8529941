import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// What an outbox keeps of each kind of operation, and how it goes out later.
@Suite(.timeLimit(.minutes(1))) struct PipelineOutboxTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path
    private let outbox: Outbox
    /// Under an outbox each of a list has a key of its own, and so goes alone.
    private static let kinds = WireKind.allCases.filter { !$0.isBatch }
    private static let mutations = WireKind.mutations.filter { !$0.isBatch }

    init() {
        outbox = Outbox(directory: folder)
    }

    private func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: kinds) func mutationsAloneAreKept(kind: WireKind) async throws {
        defer { remove() }
        let world = try WireWorld(WireServer(), OutboxInterceptor(outbox))
        let error = await world.outcome(kind, at: WireServer.nowhere).failure
        #expect((error?.kind == .kept) == (kind.operationKind == .mutation))
        #expect(try outbox.entries().count == (kind.operationKind == .mutation ? 1 : 0))
    }

    @Test("what was sent and not answered is sent once more under its key", arguments: mutations)
    func whatWasKeptGoesOutLater(kind: WireKind) async throws {
        defer { remove() }
        let world = try WireWorld(WireServer([.lost]), OutboxInterceptor(outbox))
        #expect(await world.outcome(kind).failure?.kind == .kept)
        let report = try await outbox.flush(with: world.client)
        #expect(report.delivered.count == 1)
        let asked = world.server.asked
        let keys = asked.map(\.key)
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
        #expect(try outbox.entries().isEmpty)
        #expect(asked.map(\.body.count) == [asked[0].body.count, asked[0].body.count])
    }

    @Test(arguments: mutations) func whatIsAnsweredIsKeptNoLonger(kind: WireKind) async throws {
        defer { remove() }
        let world = try WireWorld(WireServer(), OutboxInterceptor(outbox))
        #expect(try await world.ask(kind) == "- -")
        #expect(try outbox.entries().isEmpty)
    }
}
