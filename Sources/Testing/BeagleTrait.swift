public import BeagleNet
public import Testing

/// Gives each test dependencies of its own: `@Suite(.beagle())`, or `@Test(.beagle(.live) { $0.logger = spy })`.
///
/// Tests may set `Beagle.dependencies` and run in parallel; none sees what another has set.
public struct BeagleTrait: TestTrait, SuiteTrait, TestScoping {
    let context: BeagleDependencies.Context
    let change: @Sendable (BeagleDependencies) throws -> Void

    /// Yes: a suite's tests are run in scopes of their own, not in one for all.
    public var isRecursive: Bool { true }

    /// Runs the test in a new scope.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await Beagle.Scope(try Beagle.dependencies.scoped(context, change)).run { try await function() }
    }
}

extension Trait where Self == BeagleTrait {
    /// Runs each test with dependencies of its own.
    ///
    /// - Parameters:
    ///   - context: what defaults are made for; `.test`, in which they do not reach the network.
    ///   - change: sets what differs.
    public static func beagle(
        _ context: BeagleDependencies.Context = .test,
        _ change: @escaping @Sendable (BeagleDependencies) throws -> Void = { _ in }
    ) -> Self {
        BeagleTrait(context: context, change: change)
    }
}
