import BeagleNetDependencies
import Dispatch
import Testing

struct InjectedTests {
    private struct Reader {
        @Injected(\.logger) var logger
        @Injected() var unnamed: any BeagleLogger
    }

    @Test func currentScopeTakesPrecedenceOverTheCreationScope() {
        let reader = Beagle.withDependencies {
            $0.logger = MemoryLogger()
        } operation: {
            Reader()
        }
        Beagle.withDependencies(.test) {
            $0.logger = .off
        } operation: {
            #expect(reader.logger is OffLogger)
            #expect(reader.unnamed is OffLogger)
        }
    }

    @Test func creationScopeIsUsedWhileItLivesIfThereIsNoCurrentScope() async {
        let logger = MemoryLogger()
        let dependencies = BeagleDependencies()
        dependencies.logger = logger
        var scope: Beagle.Scope? = Beagle.Scope(dependencies)
        let reader = scope?.run { Reader() }
        func read() async -> (any BeagleLogger)? {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: reader?.logger) }
            }
        }
        #expect(await read() as? MemoryLogger === logger)
        withExtendedLifetime(scope) {}
        scope = nil
        #expect(await !(read() is MemoryLogger))
    }

    private final class Cart: Sendable {
        let logger = Injected(\.logger)
    }

    private enum CartKey: DependencyDefault {
        static func live(_ dependencies: BeagleDependencies) -> Cart { Cart() }
    }

    @Test func scopeIsNotRetainedByItsValues() {
        weak var container: BeagleDependencies?
        weak var cart: Cart?
        Beagle.withDependencies(.test) {
            container = Beagle.dependencies
            cart = Beagle.dependencies[CartKey.self]
            #expect(cart != nil)
        }
        #expect(container == nil)
        #expect(cart == nil)
    }

    @Test func loggerSetLaterIsUsed() {
        Beagle.withDependencies(.test) {
            let reader = Reader()
            Beagle.dependencies.logger = MemoryLogger()
            #expect(reader.logger is MemoryLogger)
        }
    }

    @Test func callingAnInjectedConstantReadsTheCurrentValue() {
        final class Model: Sendable {
            private let logger = Injected(\.logger)

            var isRecorded: Bool { logger() is MemoryLogger }
        }
        Beagle.withDependencies(.test) {
            let model = Model()
            #expect(!model.isRecorded)
            Beagle.dependencies.logger = MemoryLogger()
            #expect(model.isRecorded)
        }
    }

    @Test func explicitContainerTakesPrecedence() {
        let container = BeagleDependencies()
        container.logger = MemoryLogger()
        let injected = Injected(\.logger, from: container)
        Beagle.withDependencies {
            $0.logger = .off
        } operation: {
            #expect(injected.wrappedValue is MemoryLogger)
        }
    }
}
