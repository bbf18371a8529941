import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// An outbox that stores each kind of operation and sends it later.
@Suite(.timeLimit(.minutes(5))) struct PipelineOutboxTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path
    private let outbox: Outbox
    /// Batches are excluded: with an outbox each operation has its own idempotency key and is therefore sent alone.
    private static let kinds = WireKind.allCases.filter { !$0.isBatch }
    private static let mutations = WireKind.mutations.filter { !$0.isBatch }

    init() {
        outbox = Outbox(directory: folder)
    }

    private func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: kinds) func outboxStoresOnlyMutations(kind: WireKind) async throws {
        defer { remove() }
        let fixture = try WireFixture(WireServer(), OutboxInterceptor(outbox))
        let error = await fixture.outcome(kind, at: WireServer.nowhere).failure
        #expect((error?.kind == .kept) == (kind.operationKind == .mutation))
        #expect(try outbox.entries().count == (kind.operationKind == .mutation ? 1 : 0))
    }

    @Test(arguments: mutations)
    func mutationWithoutAResponseIsSentAgainUnderItsKey(kind: WireKind) async throws {
        defer { remove() }
        let fixture = try WireFixture(WireServer([.lost]), OutboxInterceptor(outbox))
        #expect(await fixture.outcome(kind).failure?.kind == .kept)
        let report = try await outbox.flush(with: fixture.client)
        #expect(report.delivered.count == 1)
        let requests = fixture.server.requests
        let keys = requests.map(\.key)
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
        #expect(try outbox.entries().isEmpty)
        #expect(requests.map(\.body.count) == [requests[0].body.count, requests[0].body.count])
    }

    @Test(arguments: mutations) func outboxRemovesCompletedMutations(kind: WireKind) async throws {
        defer { remove() }
        let fixture = try WireFixture(WireServer(), OutboxInterceptor(outbox))
        #expect(try await fixture.ask(kind) == "- -")
        #expect(try outbox.entries().isEmpty)
    }
}
