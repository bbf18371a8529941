import BeagleNetDependencies
import Dispatch
import Testing

struct BeagleTests {
    @Test func changesInAScopeStayInTheScope() {
        let outer = Beagle.dependencies
        Beagle.withDependencies(.test) {
            Beagle.dependencies = BeagleDependencies(.preview)
            #expect(Beagle.dependencies.context == .preview)
            Beagle.withDependencies {
                Beagle.dependencies.logger = MemoryLogger()
            }
            #expect(!(Beagle.dependencies.logger is MemoryLogger))
        }
        #expect(Beagle.dependencies === outer)
    }

    @Test func asyncScopeAppliesToItsTasks() async {
        let logger = MemoryLogger()
        await Beagle.withDependencies(.test) {
            $0.logger = logger
        } operation: {
            await Task.yield()
            async let child = Beagle.dependencies.logger
            #expect(await child as? MemoryLogger === logger)
            #expect(await Task { Beagle.dependencies.logger }.value as? MemoryLogger === logger)
        }
    }

    @Test @MainActor func asyncScopeStaysOnItsActor() async {
        await Beagle.withDependencies(.test) {
            MainActor.preconditionIsolated()
            await Task.yield()
            MainActor.preconditionIsolated()
        }
    }

    @Test func throwingChangePreventsTheOperation() async {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try Beagle.withDependencies(.test) { _ in
                throw Refusal()
            } operation: {
                Issue.record("the operation ran")
            }
        }
        await #expect(throws: Refusal.self) {
            try await Beagle.withDependencies { _ in
                throw Refusal()
            } operation: {
                await Task.yield()
                Issue.record("the operation ran")
            }
        }
    }

    @Test func scopeEndsWhenItsOperationThrows() {
        struct Refusal: Error {}
        let outer = Beagle.dependencies
        #expect(throws: Refusal.self) {
            try Beagle.withDependencies(.test) { throw Refusal() }
        }
        #expect(Beagle.dependencies === outer)
    }

    @Test func scopeCanBeEnteredOnAnotherThread() async {
        let logger = MemoryLogger()
        let scope = Beagle.withDependencies(.test) {
            $0.logger = logger
        } operation: {
            Beagle.scope
        }
        let found = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let outside = Beagle.dependencies.logger
                let inside = scope.run { Beagle.dependencies.logger }
                continuation.resume(returning: [outside, inside])
            }
        }
        #expect(!(found[0] is MemoryLogger))
        #expect(found[1] as? MemoryLogger === logger)
    }

    @Test func scopeFollowsContainersSetLater() {
        Beagle.withDependencies(.test) {
            let scope = Beagle.scope
            Beagle.dependencies = BeagleDependencies(.preview)
            #expect(scope.dependencies.context == .preview)
        }
    }

    @Test func theConfiguratorSetsTheDependencies() {
        let dependencies = BeagleDependencies()
        Beagle.withDependencies {
            BeagleConfigurator.setup(dependencies: dependencies)
            #expect(Beagle.dependencies === dependencies)
        }
    }

    @Test func eightThreadsReplaceAndReadTheDependenciesOfOneScope() {
        Beagle.withDependencies(.test) {
            let scope = Beagle.scope
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                scope.run {
                    for turn in 0..<2_000 {
                        switch (thread + turn) % 3 {
                        case 0: Beagle.dependencies = BeagleDependencies(.test)
                        case 1: Beagle.dependencies.logger = MemoryLogger()
                        default: _ = Injected(\.logger).wrappedValue
                        }
                    }
                }
            }
            #expect(scope.dependencies.context == .test)
        }
    }
}
