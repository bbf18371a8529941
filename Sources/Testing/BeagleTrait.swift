public import BeagleNet
public import Testing

/// A trait that gives each test its own dependencies: `@Suite(.beagle())`, or `@Test(.beagle(.live) { $0.logger = spy
/// })`.
///
/// Tests may set `Beagle.dependencies` and run in parallel, without affecting each other.
public struct BeagleTrait: TestTrait, SuiteTrait, TestScoping {
    let context: BeagleDependencies.Context
    let change: @Sendable (BeagleDependencies) throws -> Void

    /// Whether each test of a suite has its own scope, which is always true.
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
    /// Runs each test with its own dependencies.
    ///
    /// - Parameters:
    ///   - context: The context of default values. With `.test`, the default, they don't access the network.
    ///   - change: Changes the dependencies of the test.
    public static func beagle(
        _ context: BeagleDependencies.Context = .test,
        _ change: @escaping @Sendable (BeagleDependencies) throws -> Void = { _ in }
    ) -> Self {
        BeagleTrait(context: context, change: change)
    }
}
