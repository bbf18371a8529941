import BeagleNetDependencies
import BeagleNetTesting
import Testing

@Suite(.beagle()) struct BeagleTraitTests {
    /// The seed's set-up code, verbatim, in 200 concurrent tests.
    @Test(arguments: 0..<200) func setUpInOneTestIsNotSeenByAnother(number: Int) async {
        let logger = MemoryLogger()
        let dependencies = BeagleDependencies()
        dependencies.logger = logger
        Beagle.dependencies = dependencies
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    await Task.yield()
                    Beagle.dependencies.logger.log(Log.network(.couldNotBuildUrl(url: "\(number)")))
                }
            }
        }
        #expect(logger.messages == Array(repeating: "Could not build a URL from \(number)", count: 5))
    }

    @Test func theContextIsTest() {
        #expect(Beagle.dependencies.context == .test)
    }

    @Test(.beagle(.live) { $0.logger = MemoryLogger() }) func aTestChoosesContextAndDependencies() {
        #expect(Beagle.dependencies.context == .live)
        #expect(Beagle.dependencies.logger is MemoryLogger)
    }
}
