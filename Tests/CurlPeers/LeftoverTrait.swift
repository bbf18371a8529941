import BeagleNetCurl
package import Testing

/// Ends each test with the proof that the transports it made have left nothing: no thread, transfer, handle, socket,
/// waiting reader or writer, nor a byte of a body.
/// Only in builds with COUNTS_LEFTOVERS: see Package.swift.
package struct LeftoverTrait: SuiteTrait, TestTrait, TestScoping {
    /// A suite's tests are counted one by one.
    package var isRecursive: Bool { true }

    /// Far more than a loop needs to end, once its transport has been released.
    private static let patience = Duration.seconds(20)

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        #if COUNTS_LEFTOVERS
            let ledger = Ledger()
            try await Ledger.$current.withValue(ledger) { try await function() }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await ledger.untilEmpty() }
                group.addTask { try? await Task.sleep(for: Self.patience) }
                await group.next()
                group.cancelAll()
            }
            let left = ledger.left
            #expect(left.isEmpty, "the test left \(left)")
        #else
            try await function()
        #endif
    }
}

extension Trait where Self == LeftoverTrait {
    /// Proves after each test that nothing of its transports is left.
    package static var leavesNothing: Self { LeftoverTrait() }
}
