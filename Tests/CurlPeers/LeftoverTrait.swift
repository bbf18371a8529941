import BeagleNetCurl
package import Testing

/// Proves after each test that its transports left nothing behind: no thread, transfer, handle, socket, suspended
/// reader or writer, and no buffered bytes of a body.
/// Only in builds with COUNTS_LEFTOVERS: see Package.swift.
package struct LeftoverTrait: SuiteTrait, TestTrait, TestScoping {
    /// A suite's tests are counted one by one.
    package var isRecursive: Bool { true }

    /// Far more time than a loop needs to end after its transport was released.
    private static let waitLimit = Duration.seconds(60)

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        #if COUNTS_LEFTOVERS
            let resourceTracker = ResourceTracker()
            try await ResourceTracker.$current.withValue(resourceTracker) { try await function() }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await resourceTracker.waitUntilEmpty() }
                group.addTask { try? await Task.sleep(for: Self.waitLimit) }
                await group.next()
                group.cancelAll()
            }
            let left = resourceTracker.inUse
            #expect(left.isEmpty, "the test left \(left)")
        #else
            try await function()
        #endif
    }
}

extension Trait where Self == LeftoverTrait {
    /// Proves after each test that its transports left nothing behind.
    package static var leavesNothing: Self { LeftoverTrait() }
}
