import BeagleNetDependencies
import Dispatch
import Testing

struct BeagleDependenciesTests {
    private final class Thing: Sendable {}

    private enum FollowedKey: DependencyDefault {
        static func live(_ dependencies: BeagleDependencies) -> Thing { Thing() }
    }

    private enum OtherKey: DependencyDefault {
        static func live(_ dependencies: BeagleDependencies) -> Thing { Thing() }
    }

    @Test func followerKeepsItsKeysAfterTheContainerIsReleased() {
        weak var other: Thing?
        weak var made: Thing?
        let last = Thing()
        let follower = {
            let container = BeagleDependencies()
            let follower = container.follower(keeping: [FollowedKey.self])
            #expect(follower[FollowedKey.self] === container[FollowedKey.self])
            container[FollowedKey.self] = last
            other = container[OtherKey.self]
            #expect(follower[OtherKey.self] === other)
            return follower
        }()
        #expect(follower[FollowedKey.self] === last)
        #expect(other == nil)
        made = follower[OtherKey.self]
        #expect(made == nil, "a default made without a container is not retained")
        follower.reset(FollowedKey.self)
        #expect(follower[FollowedKey.self] === follower[FollowedKey.self])
    }

    @Test func concurrentReadsMakeADefaultOnce() {
        let dependencies = BeagleDependencies()
        dependencies.counter = Counter()
        DispatchQueue.concurrentPerform(iterations: 64) { _ in _ = dependencies[SumKey.self] }
        #expect(dependencies[SumKey.self] == 42)
        #expect(dependencies.counter.count == 1)
    }

    private static let theContextChoosesTheDefaultArguments: [(BeagleDependencies.Context, String)] = [
        (BeagleDependencies.Context.live, "live"), (.test, "test"), (.preview, "test"),
    ]

    @Test(arguments: Self.theContextChoosesTheDefaultArguments)
    func theContextChoosesTheDefault(context: BeagleDependencies.Context, expected: String) {
        #expect(BeagleDependencies(context)[NameKey.self] == expected)
    }

    @Test func setValueReplacesADefaultAlreadyMade() {
        let dependencies = BeagleDependencies()
        _ = dependencies[NameKey.self]
        dependencies[NameKey.self] = "set"
        #expect(dependencies[NameKey.self] == "set")
    }

    @Test func resetMakesANewDefault() {
        let dependencies = BeagleDependencies()
        let first = dependencies[ObjectKey.self]
        dependencies[ObjectKey.self] = Counter()
        dependencies.reset(ObjectKey.self)
        #expect(dependencies[ObjectKey.self] !== first)
    }

    @Test func optionalDependencyHasADefaultAndCanBeSetToNil() {
        let dependencies = BeagleDependencies()
        #expect(dependencies[OptionalKey.self] == 1)
        dependencies[OptionalKey.self] = nil
        #expect(dependencies[OptionalKey.self] == nil)
    }

    @Test func scopeInheritsSetValuesAndMakesItsOwnDefaults() {
        let dependencies = BeagleDependencies()
        dependencies[NameKey.self] = "set"
        let outer = dependencies[ObjectKey.self]
        let scoped = dependencies.scoped { $0[SumKey.self] = 1 }
        #expect(scoped[NameKey.self] == "set")
        #expect(scoped[ObjectKey.self] !== outer)
        #expect(scoped[SumKey.self] == 1)
        #expect(dependencies[SumKey.self] == 42)
        let preview = scoped.scoped(.preview)
        #expect(preview.context == .preview)
        #expect(preview[SumKey.self] == 1)
        #expect(preview.scoped().context == .preview)
    }

    @Test func replacedValueCanUseTheContainerInItsDeinit() {
        let dependencies = BeagleDependencies()
        let logger = MemoryLogger()
        dependencies.logger = logger
        dependencies[OnReleaseKey.self] = OnRelease {
            // Runs on another thread, so that a lock still held by this one would block it.
            DispatchQueue.global().sync { dependencies.logger.log(Log.network(.networkClientWasNotConfigured)) }
        }
        dependencies[OnReleaseKey.self] = OnRelease {}
        #expect(logger.logs.count == 1)
    }

    @Test func dependencyCycleIsReportedWithItsChain() async throws {
        let result = try await #require(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            _ = BeagleDependencies()[HenKey.self]
        }
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(message.contains("HenKey -> EggKey -> HenKey"))
    }

    @Test func eightThreadsReadSetAndReplaceConcurrently() {
        let dependencies = BeagleDependencies()
        let logger = MemoryLogger()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for turn in 0..<2_000 {
                switch (thread + turn) % 6 {
                case 0: dependencies.logger = logger
                case 1: dependencies[NameKey.self] = "set"
                case 2: dependencies.reset(NameKey.self)
                case 3: _ = dependencies.scoped { $0.logger = .off }.logger
                case 4: _ = dependencies[SumKey.self]
                default: dependencies.logger.log(Log.network(.couldNotBuildUrl(url: "x")))
                }
            }
        }
        #expect(["live", "set"].contains(dependencies[NameKey.self]))
    }
}

final class Counter: Sendable {
    private let queue = DispatchQueue(label: "counter")
    private nonisolated(unsafe) var number = 0  // read and written on `queue` only

    var count: Int { queue.sync { number } }

    func countUp() { queue.sync { number += 1 } }
}

final class OnRelease: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    deinit { action() }
}

private enum NameKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> String { "live" }
    static func test(_ dependencies: BeagleDependencies) -> String { "test" }
}

private enum ObjectKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Counter { Counter() }
}

private enum OptionalKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Int? { 1 }
}

private enum OnReleaseKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> OnRelease { OnRelease {} }
}

private enum FactorKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Int {
        dependencies.counter.countUp()
        return 7
    }
}

private enum SumKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Int { dependencies[FactorKey.self] * 6 }
}

private enum CounterKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Counter { Counter() }
}

extension BeagleDependencies {
    fileprivate var counter: Counter {
        get { self[CounterKey.self] }
        set { self[CounterKey.self] = newValue }
    }
}

private enum HenKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Int { dependencies[EggKey.self] }
}

private enum EggKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Int { dependencies[HenKey.self] }
}
